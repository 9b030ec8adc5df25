package netboxipaddress

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// assignTo makes an address one that is to be on an interface.
func assignTo(a v1alpha1.Assignment) edit {
	return params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.AssignTo = &a })
}

func onDevice(device, iface string, use v1alpha1.AddressUse) v1alpha1.Assignment {
	return v1alpha1.Assignment{Device: &v1alpha1.NetBoxDevice{Name: device}, Interface: &v1alpha1.NetBoxInterface{Name: iface}, Use: use}
}

func onHost(namespace, name string, i *v1alpha1.NetBoxInterface) v1alpha1.Assignment {
	return v1alpha1.Assignment{HostRef: &xpv2.NamespacedReference{Namespace: namespace, Name: name}, Interface: i, Use: v1alpha1.UsePrimary}
}

// reconcile does what the managed reconciler does in one go, and says what is wrong.
func (h *harness) reconcile(t *testing.T, mg *v1alpha1.NetBoxIPAddress) error {
	t.Helper()
	e := h.connect(t, mg)
	o, err := e.Observe(t.Context(), mg)
	switch {
	case err != nil:
	case !o.ResourceExists:
		if !meta.GetExternalCreatePending(mg).IsZero() { // Of a test that goes by it.
			meta.SetExternalCreatePending(mg, time.Now())
		}
		_, err = e.Create(t.Context(), mg)
	case !o.ResourceUpToDate && updates(mg):
		_, err = e.Update(t.Context(), mg)
	}
	synced := xpv2.ReconcileSuccess()
	if err != nil {
		synced = xpv2.ReconcileError(err)
	}
	mg.SetConditions(synced.WithObservedGeneration(mg.Generation))
	return err
}

// settle reconciles until nothing is written any more.
func (h *harness) settle(t *testing.T, mg *v1alpha1.NetBoxIPAddress) error {
	t.Helper()
	for range 10 {
		before := len(h.netbox.writes())
		if err := h.reconcile(t, mg); err != nil {
			return err
		}
		if len(h.netbox.writes()) == before {
			return nil
		}
	}
	t.Fatalf("it doesn't settle: %v", h.netbox.calls)
	return nil
}

