package redfishhost

import (
	"context"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/gate"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
)

// ailing lets looks through, unless something is wrong, and reads no inventory.
type ailing struct {
	bmc  BMC
	with *error
}

func (a ailing) Do(ctx context.Context, t gate.Target, f func(context.Context, BMC) error) error {
	if t.Lane == gate.Inventory {
		return &gate.BusyError{}
	}
	if *a.with != nil {
		return *a.with
	}

	return f(ctx, a.bmc)
}

func (ailing) Forget(context.Context, string) error { return nil }

func (ailing) Distrust(string) {}

// TestTroubleHaltsInventories: of a host in trouble nothing more is read, and nothing that may be another machine's is kept; its metric says so.
func TestTroubleHaltsInventories(t *testing.T) {
	cases := map[string]struct {
		reason       string
		err          error
		serial       string
		up           bool
		known, reads bool
	}{
		"Well":       {reason: "Nothing is wrong.", up: true, known: true, reads: true},
		"Away":       {reason: "Who doesn't answer isn't asked anyway.", err: &redfish.Error{Kind: redfish.Unreachable}, known: true, reads: true},
		"Password":   {reason: "It may not be tried again.", err: &redfish.Error{Kind: redfish.Unauthorized, Status: 401}, known: true},
		"NotAllowed": {reason: "Nothing goes to a place that isn't allowed any more.", err: &redfish.Error{Kind: redfish.NotAllowed}, known: true},
		"Another":    {reason: "Another machine's inventory isn't this one's.", serial: "XYZ"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h := enrolled(&journal{})
			var wrong error
			bmc := &fakeBMC{system: off()}
			c := NewConnector(Options{
				Kube: kubeWith(t, h, interceptor.Funcs{}), Gates: ailing{bmc, &wrong},
				Resolve: func(context.Context, *v1alpha1.RedfishHost) (config.Redfish, error) { return config.Redfish{}, nil },
			})
			t.Cleanup(c.Stop)
			c.inventories.stop() // Nothing is to be read.
			look := func() {
				e, err := c.Connect(t.Context(), h)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := e.Observe(t.Context(), h); err != nil {
					t.Fatalf("Observe(...): %v", err)
				}
			}
			look()
			wrong = tc.err
			if tc.serial != "" {
				bmc.system.Serial = tc.serial
			}
			look()
			c.inventories.mu.Lock()
			d := c.inventories.of[h.GetUID()]
			c.inventories.mu.Unlock()
			if known, reads := d != nil, d != nil && !d.halted; known != tc.known || reads != tc.reads {
				t.Errorf("%s\nknown %t, is read %t; want %t, %t", tc.reason, known, reads, tc.known, tc.reads)
			}
			if up := c.tallies.of[nameOfHost(h)].up; up != tc.up {
				t.Errorf("%s\nup: %t", tc.reason, up)
			}
		})
	}
}

// TestShowSystems: the Systems to choose from are shown as long as there is something to choose.
func TestShowSystems(t *testing.T) {
	o := &v1alpha1.RedfishHostObservation{}
	showSystems(o, &redfish.Error{Kind: redfish.Ambiguous, Systems: []redfish.Choice{{}, {}}})
	if len(o.Systems) != 2 {
		t.Errorf("%d Systems, want 2", len(o.Systems))
	}
	showSystems(o, &redfish.Error{Kind: redfish.Unauthorized, Status: 401})
	if len(o.Systems) != 0 {
		t.Errorf("%d Systems of a BMC that refuses the password", len(o.Systems))
	}
}
