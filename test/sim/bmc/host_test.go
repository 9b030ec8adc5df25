package bmc_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/gate"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/redfishhost"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// lab is a RedfishHost controller without a manager: a fake API server, an
// emulated BMC, and what the managed reconciler does, in miniature.
type lab struct {
	t    *testing.T
	emu  *bmc.Server
	m    *bmc.Idle
	kube client.Client
	now  time.Time

	password  string
	version   string
	verify    v1alpha1.TLSVerify
	pins      []string
	failpoint func(string)
	connector *redfishhost.Connector
}

var hostKey = types.NamespacedName{Namespace: "infra", Name: "r7-u12"} //nolint:gochecknoglobals // A constant.

func newHost(name, address string) *v1alpha1.RedfishHost {
	h := &v1alpha1.RedfishHost{ObjectMeta: metav1.ObjectMeta{
		Namespace: hostKey.Namespace, Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(time.Unix(1, 0)),
	}}
	h.Spec.ForProvider.Address = address
	h.Spec.ForProvider.Power = v1alpha1.Unmanaged

	return h
}

func newLab(t *testing.T, model bmc.Model) *lab {
	t.Helper()
	emu, m := emulator(t, model, nil)
	s := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	l := &lab{
		t: t, emu: emu, m: m, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		kube:     fake.NewClientBuilder().WithScheme(s).WithObjects(newHost(hostKey.Name, emu.Addr())).WithStatusSubresource(&v1alpha1.RedfishHost{}).Build(),
		password: bmc.DefaultPassword, version: "1", verify: v1alpha1.TLSVerifyPinned, pins: []string{emu.CertificateSHA256()},
	}
	l.start()

	return l
}

// start makes a new connector, as a restarted provider does.
func (l *lab) start() {
	g := gate.New(redfish.Connect)
	l.t.Cleanup(func() { g.Close(context.WithoutCancel(l.t.Context())) })
	rate := int64(1000)
	l.connector = redfishhost.NewConnector(redfishhost.Options{
		Kube: l.kube, Gates: redfishhost.Gates{Gates: g}, AllowLoopback: true, Now: func() time.Time { return l.now },
		Failpoint: func(name string) {
			if l.failpoint != nil {
				l.failpoint(name)
			}
		},
		Resolve: func(context.Context, *v1alpha1.RedfishHost) (config.Redfish, error) {
			return config.Redfish{
				Username: bmc.DefaultUsername, Password: l.password, SecretVersion: l.version,
				Config: v1alpha1.RedfishConfig{
					AllowedAddresses: []string{"127.0.0.0/8"}, RequestsPerSecond: &rate,
					TLS: &v1alpha1.TLS{Verify: l.verify, PinnedSHA256: l.pins},
				},
			}, nil
		},
	})
}

func (l *lab) get() *v1alpha1.RedfishHost {
	l.t.Helper()
	h := &v1alpha1.RedfishHost{}
	if err := l.kube.Get(l.t.Context(), hostKey, h); err != nil {
		l.t.Fatal(err)
	}

	return h
}

// edit changes the spec, as people and the HostClaim controller do.
func (l *lab) edit(change func(*v1alpha1.RedfishHost)) {
	l.t.Helper()
	h := l.get()
	change(h)
	if err := l.kube.Update(l.t.Context(), h); err != nil {
		l.t.Fatal(err)
	}
}

// reconcile does one round: observe, then late-initialise, update or delete.
func (l *lab) reconcile() (managed.ExternalObservation, error) {
	l.t.Helper()
	h := l.get()
	e, err := l.connector.Connect(l.t.Context(), h)
	if err != nil {
		return managed.ExternalObservation{}, err
	}
	o, err := e.Observe(l.t.Context(), h)
	if err != nil {
		return o, err
	}
	switch {
	case o.ResourceLateInitialized:
		if err := l.kube.Update(l.t.Context(), h); err != nil {
			l.t.Fatal(err)
		}

		return o, nil
	case meta.WasDeleted(h) && o.ResourceExists:
		_, err = e.Delete(l.t.Context(), h)
	case !meta.WasDeleted(h) && !o.ResourceUpToDate:
		_, err = e.Update(l.t.Context(), h)
	}
	if statusErr := l.kube.Status().Update(l.t.Context(), h); statusErr != nil {
		l.t.Fatal(statusErr)
	}

	return o, err
}

