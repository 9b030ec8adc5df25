package netbox_test

import (
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	netboxclient "github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// TestRecordDeletedByHand: the machine keeps its address. Nothing is made in its place until a person says so, and then the same.
func TestRecordDeletedByHand(t *testing.T) {
	l := newLab(t, "4.6.8")
	l.apply("web-1")
	l.settle("web-1", ready)
	first := l.only()
	l.netbox.RemoveAddress(first.ID)
	other := l.netbox.AddAddress(netbox.Address{Address: netip.MustParsePrefix("10.77.0.2/29")})
	l.once("web-1")
	mg := l.settle("web-1", because(v1alpha1.ReasonLost))
	if l.posts() != 1 || mg.Status.AtProvider.Address != "10.77.0.1/29" {
		t.Fatalf("%d POSTs, status %+v", l.posts(), mg.Status.AtProvider)
	}
	l.edit(func(p *v1alpha1.NetBoxIPAddressParameters) { p.WhenLost = v1alpha1.LostRestore })
	thief := l.netbox.AddAddress(netbox.Address{Address: first.Address})
	l.once("web-1")
	if m := l.settle("web-1", because(v1alpha1.ReasonLost)).GetCondition(xpv2.TypeReady).Message; !strings.Contains(m, "record "+strconv.FormatInt(thief, 10)) {
		t.Errorf("who has it now? %s", m)
	}
	l.netbox.RemoveAddress(thief)
	l.once("web-1")
	l.settle("web-1", ready)
	again := l.netbox.WithMarker(field, clusterID+"/team-a/web-1/uid-web-1")
	if len(again) != 1 || again[0].Address != first.Address || again[0].ID == first.ID || len(l.netbox.Addresses()) != 2 {
		t.Errorf("got %+v, want %s again beside record %d", again, first.Address, other)
	}
	t.Log(faultRow("a record is deleted by hand, and its address is another's meanwhile", 1, 1))
}

// TestQuarantine: a released address is deprecated, and nobody's, until its time is over; a crash on the way, and answers that are lost,
// change nothing about that.
func TestQuarantine(t *testing.T) {
	for name, spoil := range map[string]func(*lab){
		"Plain": func(*lab) {},
		"EOFAfter": func(l *lab) {
			l.netbox.Inject(netbox.Fault{Kind: netbox.FaultEOFAfter, Method: http.MethodPatch, Times: 1})
		},
		"ErrorAfter": func(l *lab) {
			l.netbox.Inject(netbox.Fault{Kind: netbox.FaultErrorAfter, Method: http.MethodPatch, Times: 1})
		},
		"Down": func(l *lab) { l.netbox.Inject(netbox.Fault{Kind: netbox.FaultServerErrorJSON, Times: 5}) },
	} {
		for _, v := range versions() {
			t.Run(name+"/"+v, func(t *testing.T) {
				l := newLab(t, v)
				l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) {
					mg.Spec.ForProvider.DNSName = new("web-1.example")
					mg.Spec.ForProvider.Release = &v1alpha1.ReleasePolicy{Policy: v1alpha1.ReleaseQuarantine}
				})
				l.settle("web-1", ready)
				spoil(l)
				l.remove()
				l.settle("web-1", gone)
				a := l.netbox.Addresses()
				if len(a) != 1 || a[0].Status != "deprecated" || a[0].DNSName != "" || a[0].CustomFields[field] != nil {
					t.Fatalf("left %+v", a)
				}
				if len(l.told) != 1 || !strings.HasPrefix(l.told[0], "Quarantined: record ") {
					t.Errorf("told %q", l.told)
				}
				note, _ := a[0].CustomFields["crossplane_released"].(string)
				if !strings.HasPrefix(note, clusterID+"/team-a/web-1/uid-web-1 ") {
					t.Errorf("note %q", note)
				}
				l.apply("web-2")
				if mg := l.settle("web-2", ready); mg.Status.AtProvider.Address == a[0].Address.String() {
					t.Errorf("reused at once: %s", mg.Status.AtProvider.Address)
				}
			})
		}
	}
}

// TestReleasedIsTold: once, also where NetBox deleted the record and its answer is lost.
func TestReleasedIsTold(t *testing.T) {
	for _, k := range []netbox.FaultKind{"", netbox.FaultEOFAfter, netbox.FaultErrorAfter, netbox.FaultHangAfter, netbox.FaultDisconnect} {
		t.Run("after "+string(k), func(t *testing.T) {
			l := newLab(t, "4.6.8")
			l.apply("web-1")
			l.settle("web-1", ready)
			l.meets(k, hasty)
			if k != "" {
				l.netbox.Inject(netbox.Fault{Kind: k, Method: http.MethodDelete, Times: 1})
			}
			l.remove()
			l.settle("web-1", gone)
			if len(l.told) != 1 || !strings.HasPrefix(l.told[0], "Released: address 10.77.0.1/29, record ") || len(l.netbox.Addresses()) != 0 {
				t.Errorf("told %q, left %+v", l.told, l.netbox.Addresses())
			}
		})
	}
}

