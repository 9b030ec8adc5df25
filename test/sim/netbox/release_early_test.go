package netbox_test

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// host makes a RedfishHost of team-a's, with a MAC address.
func (l rackLab) host(name, mac string) {
	l.t.Helper()
	h := &v1alpha1.RedfishHost{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: name}}
	h.Spec.ForProvider.MACs = []string{mac}
	if err := l.kube.Create(l.t.Context(), h); err != nil {
		l.t.Fatal(err)
	}
}

// dropHosts deletes all RedfishHosts, as a namespace does that goes with all that is in it.
func (l rackLab) dropHosts() {
	l.t.Helper()
	all := &v1alpha1.RedfishHostList{}
	if err := l.kube.List(l.t.Context(), all); err != nil {
		l.t.Fatal(err)
	}
	for i := range all.Items {
		if err := l.kube.Delete(l.t.Context(), &all.Items[i]); err != nil {
			l.t.Fatal(err)
		}
	}
}

// hopeful is a lab with hosts of both example devices, and web-1 as primary address of the first: as its assignment says it, and of the second.
func hopeful(t *testing.T, version, by, policy string, change ...func(rackLab)) (l rackLab, other v1alpha1.Assignment) {
	t.Helper()
	l = newRackLab(t, version)
	l.host(netbox.ExampleDevice, "52:54:00:77:12:01")
	l.host(netbox.ExampleHost, "52:54:00:77:18:01")
	assignments := map[string][2]v1alpha1.Assignment{
		"device": {
			{Device: &v1alpha1.NetBoxDevice{Name: netbox.ExampleDevice}, Interface: &v1alpha1.NetBoxInterface{Name: "eno1"}},
			{Device: &v1alpha1.NetBoxDevice{Name: netbox.ExampleHost}, Interface: &v1alpha1.NetBoxInterface{Name: "eno1"}},
		},
		"host": {{HostRef: &xpv2.NamespacedReference{Name: netbox.ExampleDevice}}, {HostRef: &xpv2.NamespacedReference{Name: netbox.ExampleHost}}},
		"mac":  {{Interface: &v1alpha1.NetBoxInterface{MAC: "52:54:00:77:12:01"}}, {Interface: &v1alpha1.NetBoxInterface{MAC: "52:54:00:77:18:01"}}},
	}[by]
	for i := range assignments {
		assignments[i].Use = v1alpha1.UsePrimary
	}
	for _, c := range change {
		c(l)
	}
	l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) {
		mg.Spec.ForProvider.AssignTo = &assignments[0]
		mg.Spec.ForProvider.Release = &v1alpha1.ReleasePolicy{Policy: policy}
	})
	return l, assignments[1]
}

// made looks at web-1 until NetBox has its record, and no further.
func (l rackLab) made() netbox.Address {
	l.t.Helper()
	for range 6 {
		if len(l.netbox.Addresses()) > 0 {
			break
		}
		l.once("web-1")
	}
	return l.only()
}

// powerless takes the right from the token to change devices.
func powerless(l rackLab) {
	l.t.Helper()
	rights := permissions(l.t)
	l.netbox.RemoveToken(secret)
	l.netbox.AddToken(netbox.Token{Name: "provider", Secret: secret, Rights: slices.Concat(
		rights["addresses"], rights["prefixes"], rights["interfaces"], rights["macs"], rights["fields"], []string{"add customfield"})})
}