func TestAssign(t *testing.T) {
	mac := func(m string) *v1alpha1.NetBoxInterface { return &v1alpha1.NetBoxInterface{MAC: m} }
	cases := map[string]struct {
		reason string
		want   v1alpha1.Assignment
		policy []v1alpha1.NetBoxPolicy
		fake   func(*fakeNetBox)
		// on is where the address ends up, and seated who has seats then; wrong is the reason of the trouble, with a part of its words.
		on     string
		seated []string
		wrong  xpv2.ConditionReason
		words  string
	}{
		"Name":       {"by names", onDevice("r7-u12", "eno1", v1alpha1.UsePrimary), nil, nil, `interface "eno1" of device "r7-u12"`, []string{"r7-u12 primary_ip4 10.77.0.1/24"}, "", ""},
		"Additional": {"no seat is touched", onDevice("R7-U12", "eno2", v1alpha1.UseAdditional), nil, nil, `interface "eno2" of device "r7-u12"`, nil, "", ""},
		"Unsaid":     {"additional where nothing is said", onDevice("r7-u12", "eno2", ""), nil, nil, `interface "eno2" of device "r7-u12"`, nil, "", ""},
		"OutOfBand":  {"out of band", onDevice("r7-u12", "eno2", v1alpha1.UseOutOfBand), nil, nil, `interface "eno2" of device "r7-u12"`, []string{"r7-u12 oob_ip 10.77.0.1/24"}, "", ""},
		"Numbers":    {"by numbers", v1alpha1.Assignment{Device: &v1alpha1.NetBoxDevice{ID: new(int64(2))}, Interface: &v1alpha1.NetBoxInterface{ID: new(int64(13))}}, nil, nil, `interface "eno1" of device "r7-u13"`, nil, "", ""},
		"Site":       {"in a site", v1alpha1.Assignment{Device: &v1alpha1.NetBoxDevice{Name: "r7-u12", Site: "fra1"}, Interface: &v1alpha1.NetBoxInterface{Name: "eno1"}}, nil, nil, `interface "eno1" of device "r7-u12"`, nil, "", ""},
		"MAC":        {"by a MAC address alone", v1alpha1.Assignment{Interface: mac("52-54-00-00-00-03"), Use: v1alpha1.UsePrimary}, nil, nil, `interface "eno1" of device "r7-u13"`, []string{"r7-u13 primary_ip4 10.77.0.1/24"}, "", ""},
		"Virtual":    {"a virtual machine", v1alpha1.Assignment{VirtualMachine: &v1alpha1.NetBoxDevice{Name: "vm-1"}, Interface: &v1alpha1.NetBoxInterface{Name: "eth0"}, Use: v1alpha1.UsePrimary}, nil, nil, `interface "eth0" of virtual machine "vm-1"`, []string{"vm-1 primary_ip4 10.77.0.1/24"}, "", ""},
		"VirtualOOB": {"which has no BMC", v1alpha1.Assignment{Interface: mac("52:54:00:00:00:04"), Use: v1alpha1.UseOutOfBand}, nil, nil, "nothing", nil, "Invalid", "no out-of-band address"},
		"NoDevice":   {"an unknown device", onDevice("r7-u99", "eno1", ""), nil, nil, "nothing", nil, "NotFound", `cannot find the device "r7-u99"`},
		"NoIface":    {"a device without that interface", onDevice("r7-u12", "eno9", ""), nil, nil, "nothing", nil, "NotFound", `"eno9"`},
		"Nothing":    {"admission refuses it, and so do we", v1alpha1.Assignment{}, nil, nil, "nothing", nil, "Invalid", "must name a device"},
		"Taken": {"another's seat isn't taken", onDevice("r7-u12", "eno1", v1alpha1.UsePrimary), nil, func(f *fakeNetBox) {
			f.rack.holders[0].Seated[netbox.SeatPrimary4] = netbox.Seated{ID: 99, Address: "10.77.0.9/24", URL: "https://n/api/ipam/ip-addresses/99/"}
		}, "nothing", []string{"r7-u12 primary_ip4 10.77.0.9/24"}, "Conflict", `is 10.77.0.9/24 already (https://n/api/ipam/ip-addresses/99/)`},
		"MACTaken": {"nor where the device isn't named", v1alpha1.Assignment{Interface: mac("52:54:00:00:00:01"), Use: v1alpha1.UsePrimary}, nil, func(f *fakeNetBox) {
			f.rack.holders[0].Seated[netbox.SeatPrimary4] = netbox.Seated{ID: 99, Address: "10.77.0.9/24", URL: "https://n/api/ipam/ip-addresses/99/"}
		}, "nothing", []string{"r7-u12 primary_ip4 10.77.0.9/24"}, "Conflict", `is 10.77.0.9/24 already`},
		"Host":      {"the device of a host, by its MAC address", onHost("infra", "r7-u12", nil), nil, nil, `interface "eno2" of device "r7-u12"`, []string{"r7-u12 primary_ip4 10.77.0.1/24"}, "", ""},
		"HostIface": {"the device of a host, another interface", onHost("infra", "r7-u12", &v1alpha1.NetBoxInterface{Name: "eno1"}), nil, nil, `interface "eno1" of device "r7-u12"`, []string{"r7-u12 primary_ip4 10.77.0.1/24"}, "", ""},
		"HostTwo":   {"a host with two network cards in NetBox: the one that its owner wrote down", onHost("infra", "two", nil), nil, nil, `interface "eno2" of device "r7-u12"`, []string{"r7-u12 primary_ip4 10.77.0.1/24"}, "", ""},
		"HostMoved": {"which NetBox doesn't know: whichever else the host has", onHost("infra", "two", nil), nil, func(f *fakeNetBox) { f.rack.interfaces[1].MACs = nil }, `interface "eno1" of device "r7-u12"`, []string{"r7-u12 primary_ip4 10.77.0.1/24"}, "", ""},
		"HostBoth":  {"several are as good: which one is said by its owner", onHost("infra", "both", nil), nil, nil, "nothing", nil, "Ambiguous", "say which in assignTo.interface"},
		"HostOther": {"another namespace's host", onHost("infra", "r7-u13", nil), nil, nil, "nothing", nil, "NotAllowed", `isn't there, or isn't another namespace's that is bound to a HostClaim of namespace "team-a"`},
		"HostNone":  {"of which it isn't said whether it's there", onHost("infra", "r7-u99", nil), nil, nil, "nothing", nil, "NotAllowed", `isn't there, or isn't another namespace's that is bound to a HostClaim of namespace "team-a"`},
		"HostTypo":  {"in the own namespace it is", onHost("", "typo", nil), nil, nil, "nothing", nil, "NotFound", "doesn't exist"},
		"HostOdd":   {"a host whose device is another machine", onHost("infra", "other", &v1alpha1.NetBoxInterface{Name: "eno1"}), nil, nil, "nothing", nil, "Conflict", `has serial number "ABC", but RedfishHost "infra/other" has "XYZ"`},
		"Policies":  {"where there are policies, nothing may be assigned", onDevice("r7-u12", "eno1", ""), []v1alpha1.NetBoxPolicy{{Namespaces: []string{"team-a"}}}, nil, "nothing", nil, "NotAllowed", "assignTo is not allowed"},
		"PolicyAll": {"unless one allows it", onDevice("r7-u12", "eno1", ""), []v1alpha1.NetBoxPolicy{{Namespaces: []string{"team-a"}, AssignTo: v1alpha1.AssignAll}}, nil, `interface "eno1" of device "r7-u12"`, nil, "", ""},
		"OwnHosts":  {"or to hosts of its own", onHost("infra", "r7-u12", nil), []v1alpha1.NetBoxPolicy{{Namespaces: []string{"team-a"}, AssignTo: v1alpha1.AssignOwnHosts}}, nil, `interface "eno2" of device "r7-u12"`, []string{"r7-u12 primary_ip4 10.77.0.1/24"}, "", ""},
		"OwnByName": {"which aren't named by their device", onDevice("r7-u12", "eno1", ""), []v1alpha1.NetBoxPolicy{{Namespaces: []string{"team-a"}, AssignTo: v1alpha1.AssignOwnHosts}}, nil, "nothing", nil, "NotAllowed", "other than by hostRef"},
		"Unclaimed": {"and are claimed", onHost("team-a", "own", nil), []v1alpha1.NetBoxPolicy{{Namespaces: []string{"team-a"}, AssignTo: v1alpha1.AssignOwnHosts}}, nil, "nothing", nil, "NotAllowed", "claim it first"},
		"HomeMade":  {"and aren't of its own making, which would name any device", onHost("team-a", "r7-u13", nil), []v1alpha1.NetBoxPolicy{{Namespaces: []string{"team-a"}, AssignTo: v1alpha1.AssignOwnHosts}}, nil, "nothing", nil, "NotAllowed", "claim it first"},
		"Unlimited": {"unless all may be assigned", onHost("", "r7-u13", &v1alpha1.NetBoxInterface{Name: "eno1"}), nil, nil, `interface "eno1" of device "r7-u13"`, []string{"r7-u13 primary_ip4 10.77.0.1/24"}, "", ""},
		"OtherNet": {"a policy for other networks doesn't count", onDevice("r7-u12", "eno1", ""), []v1alpha1.NetBoxPolicy{
			{Namespaces: []string{"team-a"}, Prefixes: []string{"10.77.0.0/24"}}, {Namespaces: []string{"team-a"}, Prefixes: []string{"10.78.0.0/24"}, AssignTo: v1alpha1.AssignAll},
		}, nil, "nothing", nil, "NotAllowed", "assignTo is not allowed"},
		"Ambiguous": {"two interfaces with one MAC address", v1alpha1.Assignment{Interface: mac("52:54:00:00:00:03")}, nil, func(f *fakeNetBox) { f.fail["FindInterface"] = kind(netbox.KindAmbiguous) }, "nothing", nil, "Ambiguous", "so"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			if tc.fake != nil {
				tc.fake(f)
			}
			h, mg := newHarness(f), newAddress(assignTo(tc.want))
			h.cfg.Config.Policies = tc.policy
			err := h.settle(t, mg)
			if ready := mg.GetCondition(xpv2.TypeReady); tc.wrong == "" && ready.Status != corev1.ConditionTrue || tc.wrong != "" && ready.Reason != tc.wrong {
				t.Errorf("%s: Ready is %+v", tc.reason, ready)
			} else if !strings.Contains(ready.Message, tc.words) {
				t.Errorf("%s: %q isn't in %q", tc.reason, tc.words, ready.Message)
			}
			if r := reasonOf(err); r != tc.wrong && (tc.wrong != v1alpha1.ReasonNotFound || err != nil) {
				t.Errorf("%s: %v, want %q", tc.reason, err, tc.wrong)
			}
			on := "nothing"
			if len(f.records) > 0 && f.records[0].Assigned != nil {
				on = f.records[0].Assigned.String()
			}
			if on != tc.on {
				t.Errorf("%s: it's on %s, want %s", tc.reason, on, tc.on)
			}
			if diff := cmp.Diff(tc.seated, f.rack.seated()); diff != "" {
				t.Errorf("%s: seats (-want +got):\n%s", tc.reason, diff)
			}
			if tc.on == "nothing" && len(f.records) != 0 {
				t.Errorf("%s: an address was taken in vain: %v", tc.reason, f.records)
			}
			if o := mg.Status.AtProvider.Assigned; complete(o) != (tc.wrong == "") || (o != nil) != (tc.on != "nothing") {
				t.Errorf("%s: status says %+v", tc.reason, o)
			}
		})
	}
}

