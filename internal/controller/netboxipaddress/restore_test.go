package netboxipaddress

import (
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// TestRestoreWaits: a record that can't be made again yet is lost, whatever keeps it from that; and what says nothing of the record takes no address away.
func TestRestoreWaits(t *testing.T) {
	nowhere := func(mg *v1alpha1.NetBoxIPAddress) {
		mg.Spec.ForProvider.AssignTo = &v1alpha1.Assignment{Device: &v1alpha1.NetBoxDevice{Name: "gone"}, Interface: &v1alpha1.NetBoxInterface{Name: "eno1"}}
	}
	hold := params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.WhenLost = v1alpha1.LostHold })
	cases := map[string]struct {
		reason string
		mg     []edit
		do     func(*harness)
		lost   bool
		// err is the reason of an error that Observe ends with, and says a part of what Ready does where it's lost.
		err  xpv2.ConditionReason
		says string
	}{
		"Device":      {"its device is gone, too", []edit{nowhere}, nil, true, "", `can't be made again yet; a machine may be using the address, which NetBox may give to another one until then: cannot find the device "gone"`},
		"NotCreated":  {"nobody may make it", []edit{managedBy(xpv2.ManagementActionObserve, xpv2.ManagementActionUpdate)}, nil, true, "", "add Create there"},
		"Malformed":   {"nobody can make it", []edit{named("5"), params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.From = append(p.From, v1alpha1.AddressSource{}) })}, nil, true, v1alpha1.ReasonLost, "until then: spec.forProvider is not usable"},
		"HeldAnyway":  {"nor is it to be", []edit{hold, reservedField}, nil, true, v1alpha1.ReasonLost, "whenLost: Restore to have it made again, or delete this resource to give it up; besides, spec.forProvider is not usable"},
		"NotAllowed":  {"the policies don't leave it to the namespace any more", nil, func(h *harness) { h.cfg.Config.Policies = []v1alpha1.NetBoxPolicy{{Namespaces: []string{"team-b"}}} }, true, v1alpha1.ReasonLost, "is not allowed for namespace"},
		"Unreachable": {"NetBox goes away just after it said so", nil, func(h *harness) { h.netbox.fail["FindHost"] = kind(netbox.KindUnreachable) }, true, v1alpha1.ReasonLost, "can't be reached"},
		"Down":        {"NetBox doesn't say that it's gone", []edit{nowhere}, func(h *harness) { h.netbox.fail["Get"] = kind(netbox.KindUnreachable) }, false, v1alpha1.ReasonUnreachable, ""},
		"Forbidden":   {"nor here", []edit{nowhere}, func(h *harness) { h.netbox.fail["FindByMarker"] = kind(netbox.KindForbidden) }, false, v1alpha1.ReasonForbidden, ""},
		"Cluster": {"the API server doesn't tell who the host is, of a record that is there", []edit{params(func(p *v1alpha1.NetBoxIPAddressParameters) {
			p.AssignTo = &v1alpha1.Assignment{HostRef: &xpv2.NamespacedReference{Name: "gone"}}
		})}, func(h *harness) { h.netbox.records = append(h.netbox.records, record(5, "10.77.0.11/24", ours)) }, false, v1alpha1.ReasonNotFound, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h := newHarness(newFake())
			restore := params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.WhenLost = v1alpha1.LostRestore })
			mg := newAddress(append([]edit{named("5"), seenAs(5), marked, restore}, tc.mg...)...)
			if tc.do != nil {
				tc.do(h)
			}
			for range 2 {
				if err := h.look(t, mg); reasonOf(err) != tc.err {
					t.Fatalf("%s: %v, want %q", tc.reason, err, tc.err)
				}
			}
			ready := mg.GetCondition(xpv2.TypeReady)
			if (ready.Status == corev1.ConditionFalse && ready.Reason == v1alpha1.ReasonLost) != tc.lost || !strings.Contains(ready.Message, tc.says) {
				t.Errorf("%s: %+v, want it lost: %t, with %q", tc.reason, ready, tc.lost, tc.says)
			}
			if told := strings.Join(h.events, "\n"); strings.Count(told, "Lost: record 5") != map[bool]int{true: 1}[tc.lost] || strings.Contains(told, "\n") {
				t.Errorf("%s: told %q", tc.reason, told)
			}
			if got := mg.Status.AtProvider.Address; got != "10.77.0.11/24" || len(h.netbox.writes()) != 0 {
				t.Errorf("%s: it shows %q, and %q were written", tc.reason, got, h.netbox.writes())
			}
		})
	}
}

