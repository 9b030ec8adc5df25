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
	six    bool
}

func TestSights(t *testing.T) {
	const xid, other = 1, 2
	cases := map[string]struct {
		reason string
		in     []exchanged
	}{
		"Chained": {
			reason: "the ROM's exchange and that of the iPXE it loads are one boot",
			in:     []exchanged{{at: 0, client: ClientPXE, xid: xid, counts: true}, {at: 20, client: ClientIPXE, xid: other}},
		},
		"HTTPBoot": {
			reason: "the same by HTTP",
			in:     []exchanged{{at: 0, client: ClientHTTP, xid: xid, counts: true}, {at: 5, client: ClientIPXE, xid: other}},
		},
		"ROM": {
			reason: "an iPXE ROM talks once",
			in:     []exchanged{{at: 0, client: ClientIPXE, xid: xid, counts: true}, {at: 60, client: ClientIPXE, xid: other, counts: true}},
		},
		"Retransmitted": {
			reason: "an ACK that was lost",
			in:     []exchanged{{at: 0, client: ClientPXE, xid: xid, counts: true}, {at: 4, client: ClientPXE, xid: xid}, {at: 8, client: ClientPXE, xid: xid}},
		},
		"SameXIDLater": {
			reason: "BIOS ROMs have the same xid at every boot",
			in:     []exchanged{{at: 0, client: ClientPXE, xid: xid, counts: true}, {at: 60, client: ClientPXE, xid: xid, counts: true}},
		},
		"SlowIPXE": {
			reason: "an iPXE long after a ROM is a boot whose ROM another bootd answered",
			in:     []exchanged{{at: 0, client: ClientPXE, xid: xid, counts: true}, {at: 600, client: ClientIPXE, xid: other, counts: true}},
		},
		"BothFamilies": {
			reason: "an iPXE asks by DHCP and by DHCPv6, in one boot and in the next",
			in: []exchanged{
				{at: 0, client: ClientPXE, xid: 1, counts: true}, {at: 9, client: ClientIPXE, xid: 2}, {at: 22, client: ClientIPXE, xid: 3, six: true},
				{at: 60, client: ClientIPXE, xid: 4, counts: true}, {at: 73, client: ClientIPXE, xid: 5, six: true}, {at: 110, client: ClientIPXE, xid: 6, six: true, counts: true},
			},
		},
		"FirmwareOfBoth": {
			reason: "firmware that tries the other family begins anew, as one that tries HTTP does",
			in:     []exchanged{{at: 0, client: ClientPXE, xid: 1, counts: true}, {at: 9, client: ClientPXE, xid: 1, counts: true, six: true}},
		},
		"ROMAfterSystem": {
			reason: "a system that restarts at once, into an iPXE ROM, begins a boot",
			in:     []exchanged{{at: 0, client: ClientOS, xid: 1, counts: true}, {at: 5, client: ClientIPXE, xid: 2, counts: true}},
		},
		"WholeBoot": {
			reason: "from power-on to the installed system, and once more",
			in: []exchanged{
				{at: 0, client: ClientPXE, xid: 1, counts: true}, {at: 10, client: ClientIPXE, xid: 2}, {at: 60, client: ClientOS, xid: 3, counts: true}, {at: 62, client: ClientOS, xid: 3},
				{at: 90, client: ClientPXE, xid: 4, counts: true}, {at: 99, client: ClientIPXE, xid: 5}, {at: 120, client: ClientOS, xid: 6, counts: true},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := NewSights()
			for _, x := range tc.in {
				stage := boot.StageDHCP
				if x.client == ClientOS {
					stage = boot.StageBootedFromDisk
				}
				got := s.first("e", sight{client: x.client, stage: stage, xid: [4]byte{x.xid}, at: testNow.Add(time.Duration(x.at) * time.Second), six: x.six})
				if got != x.counts {
					t.Errorf("%s: %s at %d s counts: %v, want %v", tc.reason, x.client, x.at, got, x.counts)
				}
			}
		})
	}
}

func TestSightsAreForgotten(t *testing.T) {
	s := NewSights()
	for i := range maxSights + 10 {
		s.first(fmt.Sprint(i), sight{client: ClientPXE, stage: boot.StageDHCP, at: testNow.Add(time.Duration(i) * time.Second)})
	}
	if s.last.Len() > maxSights {
		t.Errorf("%d machines are remembered, want at most %d", s.last.Len(), maxSights)
	}
}

// TestSightsInAStorm: where all machines begin at once none can be forgotten, and looking at all of them for each packet would
// be what keeps them waiting.
func TestSightsInAStorm(t *testing.T) {
	s := NewSights()
	storm := func(at time.Time) {
		for i := range maxSights + 10 {
			s.first(fmt.Sprint(i), sight{client: ClientPXE, stage: boot.StageDHCP, at: at})
		}
	}
	storm(testNow)
	storm(testNow.Add(sameBoot))
	if s.tidied != 0 {
		t.Errorf("tidied after %s", s.tidied)
	}
	storm(testNow.Add(sameBoot + 2*time.Second))
	if s.tidied == 0 {
		t.Error("never tidied")
	}
}