// TestReassign is each way from one assignment to another, in an order that NetBox takes, with a crash after each write and an answer
// lost after each.
func TestReassign(t *testing.T) {
	cases := map[string]struct {
		reason string
		to     *v1alpha1.Assignment
		on     string
		seated []string
		writes []string
	}{
		"Device":     {"a primary moves to another device", new(onDevice("r7-u13", "eno1", v1alpha1.UsePrimary)), `interface "eno1" of device "r7-u13"`, []string{"r7-u13 primary_ip4 10.77.0.1/24"}, []string{"Seat", "Patch", "Seat"}},
		"Interface":  {"or to another interface", new(onDevice("r7-u12", "eno2", v1alpha1.UsePrimary)), `interface "eno2" of device "r7-u12"`, []string{"r7-u12 primary_ip4 10.77.0.1/24"}, []string{"Patch"}},
		"Additional": {"what was taken is given back", new(onDevice("r7-u12", "eno1", v1alpha1.UseAdditional)), `interface "eno1" of device "r7-u12"`, nil, []string{"Seat"}},
		"OutOfBand":  {"or exchanged", new(onDevice("r7-u12", "eno1", v1alpha1.UseOutOfBand)), `interface "eno1" of device "r7-u12"`, []string{"r7-u12 oob_ip 10.77.0.1/24"}, []string{"Seat", "Seat"}},
		"Nowhere":    {"an assignment that isn't named any more is undone", nil, "nothing", nil, []string{"Seat", "Patch"}},
	}
	for name, tc := range cases {
		for _, lost := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				f := newFake()
				h, mg := newHarness(f), newAddress(assignTo(onDevice("r7-u12", "eno1", v1alpha1.UsePrimary)))
				if err := h.settle(t, mg); err != nil {
					t.Fatal(err)
				}
				mg.Spec.ForProvider.AssignTo = tc.to
				mg.Generation++
				f.calls = nil
				if lost {
					f.lose["Seat"] = kind(netbox.KindUnknownOutcome)
				}
				for range 8 { // Each look is by a new process: nothing but NetBox and the resource remembers.
					err := newHarness(f).reconcile(t, mg)
					if lost != netbox.IsUnknownOutcome(err) && err != nil {
						t.Fatalf("%s: %v", tc.reason, err)
					}
				}
				on := "nothing"
				if at := f.records[0].Assigned; at != nil {
					on = at.String()
				}
				if on != tc.on {
					t.Errorf("%s: it's on %s, want %s", tc.reason, on, tc.on)
				}
				if diff := cmp.Diff(tc.seated, f.rack.seated()); diff != "" {
					t.Errorf("%s: seats (-want +got):\n%s", tc.reason, diff)
				}
				if diff := cmp.Diff(tc.writes, f.writes()); diff != "" {
					t.Errorf("%s: writes (-want +got):\n%s", tc.reason, diff)
				}
				if len(h.events) != 0 {
					t.Errorf("%s: what we change ourselves is no drift: %v", tc.reason, h.events)
				}
			})
		}
	}
}