// TestAdoptByName: a person's record becomes a resource's where that is asked for, and keeps what the person wrote.
func TestAdoptByName(t *testing.T) {
	for _, v := range versions() {
		t.Run(v, func(t *testing.T) {
			l := newLab(t, v)
			id := l.netbox.AddAddress(netbox.Address{Address: netip.MustParsePrefix("10.77.0.5/29"), Description: "Bob's", Status: "reserved"})
			l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) {
				meta.SetExternalName(mg, strconv.FormatInt(id, 10))
				mg.Spec.ForProvider.Adopt = v1alpha1.AdoptExternalName
			})
			mg := l.settle("web-1", ready)
			a := l.only()
			if a.ID != id || a.Description != "Bob's" || a.Status != "active" || mg.Status.AtProvider.Address != "10.77.0.5/29" || l.posts() != 0 {
				t.Errorf("record %+v, status %+v, %d POSTs", a, mg.Status.AtProvider, l.posts())
			}
		})
	}
}

// TestReleasedRecords is a quarantine from its beginning to its end, on each version, beside records that are none of its business.
func TestReleasedRecords(t *testing.T) {
	for _, v := range versions() {
		t.Run(v, func(t *testing.T) {
			l := newLab(t, v)
			c, err := netboxclient.New(netboxclient.Config{
				URL: l.netbox.URL(), Token: secret, MarkerField: field, ReleaseField: "crossplane_released", MarkersBegin: clusterID + "/", Timeout: patient,
			})
			if err != nil {
				t.Fatal(err)
			}
			if all, err := c.Released(t.Context()); err != nil || len(all) != 0 {
				t.Errorf("without the field nothing is released: %v, %v", all, err)
			}
			l.netbox.AddMarkerField(field)
			if err := c.EnsureReleaseField(t.Context()); err != nil {
				t.Fatal(err)
			}
			const note = clusterID + "/team-a/web-1/u1 2026-09-01T10:00:00Z"
			add := func(status, marker, note string) int64 {
				return l.netbox.AddAddress(netbox.Address{
					Address: netip.PrefixFrom(netip.MustParseAddr("10.77.0.1"), 29), Status: status, CustomFields: map[string]any{field: marker, "crossplane_released": note},
				})
			}
			over, used := add("deprecated", "", note), add("active", "", note)
			ours := add("active", clusterID+"/team-a/web-2/u2", "")
			theirs := add("deprecated", "", "decaf/team-a/web-1/u1 2026-09-01T10:00:00Z")
			all, err := c.Released(t.Context())
			if err != nil || len(all) != 2 || all[0].ID != over || all[1].ID != used {
				t.Fatalf("released: %+v, %v", all, err)
			}
			if err := c.Expire(t.Context(), used, note); !netboxclient.IsConflict(err) {
				t.Errorf("what is in use isn't deleted: %v", err)
			}
			if err := c.Expire(t.Context(), ours, note); !netboxclient.IsConflict(err) {
				t.Errorf("nor what carries no such note: %v", err)
			}
			for range 2 {
				if err := c.Expire(t.Context(), over, note); err != nil {
					t.Errorf("what is over is, and its deletion may be repeated: %v", err)
				}
			}
			left := map[int64]bool{}
			for _, a := range l.netbox.Addresses() {
				left[a.ID] = true
			}
			if left[over] || !left[used] || !left[ours] || !left[theirs] {
				t.Errorf("left %v", left)
			}
		})
	}
}

// TestTwoClusters: each has its own record, and neither takes the other's, whatever its annotation or its adopt says.
func TestTwoClusters(t *testing.T) {
	l := newLab(t, "4.6.8")
	l.netbox.AddMarkerField(field)
	theirs := l.netbox.AddAddress(netbox.Address{
		Address: netip.MustParsePrefix("10.77.0.5/29"), CustomFields: map[string]any{field: "decaf/team-a/web-1/uid-web-1"},
	})
	before := l.netbox.Writes()
	for name, change := range map[string]func(*v1alpha1.NetBoxIPAddress){
		"by-name": func(mg *v1alpha1.NetBoxIPAddress) {
			meta.SetExternalName(mg, strconv.FormatInt(theirs, 10))
			mg.Spec.ForProvider.Adopt = v1alpha1.AdoptExternalName
		},
		"by-address": func(mg *v1alpha1.NetBoxIPAddress) {
			mg.Spec.ForProvider.From, mg.Spec.ForProvider.Address, mg.Spec.ForProvider.Adopt = nil, "10.77.0.5/29", v1alpha1.AdoptIfUnowned
		},
	} {
		l.apply(name, change)
		mg := l.settle(name, because(v1alpha1.ReasonConflict))
		if m := mg.GetCondition(xpv2.TypeReady).Message; m == "" || strings.Contains(m, "decaf") {
			t.Errorf("%s: %q", name, m)
		}
	}
	if l.netbox.Writes() != before {
		t.Errorf("something was written: %+v", l.netbox.Requests())
	}
	l.apply("web-1")
	mg := l.settle("web-1", ready)
	if mg.Status.AtProvider.Address == "10.77.0.5/29" || len(l.netbox.Markers(field)) != 2 {
		t.Errorf("status %+v, markers %v", mg.Status.AtProvider, l.netbox.Markers(field))
	}
	t.Log(faultRow("two clusters have a claim of the same name in one NetBox", 1, 1))
}