// TestReleasedBeforeAssigned: what a resource itself put on an interface it lets go at any time, also where its assignment was never complete, or
// isn't just now, and whether or not the host is left that spec names.
func TestReleasedBeforeAssigned(t *testing.T) {
	looks := func(l rackLab, n int) {
		for range n {
			l.once("web-1")
		}
	}
	stages := map[string]struct {
		reason string
		before func(rackLab)
		stage  func(l rackLab, other v1alpha1.Assignment)
	}{
		"AtOnce": {reason: "right after the POST", stage: func(l rackLab, _ v1alpha1.Assignment) { l.made() }},
		"Outage": {reason: "NetBox is away right after it, and gives no look", stage: func(l rackLab, _ v1alpha1.Assignment) {
			l.made()
			end := l.netbox.Inject(netbox.Fault{Kind: netbox.FaultServerErrorJSON})
			looks(l, 2)
			end()
		}},
		"Lost": {reason: "nor an answer to the POST", before: func(l rackLab) {
			l.netbox.Inject(netbox.Fault{Kind: netbox.FaultEOFAfter, Method: http.MethodPost, Path: "available-ips", Times: 1})
		}, stage: func(l rackLab, _ v1alpha1.Assignment) { l.made() }},
		"NoRight": {reason: "the token may not change devices, so that it's never the primary one", before: powerless, stage: func(l rackLab, _ v1alpha1.Assignment) { looks(l, 6) }},
		"SeatTaken": {reason: "somebody makes another address the primary one meanwhile", stage: func(l rackLab, _ v1alpha1.Assignment) {
			l.made()
			id := l.netbox.AddAddress(netbox.Address{Address: netip.MustParsePrefix("10.77.2.9/24"), Assigned: netbox.Object{Type: "dcim.interface", ID: 1}})
			l.netbox.ChangeMachine(false, 1, func(m *netbox.Machine) { m.Primary4 = id })
			looks(l, 3)
			l.netbox.ChangeMachine(false, 1, func(m *netbox.Machine) { m.Primary4 = 0 })
			l.netbox.RemoveAddress(id) // So that ours is the only one.
		}},
		"Corrected": {reason: "it was put back from where somebody had moved it", stage: func(l rackLab, _ v1alpha1.Assignment) {
			l.rest()
			l.netbox.ChangeMachine(false, 1, func(m *netbox.Machine) { m.Primary4 = 0 })
			l.netbox.ChangeAddressAs("alice", l.only().ID, func(a *netbox.Address) { a.Assigned = netbox.Object{Type: "dcim.interface", ID: 3} })
			looks(l, 2)
			if a := l.only(); a.Assigned.ID != 1 || len(l.told) != 1 {
				l.t.Fatalf("it's on %+v, told %q", a.Assigned, l.told)
			}
		}},
		"Moving": {reason: "spec moved it to another machine, and it isn't the primary one there yet", stage: func(l rackLab, other v1alpha1.Assignment) {
			l.rest()
			l.edit(on(other))
			for range 6 {
				l.once("web-1")
				if l.only().Assigned.ID == 3 {
					return
				}
			}
			l.t.Fatalf("it doesn't move: %+v", l.only())
		}},
	}
	for name, tc := range stages {
		for _, by := range []string{"device", "host", "mac"} {
			for _, v := range versions() {
				for _, policy := range []string{v1alpha1.ReleaseDelete, v1alpha1.ReleaseQuarantine} {
					if policy == v1alpha1.ReleaseQuarantine && v != "4.6.8" {
						continue // What is asked about the record is the same.
					}
					t.Run(name+"/"+by+"/"+v+"/"+policy, func(t *testing.T) {
						var before []func(rackLab)
						if tc.before != nil {
							before = append(before, tc.before)
						}
						l, other := hopeful(t, v, by, policy, before...)
						tc.stage(l, other)
						if a := l.only(); a.Assigned.ID == 0 {
							t.Fatalf("it's on nothing: %+v", a)
						}
						l.dropHosts()
						l.remove()
						l.settle("web-1", gone)
						left := l.netbox.Addresses()
						if policy == v1alpha1.ReleaseDelete && len(left) != 0 || policy == v1alpha1.ReleaseQuarantine && (len(left) != 1 || left[0].Status != "deprecated" || left[0].Assigned.ID != 0) {
							t.Errorf("%s: left %+v", tc.reason, left)
						}
					})
				}
			}
		}
	}
}

// TestForgottenPlace: where nothing tells any more that a resource put its address where it is, spec does, as long as it names that machine.
func TestForgottenPlace(t *testing.T) {
	for _, by := range []string{"device", "host", "mac"} {
		for _, v := range versions() {
			t.Run(by+"/"+v, func(t *testing.T) {
				l, other := hopeful(t, v, by, v1alpha1.ReleaseDelete)
				forget := func(a *v1alpha1.Assignment) {
					mg := l.get("web-1")
					delete(mg.Annotations, v1alpha1.AnnotationMadeOn)
					mg.Spec.ForProvider.AssignTo = a
					if err := l.kube.Update(t.Context(), mg); err != nil {
						t.Fatal(err)
					}
				}
				l.made()
				asked := l.get("web-1").Spec.ForProvider.AssignTo
				forget(&other)
				l.remove()
				l.settle("web-1", isnt)
				forget(asked)
				l.settle("web-1", gone)
			})
		}
	}
}

