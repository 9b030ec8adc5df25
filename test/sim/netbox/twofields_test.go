package netbox_test

import (
	"context"
	"net/netip"
	"strconv"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// twoFields is a lab whose NetBox has two provider configs, with custom fields of their own each: that of the lab, and "other".
func twoFields(t *testing.T, version string) *lab {
	t.Helper()
	l := newLab(t, version)
	l.netbox.AddMarkerField(field)
	l.netbox.AddMarkerField("other_claim")
	other := l.config
	other.Name, other.UID, other.Config.MarkerField, other.Config.ReleaseField = "other", "cfg2", "other_claim", "other_released"
	l.resolve = func(_ context.Context, mg *v1alpha1.NetBoxIPAddress) (config.NetBox, error) {
		if mg.Spec.ProviderConfigReference.Name == other.Name {
			return other, nil
		}
		return l.config, nil
	}
	l.maxAge = 2 * time.Minute
	l.restart()
	return l
}

// byOther is a resource of the other provider config.
func byOther(mg *v1alpha1.NetBoxIPAddress) {
	mg.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: v1alpha1.ClusterProviderConfigKind, Name: "other"}
}

// takes is one that takes over a record: that of the first address, by that or by its number.
func takes(how v1alpha1.AdoptPolicy, record int64) func(*v1alpha1.NetBoxIPAddress) {
	return func(mg *v1alpha1.NetBoxIPAddress) {
		p := &mg.Spec.ForProvider
		p.From, p.Address, p.Adopt = nil, "10.77.0.1/29", how
		if how == v1alpha1.AdoptExternalName {
			meta.SetExternalName(mg, strconv.FormatInt(record, 10))
		}
	}
}

// looks has both resources looked at for some minutes.
func (l *lab) looks() {
	l.t.Helper()
	for range 6 {
		l.once("web-2")
		l.once("web-1")
		l.now = l.now.Add(time.Minute)
	}
}

// TestAdoptAcrossFields: a record of a resource that lives isn't another one's, too, whatever custom field its marker is in, or whether it has it yet. Who
// wanted to take it over goes without touching it; a person's record is taken all the same.
func TestAdoptAcrossFields(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		first  func(*v1alpha1.NetBoxIPAddress)
		// second is whose provider config the second one has.
		second func(*v1alpha1.NetBoxIPAddress)
		change func(*lab)
		says   string
		// ready says that the first one is, afterwards.
		ready bool
	}{
		"Differ":     {reason: "two provider configs have two fields", second: byOther, change: func(*lab) {}, says: "another resource of this cluster", ready: true},
		"DifferBack": {reason: "the other way around", first: byOther, change: func(*lab) {}, says: "another resource of this cluster", ready: true},
		"Renamed":    {reason: "a person renamed the field", change: func(l *lab) { l.netbox.RenameCustomField(field, "claim_old") }, says: "another resource of this cluster"},
		"Removed":    {reason: "or deleted it", change: func(l *lab) { l.netbox.RemoveCustomField(field) }, says: `that of NetBoxIPAddress "web-1", as its status says`},
	} {
		for _, how := range []v1alpha1.AdoptPolicy{v1alpha1.AdoptIfUnowned, v1alpha1.AdoptExternalName} {
			for _, v := range versions() {
				t.Run(name+string(how)+v, func(t *testing.T) {
					l := twoFields(t, v)
					one, two := l.ofThis, l.ofThis
					if tc.first != nil {
						one = tc.first
					}
					if tc.second != nil {
						two = tc.second
					}
					l.apply("web-1", one)
					l.settle("web-1", ready)
					tc.change(l)
					l.now = l.now.Add(11 * time.Minute) // Nobody believes any more that the field is there.
					was := l.netbox.Addresses()[0]
					l.apply("web-2", two, takes(how, was.ID))
					l.looks()
					l.waits("web-2", tc.says)
					if got := ready(l.get("web-1")); got != tc.ready {
						t.Errorf("%s: web-1 is ready: %v", tc.reason, got)
					}
					l.delete("web-2")
					l.settle("web-2", gone)
					all := l.netbox.Addresses()
					if len(all) != 1 || !all[0].LastUpdated.Equal(was.LastUpdated) {
						t.Errorf("%s: it was written to: %+v", tc.reason, all)
					}
				})
			}
		}
	}
}

