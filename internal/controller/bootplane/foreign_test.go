package bootplane

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// TestReports: what live bootds hear and lack stands in their network's status.
func TestReports(t *testing.T) {
	at := metav1.NewTime(time.Date(2026, 8, 1, 10, 41, 7, 0, time.UTC))
	office := v1alpha1.ForeignServer{Address: "10.77.0.99", MAC: "52:54:00:00:00:99", Interface: "eth1", Since: &at, LastSeen: &at}
	hears := func(s *v1alpha1.BootServer, f ...v1alpha1.ForeignServer) *v1alpha1.BootServer {
		s.Status.Networks[0].ForeignServers = f
		return s
	}
	lacks := func(s *v1alpha1.BootServer, reason, message string) *v1alpha1.BootServer {
		s.Status.Networks[0].Reason, s.Status.Networks[0].Message = reason, message
		return s
	}
	const another = "another DHCP server answers on this network: 10.77.0.99 (52:54:00:00:00:99), heard since 2026-08-01T10:41:07Z; stop it, or set dhcp.mode to Proxy if it's to give the addresses"
	cases := map[string]struct {
		reason  string
		mode    v1alpha1.DHCPMode
		servers []*v1alpha1.BootServer
		foreign []string
		ok      corev1.ConditionStatus
		word    xpv2.ConditionReason
		message string
	}{
		"Quiet":   {"nobody else is there", "", []*v1alpha1.BootServer{server("a", 0)}, nil, "", "", ""},
		"Warn":    {"somebody is, and both bootds hear him", "", []*v1alpha1.BootServer{hears(server("b", 0), office), hears(server("a", 0), v1alpha1.ForeignServer{Address: "10.77.0.99"})}, []string{"10.77.0.99"}, corev1.ConditionTrue, xpv2.ReasonAvailable, another},
		"Proxy":   {"where that's as it should be", v1alpha1.DHCPProxy, []*v1alpha1.BootServer{hears(server("a", 0), office)}, []string{"10.77.0.99"}, "", "", ""},
		"Dead":    {"a bootd that isn't live says nothing", "", []*v1alpha1.BootServer{server("a", 0), hears(server("b", time.Hour), office)}, nil, "", "", ""},
		"Refused": {"none begins", "", []*v1alpha1.BootServer{lacks(hears(server("a", 0), office), "ForeignServer", "no.")}, []string{"10.77.0.99"}, corev1.ConditionFalse, v1alpha1.ReasonForeignServer, "on a: no."},
		"NoneHas": {"no node has the interface", "", []*v1alpha1.BootServer{lacks(server("a", 0), "InterfaceMissing", "no eth7."), lacks(server("b", 0), "InterfaceMissing", "no eth7.")}, nil, corev1.ConditionFalse, v1alpha1.ReasonInterfaceMissing, "on a: no eth7."},
		"OneHas":  {"one node has it, which is enough", "", []*v1alpha1.BootServer{lacks(server("a", 0), "InterfaceMissing", "no eth7."), server("b", 0)}, nil, "", "", ""},
		"OneOf":   {"one of two can't", v1alpha1.DHCPProxy, []*v1alpha1.BootServer{server("a", 0), lacks(server("b", 0), "PortInUse", "taken.")}, nil, corev1.ConditionTrue, xpv2.ReasonAvailable, "on b: taken."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var all []v1alpha1.BootServer
			for _, s := range tc.servers {
				all = append(all, *s)
			}
			n := &v1alpha1.BootNetwork{Spec: v1alpha1.BootNetworkSpec{DHCP: &v1alpha1.NetworkDHCP{Mode: tc.mode}}}
			n.Status.ForeignServers = []string{"192.0.2.1"}
			showReports(n, reports(types.NamespacedName{Namespace: "infra", Name: "rack-7"}, all, now()))
			if diff := cmp.Diff(tc.foreign, n.Status.ForeignServers); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			c := n.GetCondition(xpv2.TypeReady)
			if tc.ok == "" {
				if len(n.Status.Conditions) > 0 {
					t.Errorf("%s: %+v", tc.reason, c)
				}
				return
			}
			if c.Status != tc.ok || c.Reason != tc.word || c.Message != tc.message {
				t.Errorf("%s: %+v", tc.reason, c)
			}
		})
	}
}