// settle reconciles until nothing is left to do.
func (l *lab) settle() *v1alpha1.RedfishHost {
	l.t.Helper()
	for range 20 {
		o, err := l.reconcile()
		if err != nil {
			l.t.Fatalf("reconcile: %v", err)
		}
		if !o.ResourceExists || (o.ResourceUpToDate && !o.ResourceLateInitialized) {
			return l.get()
		}
	}
	l.t.Fatal("the host doesn't settle")

	return nil
}

func (l *lab) resets() map[string]int { return l.emu.Counters().Resets }

func condition(h *v1alpha1.RedfishHost, t xpv2.ConditionType) [2]string {
	c := h.Status.GetCondition(t)

	return [2]string{string(c.Status), string(c.Reason)}
}

func once(generation int64) *v1alpha1.HostBoot {
	return &v1alpha1.HostBoot{Once: &v1alpha1.BootOnce{Target: v1alpha1.BootTargetPxe, Generation: generation}}
}

func TestRegisteringChangesNothing(t *testing.T) {
	for name, model := range models() {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, model)
			_ = l.m.On(bmc.BootNormal)
			l.edit(func(h *v1alpha1.RedfishHost) {
				h.Spec.ForProvider.ResetGeneration = 7
				h.Spec.ForProvider.Boot = once(3)
				h.Spec.ForProvider.MACs = []string{"52-54-00-00-00-09", "52:54:00:00:00:01"}
			})
			h := l.settle()
			if c := l.emu.Counters(); c.Writes != 0 {
				t.Errorf("registering a host wrote %d times to its BMC", c.Writes)
			}
			if got := meta.GetExternalName(h); got != serial {
				t.Errorf("external name: got %q, want %q", got, serial)
			}
			if h.Status.Phase != v1alpha1.HostAvailable || condition(h, xpv2.TypeReady)[0] != "True" || condition(h, v1alpha1.ConditionReachable)[0] != "True" {
				t.Errorf("phase %q, conditions %v", h.Status.Phase, h.Status.Conditions)
			}
			macs := []string{}
			for _, m := range h.Status.AtProvider.MACs {
				macs = append(macs, m.Address)
			}
			if diff := cmp.Diff([]string{"52:54:00:00:00:01", "52:54:00:00:00:02", "52:54:00:00:00:09"}, macs); diff != "" {
				t.Errorf("MACs: -want, +got:\n%s", diff)
			}
			if b := h.Status.AtProvider.Boot; b.OnceGeneration != 3 || b.ResetGeneration != 7 {
				t.Errorf("what was asked for at registration counts as done: got %v", b)
			}
			if _, has := cleanedOf(h); has {
				t.Error("a host that was never claimed has a condition Cleaned")
			}
		})
	}
}

func cleanedOf(h *v1alpha1.RedfishHost) (xpv2.Condition, bool) {
	c := h.Status.GetCondition(v1alpha1.ConditionCleaned)

	return c, c.Reason != ""
}

func TestStatusIsNotRewritten(t *testing.T) {
	l := newLab(t, bmc.ModelInline)
	before := l.settle().Status
	l.now = l.now.Add(time.Hour) // The inventory is read again, too.
	if diff := cmp.Diff(before, l.settle().Status); diff != "" {
		t.Errorf("a look at an unchanged machine changed the status: -before, +after:\n%s", diff)
	}
	b, err := json.Marshal(l.get().Status)
	if err != nil || len(b) > 32<<10 {
		t.Errorf("status has %d bytes (%v), want at most 32 KiB", len(b), err)
	}
}

