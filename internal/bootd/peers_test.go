package bootd

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp6"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

// TestPeerNames: a bootd that is a peer is known by its DUID, too, whenever it's said to be one; and nobody else is.
func TestPeerNames(t *testing.T) {
	six, four := netip.MustParseAddr("fd00:77::3"), netip.MustParseAddr("10.77.0.3")
	names := peerNames([]netip.Addr{four, six}, [][]byte{{0, 3, 0, 1, 2}})
	if want := []string{"duid:0003000102", "10.77.0.3", "fd00:77::3", duidText(dhcp6.ServerID(six))}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	src := &tellsElsewhere{}
	d := &daemon{source: src, trails: session.NewTrails(), c: Config{Advertise: netip.MustParseAddr("fd00:77::2"), PeerIDs: [][]byte{{0, 3, 0, 1, 2}}}}
	p := &boot.Plan{EntryUID: "u1"}
	d.otherServer6(p, dhcp6.ServerID(d.c.Advertise))
	d.otherServer6(p, dhcp6.ServerID(six))
	d.otherServer6(p, []byte{0, 3, 0, 1, 2})
	d.otherServer(p, netip.MustParseAddr("::ffff:10.77.0.9"))
	if want := []string{names[3], "10.77.0.9"}; !slices.Equal(src.servers, want) {
		t.Errorf("the source is told of %q, want %q", src.servers, want)
	}
}

// tellsElsewhere is a source that's told of other servers.
type tellsElsewhere struct {
	Source

	servers []string
}

func (s *tellsElsewhere) OtherServer(_ *boot.Plan, server string) {
	s.servers = append(s.servers, server)
}
