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
	type step = func(*Connector, *v1alpha1.NetBoxIPAddress)
	asks := func(ago time.Duration) step {
		return func(c *Connector, mg *v1alpha1.NetBoxIPAddress) {
			c.asks(mg)
			meta.SetExternalCreatePending(mg, time.Now().Add(-ago))
		}
	}
	answers := func(err error) step {
		return func(c *Connector, mg *v1alpha1.NetBoxIPAddress) { c.answers(mg, err) }
	}
	dies := func(c *Connector, _ *v1alpha1.NetBoxIPAddress) { *c = *NewConnector(c.Options) }
	lost := &netbox.Error{Kind: netbox.KindUnknownOutcome}
	cases := map[string]struct {
		reason string
		before []step
		want   bool
	}{
		"Never":    {reason: "Nothing was asked for."},
		"Killed":   {reason: "Nobody knows what became of it.", before: []step{asks(time.Second), dies}, want: true},
		"Long":     {reason: "It would have come by now.", before: []step{asks(2 * time.Minute), dies}},
		"Lost":     {reason: "NetBox may carry it out yet.", before: []step{asks(time.Second), answers(lost)}, want: true},
		"LostDead": {reason: "Nor does it matter who asked.", before: []step{asks(time.Second), answers(lost), dies}, want: true},
		"LostLate": {reason: "The call itself took long.", before: []step{asks(2 * time.Minute), answers(lost)}, want: true},
		"Refused":  {reason: "NetBox said no.", before: []step{asks(time.Second), answers(&netbox.Error{Kind: netbox.KindInvalid})}},
		"Made":     {reason: "It was asked for once, and recorded.", before: []step{asks(time.Second), answers(nil)}},
		"MadeDead": {reason: "By one that is dead.", before: []step{asks(time.Second), answers(nil), dies}},
		"Again": {
			reason: "The second try's answer says nothing of the first.", want: true,
			before: []step{asks(time.Second), answers(lost), asks(0), answers(nil)},
		},
		"AgainDead": {
			reason: "Not to a third one, either.", want: true,
			before: []step{asks(time.Second), answers(lost), dies, asks(0), answers(nil), dies},
		},
		"KilledAgain": {
			reason: "Two were killed, one after the other.", want: true,
			before: []step{asks(2 * time.Second), dies, asks(time.Second), dies, asks(0), answers(nil)},
		},
		"KilledLongAgo": {
			reason: "What was asked for first would have come by now.",
			before: []step{asks(2 * time.Minute), dies, asks(time.Second), answers(nil), dies},
		},
		"AnotherAsks": {
			reason: "Two run at once: what the other asked for isn't answered here.", want: true,
			before: []step{asks(time.Second), answers(nil), func(c *Connector, mg *v1alpha1.NetBoxIPAddress) { asks(0)(NewConnector(c.Options), mg) }},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var again time.Time
			c := NewConnector(Options{Again: func(_ types.NamespacedName, at time.Time) { again = at }})
			mg := &v1alpha1.NetBoxIPAddress{}
			mg.UID = "u"
			for _, f := range tc.before {
				f(c, mg)
			}
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