func TestBootAndRelease(t *testing.T) {
	for name, model := range models() {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, model)
			l.settle()
			l.edit(func(h *v1alpha1.RedfishHost) {
				h.Spec.ClaimRef = &v1alpha1.ClaimReference{Namespace: "team-a", Name: "web-1", UID: "claim"}
				h.Spec.ForProvider.Boot = once(1)
				h.Spec.ForProvider.Power = v1alpha1.PoweredOn
			})
			h := l.settle()
			if diff := cmp.Diff([]bmc.BootTarget{bmc.BootPxe}, l.m.Boots()); diff != "" {
				t.Errorf("boots: -want, +got:\n%s", diff)
			}
			if h.Status.Phase != v1alpha1.HostReserved || h.Status.AtProvider.Power != v1alpha1.PoweredOn || h.Status.AtProvider.PoweredOnAt == nil || h.Status.AtProvider.Boot.OnceGeneration != 1 {
				t.Errorf("after boot: phase %q, atProvider %+v", h.Status.Phase, h.Status.AtProvider)
			}
			l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.Power = v1alpha1.PoweredOff })
			h = l.settle()
			if l.m.Powered() || h.Status.AtProvider.Power != v1alpha1.PoweredOff {
				t.Errorf("after power off: powered %v, status %q", l.m.Powered(), h.Status.AtProvider.Power)
			}
			l.edit(func(h *v1alpha1.RedfishHost) {
				h.Spec.ClaimRef, h.Spec.ForProvider.Boot, h.Spec.ForProvider.Power = nil, nil, v1alpha1.Unmanaged
			})
			h = l.settle()
			if h.Status.Phase != v1alpha1.HostAvailable || condition(h, v1alpha1.ConditionCleaned) != [2]string{"False", "NoCleaning"} {
				t.Errorf("after release: phase %q, Cleaned %v", h.Status.Phase, condition(h, v1alpha1.ConditionCleaned))
			}
			if diff := cmp.Diff(map[string]int{"On": 1, "GracefulShutdown": 1}, l.resets()); diff != "" {
				t.Errorf("resets: -want, +got:\n%s", diff)
			}
		})
	}
}

func TestResetGeneration(t *testing.T) {
	l := newLab(t, bmc.ModelInline)
	_ = l.m.On(bmc.BootNormal)
	l.settle()
	l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.ResetGeneration = 1 })
	for range 3 {
		l.settle()
		l.start()
	}
	if diff := cmp.Diff(map[string]int{"ForceOff": 1, "On": 1}, l.resets()); diff != "" {
		t.Errorf("one raised generation is one reset: -want, +got:\n%s", diff)
	}
}

func TestGraceThenForce(t *testing.T) {
	l := newLab(t, bmc.ModelInline)
	_ = l.m.On(bmc.BootNormal)
	l.settle()
	l.emu.IgnoreGraceful(true)
	l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.Power = v1alpha1.PoweredOff })
	h := l.settle()
	if !redfishhost.PollSoon(h) || !l.m.Powered() {
		t.Errorf("while the OS has its grace: PollSoon %v, powered %v", redfishhost.PollSoon(h), l.m.Powered())
	}
	l.now = l.now.Add(4 * time.Minute)
	l.settle()
	l.now = l.now.Add(time.Minute)
	h = l.settle()
	if diff := cmp.Diff(map[string]int{"GracefulShutdown": 1, "ForceOff": 1}, l.resets()); diff != "" || redfishhost.PollSoon(h) {
		t.Errorf("PollSoon %v; resets: -want, +got:\n%s", redfishhost.PollSoon(h), diff)
	}
}

func TestPowerStateLags(t *testing.T) {
	l := newLab(t, bmc.ModelInline)
	l.settle()
	l.emu.SetPowerLag(time.Hour)
	l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.Power = v1alpha1.PoweredOn })
	for range 5 {
		l.settle()
	}
	if diff := cmp.Diff(map[string]int{"On": 1}, l.resets()); diff != "" {
		t.Errorf("a state that lags isn't a reason to act again: -want, +got:\n%s", diff)
	}
}

// crash is what a failpoint does to the provider.
type crash struct{ at string }

