package bmc_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/quirk"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// deleted has a host deleted that is kept by a finalizer, as the managed reconciler keeps it.
func (l *lab) deleted() {
	l.t.Helper()
	l.edit(func(h *v1alpha1.RedfishHost) { h.Finalizers = []string{"finalizer.managedresource.crossplane.io"} })
	if err := l.kube.Delete(l.t.Context(), l.get()); err != nil {
		l.t.Fatal(err)
	}
}

// told says whether an event begins so.
func (l *lab) told(begins string) bool {
	return slices.ContainsFunc(l.events, func(e string) bool { return strings.HasPrefix(e, begins) })
}

// gone looks at a host that is deleted, every half minute, until it's gone, and says after how many looks it was.
func (l *lab) gone(most int) int {
	l.t.Helper()
	for n := range most {
		l.now = l.now.Add(30 * time.Second)
		if o, err := l.reconcile(); err == nil && !o.ResourceExists {
			return n
		}
	}
	l.t.Fatalf("it isn't gone: %v", l.get().Status.Conditions)

	return most
}

// TestLateOfADeletedHost: a boot order that had no effect yet is waited for by a host that is deleted, for some minutes, and put back where it comes; what
// may still come is told, and keeps nobody.
func TestLateOfADeletedHost(t *testing.T) {
	const minutes = 2 // Looks a minute.
	cases := map[string]struct {
		reason string
		// happens while the host is deleted.
		happens func(l *lab, r *rig)
		// least and most are for how many minutes the host stays.
		least, most int
		told        bool
	}{
		"Never": {reason: "It doesn't come: it's told that it may.", least: 3, most: 12, told: true},
		"Comes": {reason: "It comes with a job of the BMC's.", most: 12, happens: func(l *lab, r *rig) {
			l.look30(2)
			r.Change(uriSystem, func(body map[string]any) {
				body["Boot"].(map[string]any)["BootOrder"] = []any{optionPxe, optionDisk, optionHTTP, optionOther}
			})
		}},
		"Boots": {reason: "The machine boots, and nothing comes with that.", least: 9, most: 15, happens: func(l *lab, _ *rig) {
			l.look30(1)
			_ = l.m.On(bmc.BootNormal)
		}},
		"Dead": {reason: "A BMC that is away keeps no host.", most: 1, told: true, happens: func(l *lab, r *rig) {
			if err := r.SetDead(true); err != nil {
				l.t.Fatal(err)
			}
		}},
		"Old": {reason: "It was told long ago.", most: 1, told: true, happens: func(l *lab, _ *rig) {
			l.now = l.now.Add(90 * minutes * 30e9)
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := serveTree(t, bootable(t, noOverride))
			l := newLabOf(t, r.Server, r.machines["1"])
			_ = l.m.Off(false)
			l.settle()
			was := r.BootOrder("1")
			r.Inject(bmc.Fault{Method: http.MethodPatch, WithoutEffect: true})
			l.boot(v1alpha1.HostBoot{Once: onceFrom(v1alpha1.BootTargetPxe, 1)}, v1alpha1.Unmanaged)
			for range 60 {
				if condition(l.look30(1), v1alpha1.ConditionBootApplied) == [2]string{"False", "GaveUp"} {
					break
				}
			}
			r.Heal()
			l.deleted()
			if tc.happens != nil {
				tc.happens(l, r)
			}
			if n := l.gone(40); n < tc.least*minutes || n > tc.most*minutes {
				t.Errorf("\n%s\ngone after %d looks", tc.reason, n)
			}
			if name != "Dead" && !cmp.Equal(was, r.BootOrder("1")) {
				t.Errorf("\n%s\norder %v, was %v", tc.reason, r.BootOrder("1"), was)
			}
			if got := l.told("Warning LeftOnMachine"); got != tc.told {
				t.Errorf("\n%s\ntold %t: %q", tc.reason, got, l.events)
			}
		})
	}
	survived(t, "a boot order that had no effect may come after its host is deleted")
}

