package dhcp

import (
	"fmt"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// an exchange that ended at a time, in seconds.
type exchanged struct {
	at     int
	client Client
	xid    byte
	counts bool
}

func TestSights(t *testing.T) {
	const xid, other = 1, 2
	cases := map[string]struct {
		reason string
		in     []exchanged
	}{
		"Chained": {
			reason: "the ROM's exchange and that of the iPXE it loads are one boot",
			in:     []exchanged{{0, ClientPXE, xid, true}, {20, ClientIPXE, other, false}},
		},
		"HTTPBoot": {
			reason: "the same by HTTP",
			in:     []exchanged{{0, ClientHTTP, xid, true}, {5, ClientIPXE, other, false}},
		},
		"ROM": {
			reason: "an iPXE ROM talks once",
			in:     []exchanged{{0, ClientIPXE, xid, true}, {60, ClientIPXE, other, true}},
		},
		"Retransmitted": {
			reason: "an ACK that was lost",
			in:     []exchanged{{0, ClientPXE, xid, true}, {4, ClientPXE, xid, false}, {8, ClientPXE, xid, false}},
		},
		"SameXIDLater": {
			reason: "BIOS ROMs have the same xid at every boot",
			in:     []exchanged{{0, ClientPXE, xid, true}, {60, ClientPXE, xid, true}},
		},
		"SlowIPXE": {
			reason: "an iPXE long after a ROM is a boot whose ROM another bootd answered",
			in:     []exchanged{{0, ClientPXE, xid, true}, {600, ClientIPXE, other, true}},
		},
		"WholeBoot": {
			reason: "from power-on to the installed system, and once more",
			in: []exchanged{
				{0, ClientPXE, 1, true}, {10, ClientIPXE, 2, false}, {60, ClientOS, 3, true}, {62, ClientOS, 3, false},
				{90, ClientPXE, 4, true}, {99, ClientIPXE, 5, false}, {120, ClientOS, 6, true},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newSights()
			for _, x := range tc.in {
				stage := boot.StageDHCP
				if x.client == ClientOS {
					stage = boot.StageBootedFromDisk
				}
				a := Answer{Plan: &boot.Plan{EntryUID: "e"}, Stage: stage, Facts: Facts{Client: x.client}}
				got := s.first(a, [4]byte{x.xid}, testNow.Add(time.Duration(x.at)*time.Second))
				if got != x.counts {
					t.Errorf("%s: %s at %d s counts: %v, want %v", tc.reason, x.client, x.at, got, x.counts)
				}
			}
		})
	}
}

func TestSightsAreForgotten(t *testing.T) {
	s := newSights()
	for i := range maxSights + 10 {
		a := Answer{Plan: &boot.Plan{EntryUID: fmt.Sprint(i)}, Stage: boot.StageDHCP, Facts: Facts{Client: ClientPXE}}
		s.first(a, [4]byte{}, testNow.Add(time.Duration(i)*time.Second))
	}
	if len(s.last) > maxSights {
		t.Errorf("%d machines are remembered, want at most %d", len(s.last), maxSights)
	}
}

// TestSightsInAStorm: where all machines begin at once none can be forgotten, and looking at all of them for each packet would
// be what keeps them waiting.
func TestSightsInAStorm(t *testing.T) {
	s := newSights()
	storm := func(at time.Time) {
		for i := range maxSights + 10 {
			a := Answer{Plan: &boot.Plan{EntryUID: fmt.Sprint(i)}, Stage: boot.StageDHCP, Facts: Facts{Client: ClientPXE}}
			s.first(a, [4]byte{}, at)
		}
	}
	storm(testNow)
	first := s.tidied
	storm(testNow.Add(sameBoot))
	if first.IsZero() || !s.tidied.Equal(first) {
		t.Errorf("tidied at %s and again at %s", first, s.tidied)
	}
	storm(testNow.Add(sameBoot + 2*time.Second))
	if s.tidied.Equal(first) {
		t.Error("never again")
	}
}
