package netbox_test

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// quarantine is the release policy of that name.
func quarantine(p *v1alpha1.NetBoxIPAddressParameters) {
	p.Release = &v1alpha1.ReleasePolicy{Policy: v1alpha1.ReleaseQuarantine}
}

// TestQuarantineOfPrimary: a device lets go of its primary and out-of-band address before that is unassigned, on each version, and with
// each answer on the way lost.
func TestQuarantineOfPrimary(t *testing.T) {
	for _, use := range []v1alpha1.AddressUse{v1alpha1.UsePrimary, v1alpha1.UseOutOfBand} {
		for _, v := range versions() {
			for name, lost := range map[string]string{"Plain": "", "DeviceLost": "/dcim/devices/", "AddressLost": "/ipam/ip-addresses/"} {
				t.Run(string(use)+"/"+v+"/"+name, func(t *testing.T) {
					l := newRackLab(t, v)
					l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) {
						on(device(use))(&mg.Spec.ForProvider)
						quarantine(&mg.Spec.ForProvider)
					})
					l.rest()
					if at := l.standing(); at != "dcim.interface 1, r7-u12 "+map[v1alpha1.AddressUse]string{v1alpha1.UsePrimary: "primary4", v1alpha1.UseOutOfBand: "oob"}[use] {
						t.Fatalf("it's %q", at)
					}
					if lost != "" {
						l.netbox.Inject(netbox.Fault{Kind: netbox.FaultEOFAfter, Method: http.MethodPatch, Path: lost, Times: 1})
					}
					l.remove()
					l.settle("web-1", gone)
					a := l.netbox.Addresses()
					if len(a) != 1 || a[0].Status != "deprecated" || a[0].Assigned.ID != 0 || l.netbox.Machines()[0].Primary4 != 0 || l.netbox.Machines()[0].OutOfBand != 0 {
						t.Errorf("left %+v, device %+v", a, l.netbox.Machines()[0])
					}
				})
			}
		}
	}
}

// TestReassignedIsKept: what a person put on another machine, or made a group's gateway, isn't released, whatever the policy, until the person or the owner
// says so.
func TestReassignedIsKept(t *testing.T) {
	machine, group := netbox.Object{Type: "virtualization.vminterface", ID: 1}, netbox.Object{Type: "ipam.fhrpgroup", ID: 1}
	for name, tc := range map[string]struct {
		policy string
		to     netbox.Object
		says   string
	}{
		"Delete":          {v1alpha1.ReleaseDelete, machine, `virtual machine "vm-1", which isn't this resource's doing`},
		"Quarantine":      {v1alpha1.ReleaseQuarantine, machine, `virtual machine "vm-1", which isn't this resource's doing`},
		"DeleteGroup":     {v1alpha1.ReleaseDelete, group, "VRRPv2: 1"},
		"QuarantineGroup": {v1alpha1.ReleaseQuarantine, group, "VRRPv2: 1"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newRackLab(t, "4.6.8")
			l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) {
				on(device(v1alpha1.UseAdditional))(&mg.Spec.ForProvider)
				mg.Spec.ForProvider.Release = &v1alpha1.ReleasePolicy{Policy: tc.policy}
			})
			l.rest()
			l.netbox.ChangeAddress(l.only().ID, func(a *netbox.Address) { a.Assigned = tc.to })
			l.remove()
			refused := func(mg *v1alpha1.NetBoxIPAddress) bool {
				return mg != nil && strings.Contains(mg.GetCondition(xpv2.TypeSynced).Message, tc.says)
			}
			l.settle("web-1", refused)
			if a := l.only(); a.Status != "active" || a.Assigned.ID != 1 {
				t.Errorf("it was touched: %+v", a)
			}
			l.edit(func(p *v1alpha1.NetBoxIPAddressParameters) {
				p.Release = &v1alpha1.ReleasePolicy{Policy: v1alpha1.ReleaseKeep}
			})
			l.settle("web-1", gone)
			if a := l.netbox.Addresses(); len(a) != 1 || a[0].Status != "active" || a[0].Assigned.ID != 1 || a[0].CustomFields[field] != nil {
				t.Errorf("left %+v", a)
			}
		})
	}
}