// TestJournalOfNewerVersion: a version that doesn't know what is to be put back on a machine looks at it as ever, writes nothing to it, says so, and keeps the
// journal, in whatever shape that is; with the host it goes, and that is told.
func TestJournalOfNewerVersion(t *testing.T) {
	for name, newer := range map[string]string{
		"Fields": `{"needs":99,"bootOnce":0,"reset":0,"act":{"action":"Unheard","state":"begun","time":"2026-01-01T00:00:00Z","task":"/redfish/v1/Tasks/1"},"boot":{"unheard":{"of":1}}}`,
		"Shape":  `{"needs":99,"bootOnce":"none","boot":[1]}`,
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, bmc.ModelInline)
			l.settle()
			l.edit(func(h *v1alpha1.RedfishHost) {
				h.Annotations[v1alpha1.AnnotationJournal] = newer
				h.Spec.ForProvider.Power, h.Spec.ForProvider.ResetGeneration, h.Spec.ForProvider.Boot = v1alpha1.PoweredOn, 7, once(3)
			})
			writes := len(l.emu.FullWrites())
			l.start() // As after going back to this version.
			h := l.look30(4)
			for c, want := range map[string][2]string{"Reachable": {"True", "Available"}, "Ready": {"True", "Available"}, "PowerApplied": {"False", "Outdated"}, "BootApplied": {"False", "Outdated"}} {
				for _, is := range h.Status.Conditions {
					if string(is.Type) == c && (string(is.Status) != want[0] || string(is.Reason) != want[1]) {
						t.Errorf("%s: %+v, want %v", c, is, want)
					}
				}
			}
			if condition(h, v1alpha1.ConditionBootApplied)[1] != "Outdated" || condition(h, v1alpha1.ConditionPowerApplied)[1] != "Outdated" {
				t.Errorf("it isn't said: %v", h.Status.Conditions)
			}
			_ = l.m.On(bmc.BootNormal)
			h = l.look30(1)
			if h.Status.AtProvider.Power != v1alpha1.PoweredOn || h.Status.AtProvider.Inventory == nil || condition(h, v1alpha1.ConditionPowerApplied) != [2]string{"True", "Applied"} {
				t.Errorf("it isn't looked at any more: power %q, inventory %v, %v", h.Status.AtProvider.Power, h.Status.AtProvider.Inventory, h.Status.Conditions)
			}
			before := l.changes
			l.look30(4)
			if l.changes != before || l.connector.Pending(l.get()) {
				t.Errorf("%d changes of a host to which nothing happens, soon again: %t", l.changes-before, l.connector.Pending(l.get()))
			}
			l.edit(func(h *v1alpha1.RedfishHost) {
				h.Finalizers = []string{"finalizer.managedresource.crossplane.io"}
				h.Spec.ClaimRef = &v1alpha1.ClaimReference{Namespace: "team-a", Name: "web-1", UID: "claim"}
			})
			if err := l.kube.Delete(t.Context(), l.get()); err != nil {
				t.Fatal(err)
			}
			if o, err := l.reconcile(); err == nil || !o.ResourceExists {
				t.Errorf("a claim has it: %v, %v", o, err)
			}
			if got := l.get().GetAnnotations()[v1alpha1.AnnotationJournal]; got != newer || len(l.emu.FullWrites()) != writes {
				t.Errorf("journal %s; written %v", got, l.emu.FullWrites()[writes:])
			}
			l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ClaimRef = nil })
			if o, err := l.reconcile(); err != nil || o.ResourceExists || !l.told("Warning Outdated") {
				t.Errorf("it can't be deleted, or that isn't told: %v, %v; %q", o, err, l.events)
			}
			if len(l.emu.FullWrites()) != writes {
				t.Errorf("written %v", l.emu.FullWrites()[writes:])
			}
		})
	}
	survived(t, "a version that can't read the journal of a newer one")
}