// TestCrash kills the provider at each point around each call, and starts it
// again: nothing is done twice, nothing is forgotten.
func TestCrash(t *testing.T) {
	acts := map[string]struct {
		on     bool
		change func(*v1alpha1.RedfishHost)
		resets map[string]int
		boots  int
		patch  int
	}{
		"Boot": {change: func(h *v1alpha1.RedfishHost) {
			h.Spec.ForProvider.Boot, h.Spec.ForProvider.Power = once(1), v1alpha1.PoweredOn
		}, resets: map[string]int{"On": 1}, boots: 1, patch: 1},
		"Reset": {on: true, change: func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.ResetGeneration = 1 }, resets: map[string]int{"ForceOff": 1, "On": 1}, boots: 2},
		"Off":   {on: true, change: func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.Power = v1alpha1.PoweredOff }, resets: map[string]int{"GracefulShutdown": 1}, boots: 1},
	}
	for name, tc := range acts {
		for _, point := range []string{redfishhost.FailpointBeforeCall, redfishhost.FailpointAfterCall} {
			for nth := 1; nth <= 2; nth++ {
				for modelName, model := range models() {
					t.Run(strings.Join([]string{name, point, string(rune('0' + nth)), modelName}, "/"), func(t *testing.T) {
						l := newLab(t, model)
						if tc.on {
							_ = l.m.On(bmc.BootNormal)
						}
						l.settle()
						l.edit(tc.change)
						seen := 0
						l.failpoint = func(at string) {
							if at == point {
								if seen++; seen == nth {
									panic(crash{at})
								}
							}
						}
						l.untilCrash()
						l.failpoint = nil
						l.start()
						l.settle()
						l.now = l.now.Add(10 * time.Minute)
						l.settle()
						got := l.resets()
						if name == "Off" {
							// Asking twice for a shutdown does no harm; not asking does.
							got["GracefulShutdown"] = min(got["GracefulShutdown"]+got["ForceOff"], 1)
							delete(got, "ForceOff")
						}
						if diff := cmp.Diff(tc.resets, got); diff != "" {
							t.Errorf("resets: -want, +got:\n%s", diff)
						}
						if len(l.m.Boots()) != tc.boots || l.emu.Counters().Patches != tc.patch {
							t.Errorf("boots %v, %d PATCHes; want %d, %d", l.m.Boots(), l.emu.Counters().Patches, tc.boots, tc.patch)
						}
					})
				}
			}
		}
	}
}

// untilCrash reconciles until the failpoint strikes, or nothing is left to do.
func (l *lab) untilCrash() {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(crash); !ok {
				panic(r)
			}
		}
	}()
	l.settle()
}

func TestAnswerIsLost(t *testing.T) {
	for name, f := range map[string]bmc.Fault{
		"Disconnect": {Method: http.MethodPost, PathContains: "Reset", Times: 1, AfterEffect: true, Disconnect: true},
		"Error500":   {Method: http.MethodPost, PathContains: "Reset", Times: 1, AfterEffect: true, Status: http.StatusInternalServerError},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, bmc.ModelInline)
			_ = l.m.On(bmc.BootNormal)
			l.settle()
			l.emu.Inject(f)
			l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.ResetGeneration = 1 })
			if _, err := l.reconcile(); err == nil {
				t.Error("a lost answer: want an error")
			}
			l.settle()
			l.now = l.now.Add(10 * time.Minute)
			l.settle()
			if diff := cmp.Diff(map[string]int{"ForceOff": 1, "On": 1}, l.resets()); diff != "" {
				t.Errorf("resets: -want, +got:\n%s", diff)
			}
		})
	}
}

func TestWrongPassword(t *testing.T) {
	l := newLab(t, bmc.ModelInline)
	l.password = "wrong"
	for range 10 {
		l.settle()
	}
	h := l.get()
	if c := l.emu.Counters(); c.FailedLogins != 1 {
		t.Errorf("%d failed logins, want exactly 1", c.FailedLogins)
	}
	if condition(h, v1alpha1.ConditionReachable) != [2]string{"False", "Unauthorized"} || h.Status.Phase != v1alpha1.HostError || condition(h, xpv2.TypeReady)[0] != "False" {
		t.Errorf("phase %q, conditions %v", h.Status.Phase, h.Status.Conditions)
	}
	if b, _ := json.Marshal(h); strings.Contains(string(b), "wrong") {
		t.Error("the password is on the host")
	}
	l.password, l.version = bmc.DefaultPassword, "2"
	if h = l.settle(); h.Status.Phase != v1alpha1.HostAvailable {
		t.Errorf("healed without a restart: phase %q, want Available", h.Status.Phase)
	}
}