// TestDeviceDeleted: NetBox deletes a device's addresses with it (777). That is seen, it's said who did it, and nothing takes the
// address's place; once the device is there again it's made again where spec says so.
func TestDeviceDeleted(t *testing.T) {
	for _, v := range versions() {
		t.Run(v, func(t *testing.T) {
			l := newRackLab(t, v)
			l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) { on(device(v1alpha1.UsePrimary))(&mg.Spec.ForProvider) })
			before := l.rest().Status.AtProvider.Address
			made := l.posts()
			l.netbox.RemoveMachine(false, 1)
			mg := l.settle("web-1", because(v1alpha1.ReasonLost))
			if m := mg.GetCondition(xpv2.TypeReady).Message; !strings.Contains(m, `by "admin"`) || !strings.Contains(m, before) {
				t.Errorf("message %q", m)
			}
			for range 3 {
				l.once("web-1")
			}
			if l.posts() != made || len(l.netbox.Addresses()) != 0 {
				t.Fatalf("something was made: %+v", l.netbox.Addresses())
			}
			if n := len(slices.DeleteFunc(slices.Clone(l.told), func(s string) bool { return !strings.Contains(s, "Lost") })); n != 1 {
				t.Errorf("told %d times: %q", n, l.told)
			}
			l.edit(func(p *v1alpha1.NetBoxIPAddressParameters) { p.WhenLost, p.AssignTo = v1alpha1.LostRestore, nil })
			if mg = l.settle("web-1", ready); mg.Status.AtProvider.Address != before || len(l.netbox.Addresses()) != 1 {
				t.Errorf("restored %+v, was %s", mg.Status.AtProvider, before)
			}
		})
	}
}

// TestReleaseExamples applies the examples of adoption, import, release and loss, and looks into NetBox.
func TestReleaseExamples(t *testing.T) {
	for _, v := range versions() {
		t.Run(v, func(t *testing.T) {
			l := newLab(t, v)
			l.netbox.AddCIDR("10.77.0.0/24")
			gateway := l.netbox.AddAddress(netbox.Address{Address: netip.MustParsePrefix("10.77.0.1/24"), Description: "gateway"})
			theirs := l.netbox.AddAddress(netbox.Address{Address: netip.MustParsePrefix("10.77.0.60/24"), Description: "Bob's"})
			taken := map[string]int64{"adopted-address": theirs, "adopted-record": gateway, "gateway": gateway}
			for _, file := range []string{"import.yaml", "adopt.yaml", "release.yaml", "lost.yaml"} {
				for _, wish := range example(t, file) {
					before := l.netbox.Writes()
					l.apply(wish.GetName(), as(wish), func(mg *v1alpha1.NetBoxIPAddress) {
						mg.SetAnnotations(wish.GetAnnotations())
						if p := wish.GetManagementPolicies(); len(p) > 0 {
							mg.SetManagementPolicies(p)
						}
					})
					l.settle(wish.GetName(), func(mg *v1alpha1.NetBoxIPAddress) bool {
						return ready(mg) && (taken[wish.GetName()] == 0 || mg.Status.AtProvider.ID == taken[wish.GetName()])
					})
					if file == "import.yaml" && l.netbox.Writes() != before {
						t.Error("what is only observed isn't written to")
					}
				}
			}
			if len(l.netbox.Addresses()) != 5 {
				t.Errorf("NetBox has %+v", l.netbox.Addresses())
			}
			for _, name := range []string{"gateway", "adopted-address", "adopted-record", "quarantined", "kept", "restored"} {
				if err := l.kube.Delete(t.Context(), l.get(name)); err != nil {
					t.Fatal(err)
				}
				l.settle(name, gone)
			}
			left, kept := map[int64]string{}, 0
			for _, a := range l.netbox.Addresses() {
				left[a.ID] = a.Status
				if a.Description == "stays in NetBox" && a.Status == "active" && a.CustomFields[field] == nil && a.CustomFields["crossplane_released"] == clusterID+"/team-a/kept/uid-kept" {
					kept++
				}
			}
			if len(left) != 3 || kept != 1 || left[gateway] != "active" || left[theirs] != "" || meta.GetExternalName(example(t, "adopt.yaml")[1]) != "1" {
				t.Errorf("left %v: the kept gateway, one that was kept, and one in quarantine", left)
			}
		})
	}
}

// TestRequiredLater: a custom field that is required since a while keeps a record from being changed. That is said of it, and nothing else.
func TestRequiredLater(t *testing.T) {
	for _, policy := range []string{v1alpha1.ReleaseKeep, v1alpha1.ReleaseQuarantine} {
		for _, v := range versions() {
			t.Run(policy+"/"+v, func(t *testing.T) {
				l := newRackLab(t, v)
				l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) {
					mg.Spec.ForProvider.Release = &v1alpha1.ReleasePolicy{Policy: policy}
				})
				l.rest()
				l.netbox.AddCustomField(netbox.CustomField{Name: "costcentre", Type: "text", Required: true, ObjectTypes: []string{"ipam.ipaddress"}})
				l.remove()
				l.settle("web-1", func(mg *v1alpha1.NetBoxIPAddress) bool {
					m := mg.GetCondition(xpv2.TypeSynced).Message
					return strings.Contains(m, `no value in custom field "costcentre", which is required on IP addresses by now`) && !strings.Contains(m, "primary")
				})
				l.netbox.ChangeAddress(l.only().ID, func(a *netbox.Address) { a.CustomFields["costcentre"] = "42" })
				l.settle("web-1", gone)
			})
		}
	}
}
