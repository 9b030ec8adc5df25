package netbox_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// narrow has the token see some addresses alone from now on.
func (l *lab) narrow(sees func(netbox.Address) bool) {
	l.netbox.RemoveToken(secret)
	l.netbox.AddToken(netbox.Token{Name: "provider", Secret: secret, Sees: sees, Rights: []string{
		"view ipaddress", "add ipaddress", "change ipaddress", "delete ipaddress", "view prefix", "view customfield", "add customfield",
	}})
}

// unmarked are records that aren't the provider's.
func unmarked(a netbox.Address) bool { return a.CustomFields[field] == nil }

// veiled says that a resource says what its token lacks.
func veiled(mg *v1alpha1.NetBoxIPAddress) bool {
	return mg != nil && strings.Contains(mg.GetCondition(xpv2.TypeSynced).Message, "ipam.view_ipaddress without constraints")
}

// TestVeiled: a token that isn't shown our records any more, as its permission was given a constraint. What lives has its address, and what is deleted
// waits, and both say so; NetBox isn't asked for it at each look; and when the token sees again, all is as before.
func TestVeiled(t *testing.T) {
	for _, v := range versions() {
		for name, restart := range map[string]bool{"": false, "/Restart": true} {
			t.Run(v+name, func(t *testing.T) {
				l := newLab(t, v)
				l.maxAge = 2 * time.Minute
				l.restart()
				l.netbox.AddCustomField(netbox.CustomField{Name: "team", Type: "text", Required: true, ObjectTypes: []string{"ipam.ipaddress"}})
				for _, name := range []string{"web-1", "web-2"} {
					l.apply(name, func(mg *v1alpha1.NetBoxIPAddress) {
						mg.Spec.ForProvider.CustomFields = map[string]apiextv1.JSON{"team": {Raw: []byte(`"a"`)}}
					})
					l.settle(name, ready)
				}
				l.narrow(unmarked)
				l.now = l.now.Add(time.Hour)
				if restart {
					l.restart()
				}
				l.delete("web-2")
				l.settle("web-1", veiled)
				l.settle("web-2", veiled)
				before := len(l.netbox.Requests())
				for range 6 {
					l.now = l.now.Add(10 * time.Second)
					l.once("web-1")
					l.once("web-2")
				}
				if n := len(l.netbox.Requests()) - before; n > 1 {
					t.Errorf("%d requests in a minute: %+v", n, l.netbox.Requests()[before:])
				}
				mg := l.get("web-1")
				if c := mg.GetCondition(xpv2.TypeReady); c.Reason != "Available" || len(l.told) != 0 || len(l.netbox.Addresses()) != 2 {
					t.Errorf("%+v, told %q, records %+v", c, l.told, l.netbox.Addresses())
				}
				l.narrow(nil)
				l.now = l.now.Add(5 * time.Minute)
				l.settle("web-1", ready)
				l.settle("web-2", gone)
				l.only()
			})
		}
	}
}

// TestVeiledFromTheStart: a token that may never see what it makes. No address is left behind, and none is used that nobody could give back.
func TestVeiledFromTheStart(t *testing.T) {
	for _, v := range versions() {
		t.Run(v, func(t *testing.T) {
			l := newLab(t, v)
			l.narrow(unmarked)
			for i := range 3 {
				name := fmt.Sprintf("web-%d", i)
				l.apply(name)
				l.settle(name, because(v1alpha1.ReasonForbidden))
				l.delete(name)
				for range 3 {
					l.once(name)
				}
				if !veiled(l.get(name)) {
					t.Errorf("%s: %+v", name, l.get(name))
				}
			}
			l.netbox.RemoveAddress(l.netbox.Addresses()[0].ID) // That is a way out, too.
			l.settle("web-0", gone)
			l.narrow(nil)
			l.settle("web-1", gone)
			l.settle("web-2", gone)
			if all := l.netbox.Addresses(); len(all) != 0 {
				t.Errorf("left behind: %+v", all)
			}
		})
	}
}

// TestQuarantineOutOfSight: a token that sees active addresses alone has every quarantine out of its sight, which nobody ends then. That is told.
func TestQuarantineOutOfSight(t *testing.T) {
	for _, v := range versions() {
		t.Run(v, func(t *testing.T) {
			l := newLab(t, v)
			l.narrow(func(a netbox.Address) bool { return a.Status == "active" })
			l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) {
				mg.Spec.ForProvider.Release = &v1alpha1.ReleasePolicy{Policy: v1alpha1.ReleaseQuarantine, After: &metav1.Duration{Duration: time.Hour}}
			})
			l.settle("web-1", ready)
			l.remove()
			l.settle("web-1", gone)
			told := slices.DeleteFunc(slices.Clone(l.told), func(e string) bool { return !strings.HasPrefix(e, "OutOfSight: record ") })
			if len(told) != 1 || !strings.Contains(told[0], "ipam.view_ipaddress") {
				t.Errorf("told %q", l.told)
			}
		})
	}
}