// isnt says that a resource stays since a person put its address where it is.
func isnt(mg *v1alpha1.NetBoxIPAddress) bool {
	return mg != nil && strings.Contains(mg.GetCondition(xpv2.TypeSynced).Message, "which isn't this resource's doing")
}

// TestReassignedEarly: what a person put on another machine is his, also where our assignment was never complete.
func TestReassignedEarly(t *testing.T) {
	for _, by := range []string{"device", "host", "mac"} {
		for name, looks := range map[string]int{"AtOnce": 0, "NoRight": 4} {
			t.Run(by+"/"+name, func(t *testing.T) {
				l, _ := hopeful(t, "4.6.8", by, v1alpha1.ReleaseDelete, powerless)
				a := l.made()
				for range looks {
					l.once("web-1")
				}
				l.netbox.ChangeAddressAs("alice", a.ID, func(a *netbox.Address) { a.Assigned = netbox.Object{Type: "dcim.interface", ID: 3} })
				l.remove()
				l.settle("web-1", isnt)
				if a := l.only(); a.Assigned.ID != 3 {
					t.Errorf("it was touched: %+v", a)
				}
				l.edit(func(p *v1alpha1.NetBoxIPAddressParameters) {
					p.Release = &v1alpha1.ReleasePolicy{Policy: v1alpha1.ReleaseKeep}
				})
				l.settle("web-1", gone)
			})
		}
	}
}

// TestUnassignedEarly: an assignment that is taken out of the spec before it was ever complete is undone.
func TestUnassignedEarly(t *testing.T) {
	for _, by := range []string{"device", "host", "mac"} {
		for name, looks := range map[string]int{"AtOnce": 0, "NoRight": 4} {
			t.Run(by+"/"+name, func(t *testing.T) {
				l, _ := hopeful(t, "4.6.8", by, v1alpha1.ReleaseDelete, powerless)
				l.made()
				for range looks {
					l.once("web-1")
				}
				l.edit(func(p *v1alpha1.NetBoxIPAddressParameters) { p.AssignTo = nil })
				mg := l.rest()
				if at := l.standing(); at != " 0" || mg.Status.AtProvider.Assigned != nil || len(l.told) != 0 {
					t.Errorf("it's on %q, status says %+v, told %q", at, mg.Status.AtProvider.Assigned, l.told)
				}
				l.netbox.ChangeAddressAs("alice", l.only().ID, func(a *netbox.Address) { a.Assigned = netbox.Object{Type: "dcim.interface", ID: 1} })
				l.rest()
				l.remove()
				l.settle("web-1", isnt) // That was a person's doing.
			})
		}
	}
}

// TestAdoptOnItsInterface: a person's record is adopted where spec says that it's to be, and not where it's on another machine.
func TestAdoptOnItsInterface(t *testing.T) {
	for _, by := range []string{"device", "host", "mac"} {
		for _, v := range versions() {
			t.Run(by+"/"+v, func(t *testing.T) {
				l, _ := hopeful(t, v, by, v1alpha1.ReleaseDelete)
				adopts := func(mg *v1alpha1.NetBoxIPAddress) {
					mg.Spec.ForProvider = v1alpha1.NetBoxIPAddressParameters{
						AssignTo: l.get("web-1").Spec.ForProvider.AssignTo, Address: "10.77.2.50/24", Adopt: v1alpha1.AdoptIfUnowned,
					}
				}
				id := l.netbox.AddAddress(netbox.Address{Address: netip.MustParsePrefix("10.77.2.50/24"), Assigned: netbox.Object{Type: "dcim.interface", ID: 3}})
				l.apply("web-2", adopts)
				mg := l.settle("web-2", because(v1alpha1.ReasonConflict))
				if m := mg.GetCondition(xpv2.TypeReady).Message; !strings.Contains(m, `is assigned to interface "eno1" of device "r7-u18"`) {
					t.Errorf("message %q", m)
				}
				l.netbox.ChangeAddress(id, func(a *netbox.Address) { a.Assigned.ID = 1 })
				l.once("web-2")
				if mg = l.settle("web-2", ready); mg.Status.AtProvider.ID != id || mg.Status.AtProvider.Assigned.Use != v1alpha1.UsePrimary {
					t.Errorf("status %+v", mg.Status.AtProvider)
				}
			})
		}
	}
}
