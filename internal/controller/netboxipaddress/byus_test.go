package netboxipaddress

import (
	"cmp"
	"context"
	"errors"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	gocmp "github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// TestByUs tells who put an address where it is.
func TestByUs(t *testing.T) {
	r := aRack()
	eno1, eno2, vm := &r.interfaces[0].Place, &r.interfaces[1].Place, &r.interfaces[3].Place
	host := func(name string) edit { return assignTo(onHost("infra", name, nil)) }
	madeOn := func(note string) edit {
		return func(mg *v1alpha1.NetBoxIPAddress) {
			mg.SetAnnotations(map[string]string{v1alpha1.AnnotationMadeOn: note})
		}
	}
	status := func(id int64, o *v1alpha1.AssignmentObservation) edit {
		return func(mg *v1alpha1.NetBoxIPAddress) {
			mg.Status.AtProvider = v1alpha1.NetBoxIPAddressObservation{ID: id, Assigned: o}
		}
	}
	mac := func(m string) edit {
		return assignTo(v1alpha1.Assignment{Interface: &v1alpha1.NetBoxInterface{MAC: m}})
	}
	in := func(site string) edit {
		return assignTo(v1alpha1.Assignment{Device: &v1alpha1.NetBoxDevice{Name: "r7-u12", Site: site}, Interface: &v1alpha1.NetBoxInterface{Name: "eno1"}})
	}
	cases := map[string]struct {
		reason string
		mg     []edit
		at     *netbox.Place
		// marker of the record; "" is ours.
		marker string
		fake   func(*fakeNetBox)
		// calls of NetBox that it takes.
		calls []string
		want  bool
		err   xpv2.ConditionReason
	}{
		"Nowhere":     {reason: "it's nowhere", want: true},
		"MadeOn":      {reason: "it was made there", mg: []edit{madeOn("device/11")}, at: eno1, want: true},
		"MadeOnVM":    {reason: "or on a virtual machine's", mg: []edit{madeOn("virtual-machine/11")}, at: vm, want: true},
		"MadeOther":   {reason: "of another kind", mg: []edit{madeOn("device/11")}, at: vm},
		"MadeElse":    {reason: "it was made elsewhere", mg: []edit{madeOn("device/13")}, at: eno1},
		"MadeLongAgo": {reason: "status says what came of it since: it was taken away, so a person put it there", mg: []edit{madeOn("device/11"), status(5, nil)}, at: eno1},
		"MadeBefore":  {reason: "it was made there before a restore, and nobody knows what was done since", mg: []edit{madeOn("device/11")}, marker: "c1/team-a/web-1/old", at: eno1},
		"MadeAnew":    {reason: "status is of the record before", mg: []edit{madeOn("device/11"), status(4, nil)}, at: eno1, want: true},
		"Arrived":     {reason: "status says so, though it isn't all done", mg: []edit{status(5, assigned(*eno2, ""))}, at: eno1, want: true},
		"Host":        {reason: "spec names it by a host", mg: []edit{host("r7-u12")}, at: eno1, want: true},
		"HostElse":    {reason: "or another one", mg: []edit{assignTo(onHost("team-a", "r7-u13", nil))}, at: eno1},
		"HostGone":    {reason: "or one that isn't there", mg: []edit{assignTo(onHost("", "typo", nil))}, at: eno1},
		"HostTheirs":  {reason: "or another's", mg: []edit{host("r7-u13")}, at: &r.interfaces[2].Place},
		"HostOdd":     {reason: "by a host of another serial number, which it wasn't put on", mg: []edit{host("other")}, at: eno1, calls: []string{"SeenHolder"}},
		"Site":        {reason: "by a name in a site", mg: []edit{in("fra1")}, at: eno1, calls: []string{"SeenHolder"}, want: true},
		"OtherSite":   {reason: "or in another one", mg: []edit{in("ams1")}, at: eno1, calls: []string{"SeenHolder"}},
		"MAC":         {reason: "by a MAC address", mg: []edit{mac("52-54-00-00-00-01")}, at: eno1, calls: []string{"SeenInterface"}, want: true},
		"MACElse":     {reason: "or another one", mg: []edit{mac("52-54-00-00-00-03")}, at: eno1, calls: []string{"SeenInterface"}},
		"MACGroup":    {reason: "which an FHRP group hasn't", mg: []edit{mac("52-54-00-00-00-03")}, at: &netbox.Place{ID: 13, Name: "g"}},
		"Nothing":     {reason: "spec names nothing that there is", mg: []edit{assignTo(v1alpha1.Assignment{})}, at: eno1},
		"Down": {
			reason: "NetBox can't be asked: that isn't a no", mg: []edit{mac("52-54-00-00-00-01")}, at: eno1,
			fake: func(f *fakeNetBox) { f.fail["SeenInterface"] = kind(netbox.KindUnreachable) }, calls: []string{"SeenInterface"}, err: v1alpha1.ReasonUnreachable,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			if tc.fake != nil {
				tc.fake(f)
			}
			mg := newAddress(tc.mg...)
			e := newHarness(f).connect(t, mg)
			ip := record(5, "10.77.0.11/24", cmp.Or(tc.marker, ours))
			ip.Assigned, e.record = tc.at, &ip
			got, err := e.byUs(t.Context(), mg)
			if got != tc.want || reasonOf(sentenceOf(err)) != tc.err {
				t.Errorf("%s: %v, %v, want %v", tc.reason, got, err, tc.want)
			}
			if diff := gocmp.Diff(tc.calls, f.calls); diff != "" {
				t.Errorf("%s: calls (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// sentenceOf is an error as it's told.
func sentenceOf(err error) error {
	if err == nil {
		return nil
	}
	return sentence(err, inputs{})
}

// TestByWhomUnknown: that the host can't be read isn't that it isn't there: the resource waits, and nobody is blamed.
func TestByWhomUnknown(t *testing.T) {
	f := newFake()
	f.records = []netbox.IPAddress{record(5, "10.77.0.11/24", ours)}
	f.records[0].Assigned = &f.rack.interfaces[0].Place
	h, mg := newHarness(f), newAddress(named("5"), deleted, assignTo(onHost("infra", "r7-u12", nil)))
	kube := h.Kube
	away := true
	h.Kube = interceptor.NewClient(kube.(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if away {
				return errors.New("boom")
			}
			return c.Get(ctx, key, o, opts...)
		},
	})
	if err := h.until(t, mg); reasonOf(err) != v1alpha1.ReasonUnreachable || len(f.records) != 1 {
		t.Errorf("the host can't be read: %v, left %+v", err, f.records)
	}
	away = false
	if err := h.until(t, mg); err != nil || len(f.records) != 0 {
		t.Errorf("it can: %v, left %+v", err, f.records)
	}
}
