package netboxipaddress

import (
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// TestHidden: a record that was made a moment ago, and isn't shown, may be there. Its resource isn't said to have lost it, and doesn't go without it.
func TestHidden(t *testing.T) {
	named := func(mg *v1alpha1.NetBoxIPAddress) {
		meta.SetExternalName(mg, "5")
		mg.Status.AtProvider = v1alpha1.NetBoxIPAddressObservation{ID: 5, Address: "10.77.0.11/24"}
		mg.SetConditions(xpv2.Available())
	}
	succeeded := func(ago time.Duration) edit {
		return func(mg *v1alpha1.NetBoxIPAddress) {
			named(mg)
			meta.SetExternalCreateSucceeded(mg, time.Now().Add(-ago))
		}
	}
	failed := func(ago time.Duration) edit {
		return func(mg *v1alpha1.NetBoxIPAddress) { meta.SetExternalCreateFailed(mg, time.Now().Add(-ago)) }
	}
	cases := map[string]struct {
		reason string
		mg     []edit
		// reason of an error; "" is that of Ready, which says what is lost.
		err xpv2.ConditionReason
		// goes says that nothing is there any more, as far as is known, and stays that it's Ready.
		goes, stays bool
	}{
		"Made":        {reason: "it was made just now", mg: []edit{succeeded(time.Second)}, err: v1alpha1.ReasonUnreachable, stays: true},
		"Long":        {reason: "whatever was made then would show by now", mg: []edit{succeeded(hiddenFor + 2*time.Second)}},
		"Failed":      {reason: "what failed has made nothing of that number", mg: []edit{succeeded(time.Minute), failed(time.Second)}},
		"Ahead":       {reason: "by a clock that is ahead it was never made", mg: []edit{succeeded(-24 * time.Hour)}, err: v1alpha1.ReasonUnreachable, stays: true},
		"Deleted":     {reason: "it would stay behind", mg: []edit{succeeded(time.Second), deleted}, err: v1alpha1.ReasonUnreachable, stays: true},
		"DeletedUsed": {reason: "so may one that was made and isn't used", mg: []edit{failed(time.Second), deleted}, err: v1alpha1.ReasonUnreachable},
		"DeletedLong": {reason: "it would show by now", mg: []edit{succeeded(time.Minute), failed(time.Minute), deleted}, goes: true, stays: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h, mg := newHarness(newFake()), newAddress(tc.mg...)
			var again time.Time
			h.Again = func(_ types.NamespacedName, at time.Time) { again = at }
			o, err := h.connect(t, mg).Observe(t.Context(), mg)
			ready := mg.GetCondition(xpv2.TypeReady)
			switch {
			case tc.err != "":
				said, ok := err.(*trouble) //nolint:errorlint // As Observe returns it.
				if !ok || said.reason != tc.err || !strings.Contains(said.message, "it is looked for until "+again.UTC().Format(time.RFC3339)) || time.Until(again) > hiddenFor {
					t.Errorf("%s: %+v, looked at again at %s", tc.reason, err, again)
				}
			case tc.goes:
				if err != nil || o.ResourceExists {
					t.Errorf("%s: %+v, %v", tc.reason, o, err)
				}
			case err != nil || ready.Reason != v1alpha1.ReasonLost:
				t.Errorf("%s: %+v, %v", tc.reason, ready, err)
			}
			if stays := ready.Status == corev1.ConditionTrue; stays != tc.stays {
				t.Errorf("%s: %+v", tc.reason, ready)
			}
			if w := h.netbox.writes(); len(w) != 0 {
				t.Errorf("%s: %v", tc.reason, w)
			}
		})
	}
}
