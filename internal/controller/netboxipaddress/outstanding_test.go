package netboxipaddress

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// TestOutstanding holds when a resource that is being deleted has to wait for a record that may still come.
func TestOutstanding(t *testing.T) {
	asked := func(ago time.Duration) func(*Connector, *v1alpha1.NetBoxIPAddress) {
		return func(c *Connector, mg *v1alpha1.NetBoxIPAddress) {
			c.asks(mg)
			meta.SetExternalCreatePending(mg, time.Now().Add(-ago))
		}
	}
	both := func(all ...func(*Connector, *v1alpha1.NetBoxIPAddress)) func(*Connector, *v1alpha1.NetBoxIPAddress) {
		return func(c *Connector, mg *v1alpha1.NetBoxIPAddress) {
			for _, f := range all {
				f(c, mg)
			}
		}
	}
	answers := func(err error) func(*Connector, *v1alpha1.NetBoxIPAddress) {
		return func(c *Connector, mg *v1alpha1.NetBoxIPAddress) { c.answers(mg, err) }
	}
	lost := &netbox.Error{Kind: netbox.KindUnknownOutcome}
	cases := map[string]struct {
		reason string
		before func(*Connector, *v1alpha1.NetBoxIPAddress)
		want   bool
	}{
		"Never":    {reason: "Nothing was asked for.", before: both()},
		"Killed":   {reason: "Nobody knows what became of it.", before: asked(time.Second), want: true},
		"Long":     {reason: "It would have come by now.", before: asked(2 * time.Minute)},
		"Lost":     {reason: "NetBox may carry it out yet.", before: both(asked(time.Second), answers(lost)), want: true},
		"LostLate": {reason: "The call itself took long.", before: both(asked(2*time.Minute), answers(lost)), want: true},
		"Refused":  {reason: "NetBox said no.", before: both(asked(time.Second), answers(&netbox.Error{Kind: netbox.KindInvalid}))},
		"Again": {
			reason: "The second try's answer says nothing of the first.", before: both(asked(time.Second), answers(lost), answers(nil)), want: true,
		},
		"KilledAgain": {reason: "A second try was made after a kill, and recorded.", before: func(c *Connector, mg *v1alpha1.NetBoxIPAddress) {
			meta.SetExternalCreatePending(mg, time.Now().Add(-2*time.Second))
			c.suspect(mg)
			meta.SetExternalCreatePending(mg, time.Now())
			c.answers(mg, nil)
			meta.SetExternalCreateSucceeded(mg, time.Now())
			meta.SetExternalName(mg, "7")
		}, want: true},
		"KilledAndFreed": {reason: "Of two that may have come, one is gone.", before: func(c *Connector, mg *v1alpha1.NetBoxIPAddress) {
			meta.SetExternalCreatePending(mg, time.Now().Add(-2*time.Second))
			c.suspect(mg)
			c.answers(mg, nil)
		}, want: true},
		"MadeHere": {reason: "It was asked for once, by us, and recorded.", before: both(asked(time.Second), answers(nil))},
		"AnotherAsked": {reason: "Two run at once: what the other asked for isn't known here.", want: true, before: both(asked(time.Second), answers(nil), func(_ *Connector, mg *v1alpha1.NetBoxIPAddress) {
			NewConnector(Options{}).asks(mg)
		})},
		"MadeLongAgo": {reason: "Whoever asked, it would have come by now.", before: both(asked(2*time.Minute), func(_ *Connector, mg *v1alpha1.NetBoxIPAddress) {
			meta.SetExternalName(mg, "7")
		})},
		"Made": {reason: "It was recorded, by a provider that is dead and may not have been the first to ask.", want: true, before: func(_ *Connector, mg *v1alpha1.NetBoxIPAddress) {
			meta.SetExternalCreatePending(mg, time.Now())
			meta.SetExternalCreateSucceeded(mg, time.Now())
		}},
		"Named": {reason: "Its record was known to one that is dead, and is gone.", want: true, before: both(asked(time.Second), func(_ *Connector, mg *v1alpha1.NetBoxIPAddress) {
			meta.SetExternalName(mg, "7")
		})},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var again time.Time
			c := NewConnector(Options{Again: func(_ types.NamespacedName, at time.Time) { again = at }})
			mg := &v1alpha1.NetBoxIPAddress{}
			mg.UID = "u"
			tc.before(c, mg)
			err := (&external{connector: c}).outstanding(mg)
			var o outstandingError
			if errors.As(err, &o) != tc.want {
				t.Fatalf("%s\ngot %v", tc.reason, err)
			}
			if tc.want && !strings.Contains(sentence(err, inputs{config: `ProviderConfig "n"`}).message, o.until.UTC().Format(time.RFC3339)) {
				t.Errorf("it isn't said until when: %v", sentence(err, inputs{}))
			}
			if !again.Equal(o.until) {
				t.Errorf("it's to be looked at when that is over, at %s, and is so at %s", o.until, again)
			}
		})
	}
}