func reservedField(mg *v1alpha1.NetBoxIPAddress) {
	mg.Spec.ForProvider.CustomFields = map[string]apiextv1.JSON{testField: {Raw: []byte(`"x"`)}}
}

// TestLossStays: a loss is told once, and said as long as nobody has looked anew, be NetBox, its provider config or the device away meanwhile.
func TestLossStays(t *testing.T) {
	f := newFake()
	h, mg := newHarness(f), newAddress(named("5"), seenAs(5), marked, managedBy(xpv2.ManagementActionAll), params(func(p *v1alpha1.NetBoxIPAddressParameters) {
		p.WhenLost = v1alpha1.LostRestore
		p.AssignTo = &v1alpha1.Assignment{Device: &v1alpha1.NetBoxDevice{Name: "node-1"}, Interface: &v1alpha1.NetBoxInterface{Name: "eno1"}}
	}))
	node := netbox.Holder{Kind: netbox.Device, ID: 1, Name: "node-1"}
	steps := []struct {
		why   string
		do    func()
		ready xpv2.ConditionReason
		err   xpv2.ConditionReason
	}{
		{"it's found out", func() {}, v1alpha1.ReasonLost, ""},
		{"NetBox can't be asked", func() { f.fail["Get"] = kind(netbox.KindUnreachable) }, v1alpha1.ReasonLost, v1alpha1.ReasonUnreachable},
		{"nor be proven", func() { f.fail["Get"], f.fail["Preflight"] = nil, kind(netbox.KindForbidden) }, v1alpha1.ReasonLost, v1alpha1.ReasonForbidden},
		{"it answers again", func() { f.fail["Preflight"] = nil }, v1alpha1.ReasonLost, ""},
		{"another process", func() { h.Connector = NewConnector(h.Options) }, v1alpha1.ReasonLost, ""},
		{"the device is there, and NetBox makes nothing", func() {
			f.rack.holders = []netbox.Holder{node}
			f.rack.interfaces = []netbox.Interface{{Place: netbox.Place{Kind: netbox.Device, Holder: 1, HolderName: "node-1", ID: 2, Name: "eno1"}}}
			f.fail["Create"] = kind(netbox.KindInvalid)
		}, v1alpha1.ReasonLost, v1alpha1.ReasonInvalid},
		{"which isn't asked for", func() {}, v1alpha1.ReasonLost, v1alpha1.ReasonLost},
		{"for a while", func() { f.fail["Create"], h.now = nil, h.now.Add(retryAfter) }, v1alpha1.ReasonLost, ""},
		{"it's there again", func() {}, xpv2.ReasonAvailable, ""},
	}
	for _, s := range steps {
		s.do()
		if err := h.look(t, mg); reasonOf(err) != s.err {
			t.Fatalf("%s: %v, want %q", s.why, err, s.err)
		}
		if c := mg.GetCondition(xpv2.TypeReady); c.Reason != s.ready {
			t.Fatalf("%s: %+v, want %q", s.why, c, s.ready)
		}
	}
	if len(h.events) != 1 || !strings.HasPrefix(h.events[0], "Lost: record 5 ") {
		t.Errorf("told %q", h.events)
	}
	if len(f.records) != 1 || f.records[0].Marker(testField) != ours {
		t.Errorf("records %+v", f.records)
	}
	f.records = nil
	if err := h.look(t, mg); err != nil || len(h.events) != 2 || !strings.Contains(h.events[1], "and is made again, as spec.forProvider.whenLost says") {
		t.Errorf("a loss that is mended at once is told, too: %v, %q", err, h.events)
	}
}
