package netboxipaddress

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

// TestAlarm: a resource is woken at its time and not before, once, however often that was set; of two times at the earlier one.
func TestAlarm(t *testing.T) {
	soon, later := 100*time.Millisecond, time.Hour
	cases := map[string]struct {
		reason string
		set    []time.Duration
	}{
		"Once":    {"as it was set", []time.Duration{soon}},
		"Again":   {"each look at a deletion that waits sets the same", []time.Duration{soon, soon, soon}},
		"Later":   {"a later time doesn't put it off", []time.Duration{soon, later}},
		"Earlier": {"an earlier one does come first", []time.Duration{later, soon}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			wake := make(chan event.GenericEvent)
			a := newAlarm(wake)
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() { ended <- a.Start(ctx) }()
			of := types.NamespacedName{Namespace: "team-a", Name: "web-1"}
			now := time.Now()
			for _, after := range tc.set {
				a.set(of, now.Add(after))
			}
			select {
			case e := <-wake:
				if early := time.Until(now.Add(soon)); early > 0 || e.Object.GetNamespace() != of.Namespace || e.Object.GetName() != of.Name {
					t.Errorf("%s: %s/%s is woken %s before its time", tc.reason, e.Object.GetNamespace(), e.Object.GetName(), early)
				}
			case <-time.After(10 * time.Second):
				t.Errorf("%s: nobody is woken", tc.reason)
			}
			select {
			case <-wake:
				t.Errorf("%s: it's woken twice", tc.reason)
			case <-time.After(2 * soon):
			}
			if len(a.rings) != 0 {
				t.Errorf("%s: %d are remembered", tc.reason, len(a.rings))
			}
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}