// TestAssignmentOfPeople: what people assigned, and no spec names, is theirs; also where one named it once and somebody moved it.
func TestAssignmentOfPeople(t *testing.T) {
	f := newFake()
	h, mg := newHarness(f), newAddress()
	if err := h.settle(t, mg); err != nil {
		t.Fatal(err)
	}
	f.records[0].Assigned = f.rack.elsewhere()
	f.calls = nil
	if err := h.settle(t, mg); err != nil || len(f.writes()) != 0 || mg.Status.AtProvider.Assigned != nil {
		t.Errorf("people's: %v, %v, %+v", err, f.writes(), mg.Status.AtProvider.Assigned)
	}
	mg.Spec.ForProvider.AssignTo = new(onDevice("r7-u12", "eno1", ""))
	mg.Generation++
	if err := h.settle(t, mg); err != nil || f.records[0].Assigned.ID != 11 {
		t.Errorf("named: %v, %+v", err, f.records[0].Assigned)
	}
	f.records[0].Assigned = f.rack.elsewhere()
	mg.Spec.ForProvider.AssignTo = nil
	mg.Generation++
	if err := h.settle(t, mg); err != nil || f.records[0].Assigned.ID != 13 || mg.Status.AtProvider.Assigned != nil {
		t.Errorf("moved by people, and not named any more: %v, %+v", err, f.records[0].Assigned)
	}
}