func TestUnreachable(t *testing.T) {
	l := newLab(t, bmc.ModelInline)
	l.settle()
	if err := l.emu.SetDead(true); err != nil {
		t.Fatal(err)
	}
	h := l.settle()
	if condition(h, v1alpha1.ConditionReachable) != [2]string{"False", "Unreachable"} || condition(h, xpv2.TypeReady)[0] != "True" || h.Status.Phase != v1alpha1.HostAvailable {
		t.Errorf("phase %q, conditions %v: BMC trouble is Reachable, never Ready", h.Status.Phase, h.Status.Conditions)
	}
	if len(h.Status.AtProvider.MACs) != 2 {
		t.Error("what is known of the machine is gone")
	}
	if diff := cmp.Diff(h.Status, l.settle().Status); diff != "" {
		t.Errorf("the status of a host whose BMC stays away changes: -before, +after:\n%s", diff)
	}
}

func TestIdentityChanged(t *testing.T) {
	l := newLab(t, bmc.ModelInline)
	l.settle()
	other, m := emulator(t, bmc.ModelInline, func(c *bmc.Config) { c.Systems[0].Serial = "OTHER"; c.Systems[0].UUID = "" })
	l.pins = append(l.pins, other.CertificateSHA256())
	l.edit(func(h *v1alpha1.RedfishHost) {
		h.Spec.ForProvider.Address, h.Spec.ForProvider.Power = other.Addr(), v1alpha1.PoweredOn
		h.Spec.ForProvider.ResetGeneration = 1
	})
	h := l.settle()
	if condition(h, xpv2.TypeReady) != [2]string{"False", "IdentityChanged"} || h.Status.Phase != v1alpha1.HostError {
		t.Errorf("phase %q, conditions %v", h.Status.Phase, h.Status.Conditions)
	}
	if other.Counters().Writes != 0 || m.Powered() {
		t.Error("another machine was written to")
	}
}