// TestAdoptOwnRenamed: a resource whose marker's field was renamed takes its own record over again by the field of the new name.
func TestAdoptOwnRenamed(t *testing.T) {
	l := twoFields(t, "4.6.8")
	l.apply("web-1", l.ofThis)
	l.settle("web-1", ready)
	l.netbox.RenameCustomField(field, "claim_old")
	l.now = l.now.Add(11 * time.Minute)
	l.settle("web-1", because(v1alpha1.ReasonConflict))
	l.edit(func(p *v1alpha1.NetBoxIPAddressParameters) { p.Adopt = v1alpha1.AdoptExternalName })
	l.settle("web-1", ready)
	l.only()
	l.remove()
	l.settle("web-1", gone)
	if all := l.netbox.Addresses(); len(all) != 0 {
		t.Errorf("it left %+v", all)
	}
}

// TestAdoptAcrossClusters: nor is another cluster's record taken, nor one out of a quarantine, that custom fields of other provider configs tell of.
func TestAdoptAcrossClusters(t *testing.T) {
	for name, tc := range map[string]struct{ value, says string }{
		"Marker":     {"decade/team-a/web-1/0b0c6a52-3f1e-4a7b-9d2c-5e8f7a6b4c3d", "another cluster"},
		"Quarantine": {"decade/team-a/web-1/0b0c6a52-3f1e-4a7b-9d2c-5e8f7a6b4c3d 2999-01-01T00:00:00Z", "is in quarantine until 2999-01-01T00:00:00Z"},
		"Path":       {"dc1/hall2/rack3/u4", ""},
	} {
		for _, how := range []v1alpha1.AdoptPolicy{v1alpha1.AdoptIfUnowned, v1alpha1.AdoptExternalName} {
			t.Run(name+string(how), func(t *testing.T) {
				l := twoFields(t, "4.6.8")
				id := l.netbox.AddAddress(netbox.Address{
					Address: netip.MustParsePrefix("10.77.0.1/29"), Status: "active", CustomFields: map[string]any{"other_claim": tc.value},
				})
				l.apply("web-1", l.ofThis, takes(how, id))
				if tc.says == "" {
					l.settle("web-1", ready)
					return
				}
				for range 3 {
					l.once("web-1")
				}
				l.waits("web-1", tc.says)
				if l.netbox.Writes() != 0 {
					t.Error("NetBox was written to")
				}
			})
		}
	}
}

// TestAdoptOutOfQuarantine: an address that a resource of another provider config let go isn't given to anybody before its time, nor to one of its name.
func TestAdoptOutOfQuarantine(t *testing.T) {
	for _, next := range []string{"web-1", "web-2"} {
		for _, v := range versions() {
			t.Run(next+v, func(t *testing.T) {
				l := twoFields(t, v)
				l.apply("web-1", l.ofThis, func(mg *v1alpha1.NetBoxIPAddress) {
					mg.Spec.ForProvider.Release = &v1alpha1.ReleasePolicy{Policy: v1alpha1.ReleaseQuarantine, After: &metav1.Duration{Duration: time.Hour}}
				})
				l.settle("web-1", ready)
				l.remove()
				l.settle("web-1", gone)
				l.apply(next, byOther, takes(v1alpha1.AdoptIfUnowned, 0))
				for range 4 {
					l.once(next)
				}
				l.waits(next, `by custom field "crossplane_released"`)
				if all := l.netbox.Addresses(); len(all) != 1 || all[0].Status != "deprecated" || all[0].CustomFields["other_claim"] != nil {
					t.Errorf("left %+v", all)
				}
			})
		}
	}
}

// TestForeignMarker: nobody writes the marker of another provider config's resource, and where a person has done so neither deletes the other's record.
func TestForeignMarker(t *testing.T) {
	const marker = clusterID + "/team-a/web-1/uid-web-1"
	l := twoFields(t, "4.6.8")
	l.apply("web-2", byOther, func(mg *v1alpha1.NetBoxIPAddress) {
		mg.Spec.ForProvider.CustomFields = fields(field, `"`+marker+`"`)
	})
	l.settle("web-2", because(v1alpha1.ReasonInvalid))
	if l.netbox.Writes() != 0 {
		t.Error("NetBox was written to")
	}
	l.apply("web-3", byOther)
	record := l.settle("web-3", ready).Status.AtProvider.ID
	l.netbox.ChangeAddressAs("alice", record, func(a *netbox.Address) { a.CustomFields[field] = marker })
	l.apply("web-1", l.ofThis)
	for range 4 {
		l.once("web-1")
	}
	for _, name := range []string{"web-1", "web-3"} {
		l.delete(name)
		if name == "web-1" {
			l.once(name)
			l.waits(name, "carries the marker of another resource of this cluster")
			if all := l.netbox.Addresses(); len(all) != 1 {
				t.Fatalf("left %+v", all)
			}
		}
	}
	l.settle("web-3", gone) // Both go.
	l.settle("web-1", gone)
}
