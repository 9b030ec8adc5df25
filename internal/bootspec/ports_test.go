package bootspec

import (
	"slices"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// TestNamed: ports are those of the bound host, by the names that its BMC gives them or by their MACs, and of no other machine.
func TestNamed(t *testing.T) {
	const one, two, three, added = "52:54:00:00:00:01", "52:54:00:00:00:02", "52:54:00:00:00:03", "52:54:00:00:00:0a"
	host := func(ms ...v1alpha1.HostMAC) *v1alpha1.RedfishHost {
		h := &v1alpha1.RedfishHost{}
		h.Spec.ForProvider.MACs = []string{added}
		h.Status.AtProvider.MACs = ms
		return h
	}
	rack := host(v1alpha1.HostMAC{Address: one, Port: "NIC.1"}, v1alpha1.HostMAC{Address: two, Port: "NIC.2"}, v1alpha1.HostMAC{Address: added})
	cases := map[string]struct {
		reason string
		host   *v1alpha1.RedfishHost
		ports  []string
		want   []string
		word   xpv2.ConditionReason
		says   string
	}{
		"None":      {reason: "an entry that names no port is as it was", host: rack},
		"One":       {reason: "by its name", host: rack, ports: []string{"NIC.2"}, want: []string{two}},
		"Order":     {reason: "in the order that the entry has", host: rack, ports: []string{"NIC.2", "NIC.1"}, want: []string{two, one}},
		"ByMAC":     {reason: "by its MAC, however it is written", host: rack, ports: []string{"52-54-00-00-00-02"}, want: []string{two}},
		"Added":     {reason: "a MAC that the host's operator added is the host's", host: rack, ports: []string{added}, want: []string{added}},
		"Foreign":   {reason: "a MAC that isn't the host's is nobody's", host: rack, ports: []string{three}, word: v1alpha1.ReasonInvalid, says: `port "` + three + `", which the machine doesn't have`},
		"Missing":   {reason: "the host's own ports are listed, each once", host: rack, ports: []string{"eno1"}, word: v1alpha1.ReasonInvalid, says: `it has "NIC.1" (` + one + `), "NIC.2" (` + two + `), ` + added + ` without a name; name one`},
		"Case":      {reason: "a name is a name: another case is another port", host: rack, ports: []string{"nic.1"}, word: v1alpha1.ReasonInvalid, says: "doesn't have"},
		"Twice":     {reason: "a port is in a bond once", host: rack, ports: []string{"NIC.1", one}, word: v1alpha1.ReasonInvalid, says: "twice"},
		"Ambiguous": {reason: "nobody guesses which of several is meant", host: host(v1alpha1.HostMAC{Address: one, Port: "1"}, v1alpha1.HostMAC{Address: two, Port: "1"}), ports: []string{"1"}, word: v1alpha1.ReasonInvalid, says: "with " + one + " and with " + two},
		"Listed":    {reason: "one that several places list is one", host: host(v1alpha1.HostMAC{Address: one, Port: "1"}, v1alpha1.HostMAC{Address: strings.ToUpper(one), Port: "1"}), ports: []string{"1"}, want: []string{one}},
		"Unread":    {reason: "a BMC that named nothing yet may do so later", host: host(), ports: []string{"NIC.1"}, word: v1alpha1.ReasonWaitingForHost, says: "has named no port yet"},
		"NoHost":    {reason: "without a host there are no ports", ports: []string{"NIC.1"}, word: v1alpha1.ReasonWaitingForHost, says: "none that is known"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e := &v1alpha1.BootEntry{}
			e.Spec.ForProvider.Networks = []v1alpha1.EntryNetwork{{Interface: &v1alpha1.EntryInterface{Ports: tc.ports, Bond: &v1alpha1.EntryBond{Mode: v1alpha1.BondLACP}}}}
			got, prob := Named(e, tc.host)
			if tc.word != "" {
				if prob == nil || prob.Reason != string(tc.word) || !strings.Contains(prob.Message, tc.says) {
					t.Fatalf("%s: want %s with %q, got %+v", tc.reason, tc.word, tc.says, prob)
				}
				return
			}
			if prob != nil {
				t.Fatalf("%s: %s", tc.reason, prob.Message)
			}
			if i := got.Spec.ForProvider.Networks[0].Interface; !slices.Equal(i.MACs, tc.want) || len(i.Ports) != 0 {
				t.Errorf("%s: want MACs %v, got %+v", tc.reason, tc.want, i)
			}
			if i := e.Spec.ForProvider.Networks[0].Interface; !slices.Equal(i.Ports, tc.ports) || len(i.MACs) != 0 {
				t.Errorf("%s: the entry was changed: %+v", tc.reason, i)
			}
		})
	}
}
