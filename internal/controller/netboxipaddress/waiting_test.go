package netboxipaddress

import (
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// TestLateWhileFull: a POST had no answer, and the source is full at the next look. What NetBox makes of that POST later is found at the next
// look after it, though a resource that waits for space isn't looked for every time.
func TestLateWhileFull(t *testing.T) {
	mine := record(9, "10.77.0.9/24", ours)
	full := func(t *testing.T, h *harness, mg *v1alpha1.NetBoxIPAddress) {
		t.Helper()
		h.netbox.full = []int64{1}
		for range 2 {
			if err := h.look(t, mg); err != nil && reasonOf(err) != v1alpha1.ReasonExhausted {
				t.Fatal(err)
			}
		}
		if c := mg.GetCondition(xpv2.TypeReady); c.Reason != v1alpha1.ReasonExhausted {
			t.Fatalf("%+v", c)
		}
	}
	lose := func(t *testing.T, h *harness, mg *v1alpha1.NetBoxIPAddress) {
		t.Helper()
		h.netbox.fail["Allocate"] = kind(netbox.KindUnknownOutcome)
		if err := h.look(t, mg); reasonOf(err) != v1alpha1.ReasonUnreachable {
			t.Fatalf("the answer was to be lost: %v", err)
		}
		delete(h.netbox.fail, "Allocate")
	}
	cases := map[string]struct {
		reason string
		acts   func(t *testing.T, h *harness, mg *v1alpha1.NetBoxIPAddress)
	}{
		"Soon": {"It comes while it may.", func(t *testing.T, h *harness, mg *v1alpha1.NetBoxIPAddress) {
			t.Helper()
			lose(t, h, mg)
			full(t, h, mg)
		}},
		"Last": {"It came at the end, and nobody looked in between.", func(t *testing.T, h *harness, mg *v1alpha1.NetBoxIPAddress) {
			t.Helper()
			lose(t, h, mg)
			full(t, h, mg)
			h.unanswered.put(mg.GetUID(), time.Now().Add(-outstandingFor-time.Second))
			delete(mg.Annotations, v1alpha1.AnnotationUnanswered)
		}},
		"Other": {"Another process asked meanwhile, and its answer is long written.", func(t *testing.T, h *harness, mg *v1alpha1.NetBoxIPAddress) {
			t.Helper()
			full(t, h, mg)
			other := newHarness(h.netbox)
			other.asks(mg)
			other.answers(mg, nil, false, false)
		}},
		"Named": {"Somebody names it.", func(t *testing.T, h *harness, mg *v1alpha1.NetBoxIPAddress) {
			t.Helper()
			full(t, h, mg)
			named("9")(mg)
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			h, mg := newHarness(f), newAddress(managedBy(xpv2.ManagementActionAll))
			tc.acts(t, h, mg)
			f.records = append(f.records, mine)
			if err := h.look(t, mg); err != nil || mg.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue {
				t.Errorf("%s\n%v, %+v", tc.reason, err, mg.GetCondition(xpv2.TypeReady))
			}
		})
	}
	f := newFake()
	h, mg := newHarness(f), newAddress(managedBy(xpv2.ManagementActionAll))
	full(t, h, mg)
	f.calls = nil
	if err := h.look(t, mg); err != nil || len(f.calls) == 0 {
		t.Fatal(err, f.calls)
	}
	for _, c := range f.calls {
		if c == "FindByMarker" {
			t.Errorf("where every POST was answered, none is looked for: %v", f.calls)
		}
	}
}

// TestWaiting: who waits for what isn't there is looked for once, and not at each look: a thousand of them would keep NetBox busy. Whatever
// may have made a record has it looked for again.
func TestWaiting(t *testing.T) {
	nowhere := params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.From = from("10.99.0.0/24") })
	cases := map[string]struct {
		reason string
		mg     []edit
		then   func(h *harness, mg *v1alpha1.NetBoxIPAddress)
		want   int
	}{
		"NotFound": {"A source that isn't there.", []edit{nowhere}, nil, 0},
		"NoTable": {"A table that isn't there.", []edit{params(func(p *v1alpha1.NetBoxIPAddressParameters) {
			p.From, p.Address, p.VRF = nil, "10.77.0.9/24", &v1alpha1.VRFSelector{Name: "x"}
		})}, nil, 0},
		"NoDevice":   {"A device that isn't there.", []edit{assignTo(onDevice("nosuch", "eth0", v1alpha1.UseAdditional))}, nil, 0},
		"NotAllowed": {"What isn't allowed.", []edit{params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.DNSName = new("a.evil") })}, nil, 0},
		"Anyway":     {"After a while.", []edit{nowhere}, func(h *harness, _ *v1alpha1.NetBoxIPAddress) { h.now = h.now.Add(lookAnyway) }, 1},
		"Changed":    {"Its spec says something else.", []edit{nowhere}, func(_ *harness, mg *v1alpha1.NetBoxIPAddress) { mg.Generation++ }, 1},
		"Secret":     {"So does its provider config.", []edit{nowhere}, func(h *harness, _ *v1alpha1.NetBoxIPAddress) { h.cfg.SecretVersion = "2" }, 1},
		"Other": {"Another process asked meanwhile.", []edit{nowhere}, func(h *harness, mg *v1alpha1.NetBoxIPAddress) {
			other := newHarness(h.netbox)
			other.asks(mg)
			other.answers(mg, nil, false, false)
		}, 1},
		"Told":    {"NetBox tells of a record with its marker.", []edit{nowhere}, func(h *harness, mg *v1alpha1.NetBoxIPAddress) { h.doubt(mg.GetUID()) }, 1},
		"Deleted": {"It's to be released.", []edit{nowhere}, func(_ *harness, mg *v1alpha1.NetBoxIPAddress) { deleted(mg) }, 4},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			h, mg := newHarness(f), newAddress(append(tc.mg, anything)...)
			h.MaxAge = maxAge(time.Minute)
			h.cfg.Config.Policies = []v1alpha1.NetBoxPolicy{{Namespaces: []string{"team-a"}, DNSZones: []string{"good"}}}
			count := func() (n int) {
				for _, c := range f.calls {
					if c == "FindByMarker" {
						n++
					}
				}
				return n
			}
			_ = h.look(t, mg)
			if n := count(); n != 1 || len(f.writes()) != 0 {
				t.Fatalf("%s\nat first: %v", tc.reason, f.calls)
			}
			f.calls = nil
			if tc.then != nil {
				tc.then(h, mg)
			}
			for range 4 {
				h.now = h.now.Add(15 * time.Second)
				_, _ = h.connect(t, mg).Observe(t.Context(), mg)
				if c := mg.GetCondition(xpv2.TypeReady); c.Status == corev1.ConditionTrue || c.Message == "" && tc.want == 0 {
					t.Errorf("%s\nit still says what it waits for: %+v", tc.reason, c)
				}
			}
			if n := count(); n != tc.want {
				t.Errorf("%s\n%d looks for its record, want %d: %v", tc.reason, n, tc.want, f.calls)
			}
		})
	}
}