func TestDuplicate(t *testing.T) {
	l := newLab(t, bmc.ModelInline)
	l.settle()
	requests := l.emu.Counters().Requests
	first := l.get()
	second := newHost("copy", l.emu.URL())
	second.CreationTimestamp = metav1.NewTime(time.Unix(2, 0))
	second.Spec.ForProvider.Power = v1alpha1.PoweredOn
	if err := l.kube.Create(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	e, err := l.connector.Connect(t.Context(), second)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Observe(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	c := second.Status.GetCondition(xpv2.TypeReady)
	if c.Reason != v1alpha1.ReasonDuplicate || !strings.Contains(c.Message, first.GetName()) {
		t.Errorf("Ready: got %v, want Duplicate naming %q", c, first.GetName())
	}
	if _, err := e.Update(t.Context(), second); err == nil {
		t.Error("Update of a duplicate: want an error")
	}
	if l.emu.Counters().Requests != requests {
		t.Error("the BMC was asked on behalf of a duplicate")
	}
	if h := l.settle(); h.Status.Phase != v1alpha1.HostAvailable {
		t.Errorf("the first host is bothered by its copy: phase %q", h.Status.Phase)
	}
}

func TestTrustOnFirstUseIsStored(t *testing.T) {
	l := newLab(t, bmc.ModelInline)
	l.verify, l.pins = v1alpha1.TLSVerifyTrustOnFirstUse, nil
	h := l.settle()
	if tls := h.Spec.ForProvider.TLS; tls == nil || !cmp.Equal([]string{l.emu.CertificateSHA256()}, tls.PinnedSHA256) {
		t.Fatalf("stored pin: got %v", tls)
	}
	if err := l.emu.Renew(); err != nil {
		t.Fatal(err)
	}
	l.start()
	h = l.settle()
	if condition(h, v1alpha1.ConditionReachable) != [2]string{"False", "UntrustedCertificate"} {
		t.Errorf("after another certificate: %v", h.Status.Conditions)
	}
	if got := h.Spec.ForProvider.TLS.PinnedSHA256; len(got) != 1 || got[0] == l.emu.CertificateSHA256() {
		t.Errorf("it was trusted again: %v", got)
	}
}

func TestDelete(t *testing.T) {
	l := newLab(t, bmc.ModelInline)
	l.settle()
	l.edit(func(h *v1alpha1.RedfishHost) {
		h.Finalizers = []string{"finalizer.managedresource.crossplane.io"}
		h.Spec.ClaimRef = &v1alpha1.ClaimReference{Namespace: "team-a", Name: "web-1", UID: "claim"}
		h.Spec.ForProvider.Boot, h.Spec.ForProvider.Power = once(1), v1alpha1.PoweredOn
	})
	l.settle()
	if err := l.kube.Delete(t.Context(), l.get()); err != nil {
		t.Fatal(err)
	}
	for range 6 {
		o, err := l.reconcile()
		if err != nil || !o.ResourceExists {
			t.Fatalf("a bound host that is deleted: exists %v, %v; want it to stay until it is unbound", o.ResourceExists, err)
		}
	}
	if l.m.Powered() {
		t.Error("a bound host that is deleted wasn't powered off")
	}
	// An override that wasn't used is taken away at the end.
	client := connect(t, settings(l.emu))
	if err := client.SetBootOnce(t.Context(), system(t, client), "Pxe"); err != nil {
		t.Fatal(err)
	}
	if err := client.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.edit(func(h *v1alpha1.RedfishHost) {
		j := map[string]any{}
		if err := json.Unmarshal([]byte(h.GetAnnotations()[v1alpha1.AnnotationJournal]), &j); err != nil {
			t.Fatal(err)
		}
		j["override"] = "Pxe"
		b, _ := json.Marshal(j)
		meta.AddAnnotations(h, map[string]string{v1alpha1.AnnotationJournal: string(b)})
		h.Spec.ClaimRef = nil
	})
	for range 3 {
		if o, err := l.reconcile(); err != nil {
			t.Fatal(err)
		} else if !o.ResourceExists {
			break
		}
	}
	if target, enabled := l.emu.Override("1"); target != "None" || enabled != "Disabled" {
		t.Errorf("override after deletion: (%q, %q)", target, enabled)
	}
	if o, err := l.reconcile(); err != nil || o.ResourceExists {
		t.Errorf("an unbound host: exists %v, %v; want gone", o.ResourceExists, err)
	}
	if n := l.emu.Sessions(); n != 0 {
		t.Errorf("%d sessions left", n)
	}
}

func TestDeleteWithDeadBMC(t *testing.T) {
	l := newLab(t, bmc.ModelInline)
	l.settle()
	l.edit(func(h *v1alpha1.RedfishHost) {
		h.Finalizers = []string{"finalizer.managedresource.crossplane.io"}
		h.Spec.ClaimRef = &v1alpha1.ClaimReference{Namespace: "team-a", Name: "web-1", UID: "claim"}
		h.Spec.ForProvider.Power = v1alpha1.PoweredOn
	})
	l.settle()
	if err := l.kube.Delete(t.Context(), l.get()); err != nil {
		t.Fatal(err)
	}
	if err := l.emu.SetDead(true); err != nil {
		t.Fatal(err)
	}
	if o, err := l.reconcile(); err == nil || !o.ResourceExists {
		t.Errorf("a bound host with a dead BMC: exists %v, %v; want it to wait and say so", o.ResourceExists, err)
	}
	l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ClaimRef = nil })
	if o, err := l.reconcile(); err != nil || o.ResourceExists {
		t.Errorf("unbound: exists %v, %v; want gone, a dead BMC holds nothing up", o.ResourceExists, err)
	}
}

func TestObserveOnlyWritesNothing(t *testing.T) {
	l := newLab(t, bmc.ModelInline)
	_ = l.m.On(bmc.BootNormal)
	h := l.get()
	h.Spec.ForProvider.Power = v1alpha1.PoweredOff
	h.Spec.ForProvider.ResetGeneration = 4
	h.Spec.ForProvider.Boot = once(9)
	for range 3 {
		e, err := l.connector.Connect(t.Context(), h)
		if err != nil {
			t.Fatal(err)
		}
		if o, err := e.Observe(t.Context(), h); err != nil || !o.ResourceExists {
			t.Fatalf("Observe(...): %v, %v", o, err)
		}
	}
	if c := l.emu.Counters(); c.Writes != 0 || !l.m.Powered() {
		t.Errorf("Observe wrote %d times", c.Writes)
	}
}
