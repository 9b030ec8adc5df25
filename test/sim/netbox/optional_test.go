package netbox_test

import (
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// TestOptionalHost: an address that is to be a host's is made once there's that host, and not on no interface before, whatever a policy calls optional.
func TestOptionalHost(t *testing.T) {
	optional := &xpv2.Policy{Resolution: new(xpv2.ResolutionPolicyOptional)}
	for name, tc := range map[string]struct {
		reason string
		to     v1alpha1.Assignment
		says   string
	}{
		"Named":  {"a host by its name", v1alpha1.Assignment{HostRef: &xpv2.NamespacedReference{Name: "r7-u12", Policy: optional}}, `RedfishHost "team-a/r7-u12", which assignTo.hostRef names, doesn't exist`},
		"Chosen": {"or by its labels", v1alpha1.Assignment{HostSelector: &xpv2.NamespacedSelector{MatchLabels: map[string]string{"rack": "r7"}, Policy: optional}}, "assignTo.hostSelector has chosen no RedfishHost yet"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newRackLab(t, "4.6.8")
			l.apply("web-1", func(mg *v1alpha1.NetBoxIPAddress) { on(tc.to)(&mg.Spec.ForProvider) })
			for range 3 {
				l.once("web-1")
			}
			if c := l.get("web-1").GetCondition(xpv2.TypeReady); c.Reason != v1alpha1.ReasonNotFound || !strings.Contains(c.Message, tc.says) {
				t.Errorf("%s: %s: %q, want %q", tc.reason, c.Reason, c.Message, tc.says)
			}
			if all := l.netbox.Addresses(); len(all) != 0 {
				t.Errorf("%s: it's there already: %+v", tc.reason, all)
			}
			h := &v1alpha1.RedfishHost{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "r7-u12", Labels: map[string]string{"rack": "r7"}}}
			h.Spec.ForProvider.MACs = []string{"52:54:00:77:12:01"}
			if err := l.kube.Create(t.Context(), h); err != nil {
				t.Fatal(err)
			}
			l.rest()
			if got := l.standing(); got != "dcim.interface 1" {
				t.Errorf("%s: it's %q", tc.reason, got)
			}
		})
	}
}
