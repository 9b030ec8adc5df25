package bmc_test

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// TestObservedTrustsOnce: of a host that is only observed, too, the certificate seen first is the only one that is trusted, over restarts.
func TestObservedTrustsOnce(t *testing.T) {
	l := newLab(t, bmc.ModelInline)
	l.verify, l.pins = v1alpha1.TLSVerifyTrustOnFirstUse, nil
	l.edit(func(h *v1alpha1.RedfishHost) {
		h.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
	})
	l.runtimeOf()()
	h := l.get()
	if h.Spec.ForProvider.TLS != nil || h.GetAnnotations()[v1alpha1.AnnotationTLSPin] != l.emu.CertificateSHA256() {
		t.Fatalf("spec %+v, annotations %v; want the pin beside a spec that isn't written", h.Spec.ForProvider.TLS, h.GetAnnotations())
	}
	if err := l.emu.Renew(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		l.start()
		l.runtimeOf()()
		if h = l.get(); condition(h, v1alpha1.ConditionReachable) != [2]string{"False", "UntrustedCertificate"} {
			t.Errorf("after another certificate: %v", h.Status.Conditions)
		}
	}
	l.edit(func(h *v1alpha1.RedfishHost) {
		h.Spec.ForProvider.TLS = &v1alpha1.HostTLS{PinnedSHA256: []string{l.emu.CertificateSHA256()}}
	})
	l.runtimeOf()()
	if h = l.get(); condition(h, v1alpha1.ConditionReachable)[0] != "True" {
		t.Errorf("a pin that a person gives it is the one that counts: %v", h.Status.Conditions)
	}
	if c := l.emu.Counters(); c.Writes != 0 {
		t.Errorf("%d writes to a BMC that is only looked at", c.Writes)
	}
}