// TestSteadyAssignment: an address that is where it should be is left alone by what was seen of it lately.
func TestSteadyAssignment(t *testing.T) {
	f := newFake()
	h, mg := newHarness(f), newAddress(assignTo(onDevice("r7-u12", "eno1", v1alpha1.UsePrimary)))
	if err := h.settle(t, mg); err != nil {
		t.Fatal(err)
	}
	h.MaxAge = 60
	f.seen, f.calls = f.records, nil
	if err := h.reconcile(t, mg); err != nil {
		t.Fatal(err)
	}
	for _, c := range f.calls {
		if c != "Preflight" && !strings.HasPrefix(c, "Seen") {
			t.Errorf("a live read: %v", f.calls)
			break
		}
	}
	f.fail["SeenHolder"] = kind(netbox.KindUnreachable)
	if err := h.reconcile(t, mg); reasonOf(err) != "Unreachable" || mg.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue {
		t.Errorf("that NetBox can't be asked takes nothing from anybody: %v, %+v", err, mg.GetCondition(xpv2.TypeReady))
	}
}

// TestAssignsWhenMade: an address is made on its interface, so that nobody sees it elsewhere.
func TestAssignsWhenMade(t *testing.T) {
	f := newFake()
	h, mg := newHarness(f), newAddress(assignTo(onDevice("r7-u12", "eno1", "")))
	if err := h.reconcile(t, mg); err != nil || f.records[0].Assigned == nil {
		t.Errorf("made: %v, %+v", err, f.records)
	}
	if err := h.settle(t, mg); err != nil || cmp.Diff([]string{"Allocate"}, f.writes()) != "" {
		t.Errorf("one write: %v, %v", err, f.writes())
	}
}

func TestWordedErrors(t *testing.T) {
	for _, err := range []error{seatTakenError{}, hostError{}, refusedError{cause: errors.New("boom")}, refusedError{tenant: "nope"}} {
		if err.Error() == "" && !errors.As(err, new(hostError)) && !errors.As(err, new(refusedError)) {
			t.Errorf("%T says nothing", err)
		}
		if wordedTrouble(err, inputs{}) == nil {
			t.Errorf("%T has no sentence", err)
		}
	}
	if wordedTrouble(context.Canceled, inputs{}) != nil {
		t.Error("others have none here")
	}
}
