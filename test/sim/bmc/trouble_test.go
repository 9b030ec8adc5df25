package bmc_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

func TestWrongPassword(t *testing.T) {
	l := newLab(t, bmc.ModelInline)
	l.password = bmc.Secret + "-wrong"
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
	if strings.Contains(fmt.Sprintf("%+v", h), bmc.Secret) {
		t.Error("the password is on the host")
	}
	l.password, l.version = bmc.DefaultPassword, "2"
	if h = l.settle(); h.Status.Phase != v1alpha1.HostAvailable {
		t.Errorf("healed without a restart: phase %q, want Available", h.Status.Phase)
	}
	survived(t, "the password is wrong")
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
	survived(t, "another machine is behind the address")
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
	survived(t, "another certificate, all of a sudden, after one was trusted on first use")
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
	c := connect(t, settings(l.emu))
	if err := c.SetBootOnce(t.Context(), system(t, c), "Pxe"); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(t.Context()); err != nil {
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
