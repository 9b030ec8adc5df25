package kubesource

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/foreign"
)

// TestReport: a heartbeat stays within its schema, whatever is heard.
func TestReport(t *testing.T) {
	at := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	r := Report{Reason: "ForeignServer", Message: "another is there"}
	for i := range 100 {
		r.Foreign = append(r.Foreign, foreign.Sight{Server: netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}), MAC: "52:54:00:00:00:99", Since: at, Last: at.Add(time.Minute)})
		r.Addresses = append(r.Addresses, fmt.Sprintf("10.1.0.%d", i), "10.1.0.0")
	}
	n, st := v1alpha1.BootServerNetwork{}, v1alpha1.BootServerStatus{}
	r.into(&n, &st)
	if n.Reason != r.Reason || n.Message != r.Message || len(n.ForeignServers) != maxForeign || len(st.Addresses) != maxAddresses || st.Addresses[1] != "10.1.0.1" {
		t.Errorf("%+v, %+v", n, st)
	}
	f := n.ForeignServers[0]
	if f.Address != "10.0.0.0" || f.MAC != "52:54:00:00:00:99" || !f.Since.Time.Equal(at) || !f.LastSeen.Time.Equal(at.Add(time.Minute)) {
		t.Errorf("%+v", f)
	}
}

// TestPeer: before the other bootds are known anybody may be one.
func TestPeer(t *testing.T) {
	s := &Source{}
	if !s.Peer(netip.MustParseAddr("10.0.0.1")) {
		t.Error("nobody is known yet, and a server is taken for a stranger")
	}
	x, ok := serverOf(&v1alpha1.BootServer{Status: v1alpha1.BootServerStatus{Addresses: []string{"10.0.0.1"}}})
	if !ok || len(x.addresses) != 1 {
		t.Errorf("%+v", x)
	}
}