// TestOEMManagerIsAway: a manager that a BMC doesn't list for a while is no other row of quirks: what was begun is neither written nor planned anew for that.
func TestOEMManagerIsAway(t *testing.T) {
	o := owns()["iDRAC"]
	tree, row := withOwn(t, o, noBootOrder)
	r := serveTree(t, tree, row)
	cfg := settings(r.Server)
	cfg.Quirks = quirk.Table()
	c := connect(t, cfg)
	_, err := c.SetBoot(t.Context(), system(t, c), redfish.BootSource{Target: "Pxe"})
	e := new(redfish.Error)
	if !cmpAs(err, &e) || e.OEM == nil {
		t.Fatalf("SetBoot(...): %v", err)
	}
	plan := *e.OEM
	var managers, managedBy any
	r.Change("/redfish/v1/Managers", func(body map[string]any) { managers, body["Members"] = body["Members"], []any{} })
	r.Change(uriSystem, func(body map[string]any) {
		links := body["Links"].(map[string]any)
		managedBy = links["ManagedBy"]
		delete(links, "ManagedBy")
	})
	writes := len(r.FullWrites())
	away := connect(t, cfg)
	_, err = away.SetOEM(t.Context(), system(t, away), "Pxe", plan)
	for act, err := range map[string]error{"SetOEM": err, "ClearOEM": away.ClearOEM(t.Context(), system(t, away), "Pxe", plan)} {
		if e := new(redfish.Error); !cmpAs(err, &e) || e.Kind != redfish.Unsupported || e.Field != redfish.Unlisted {
			t.Errorf("%s(...): %v (%s), want that its manager isn't listed", act, err, e.Field)
		}
	}
	if len(r.FullWrites()) != writes {
		t.Errorf("written %v", r.FullWrites()[writes:])
	}
	r.Change("/redfish/v1/Managers", func(body map[string]any) { body["Members"] = managers })
	r.Change(uriSystem, func(body map[string]any) { body["Links"].(map[string]any)["ManagedBy"] = managedBy })
	back := connect(t, cfg)
	if _, err := back.SetOEM(t.Context(), system(t, back), "Pxe", plan); err != nil || r.OEMBoot("1") != o.pxe {
		t.Errorf("once it's listed again: %v; it says %q", err, r.OEMBoot("1"))
	}
}

// TestTrustOnFirstUseOfAHostMadeAnew: the certificate that was trusted first is trusted for as long as a host names its BMC, and no longer.
func TestTrustOnFirstUseOfAHostMadeAnew(t *testing.T) {
	for name, other := range map[string]bool{"Alone": false, "Shared": true} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, bmc.ModelInline)
			l.verify, l.pins = v1alpha1.TLSVerifyTrustOnFirstUse, nil
			l.settle()
			if other {
				if err := l.kube.Create(t.Context(), newHost("another", l.emu.Addr())); err != nil {
					t.Fatal(err)
				}
			}
			l.deleted()
			if o, err := l.reconcile(); err != nil || o.ResourceExists {
				t.Fatalf("it isn't gone: %v, %v", o, err)
			}
			l.edit(func(h *v1alpha1.RedfishHost) { h.Finalizers = nil })
			if err := l.emu.Renew(); err != nil {
				t.Fatal(err)
			}
			anew := newHost(hostKey.Name, l.emu.Addr())
			anew.UID = "anew"
			if err := l.kube.Create(t.Context(), anew); err != nil {
				t.Fatal(err)
			}
			if other {
				h := &v1alpha1.RedfishHost{}
				h.Name, h.Namespace = "another", hostKey.Namespace
				if err := l.kube.Delete(t.Context(), h); err != nil {
					t.Fatal(err)
				}
			}
			h := l.settle()
			trusted := h.Spec.ForProvider.TLS != nil && cmp.Equal(h.Spec.ForProvider.TLS.PinnedSHA256, []string{l.emu.CertificateSHA256()})
			if trusted == other || other != (condition(h, v1alpha1.ConditionReachable) == [2]string{"False", "UntrustedCertificate"}) || (meta.GetExternalName(h) == "") != other {
				t.Errorf("trusted %t: %v", trusted, h.Status.Conditions)
			}
		})
	}
}
