package tiebreak

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestRanks: for each machine the bootds of a segment have one rank each, whoever works it out and in whatever order it has heard of the
// others, and each comes first for its share.
func TestRanks(t *testing.T) {
	all := []string{"baremetal-boot/node-1", "baremetal-boot/node-2", "baremetal-boot/node-3"}
	first := map[string]int{}
	const machines = 3000
	for i := range machines {
		mac := boot.MAC(fmt.Sprintf("52:54:00:00:%02x:%02x", i>>8, i&255))
		ranks := map[int]string{}
		for _, self := range all {
			peers := slices.DeleteFunc(slices.Clone(all), func(p string) bool { return p == self })
			rank := Rank(mac, self, peers)
			slices.Reverse(peers)
			if again := Rank(mac, self, append(peers, self)); again != rank {
				t.Fatalf("%s of %s: %d, then %d", self, mac, rank, again)
			}
			ranks[rank] = self
		}
		if len(ranks) != len(all) {
			t.Fatalf("%s: %v", mac, ranks)
		}
		first[ranks[0]]++
	}
	for name, n := range first {
		if n < machines/5 || n > machines/2 {
			t.Errorf("%s comes first for %d of %d", name, n, machines)
		}
	}
	if Rank("52:54:00:00:00:01", "alone", nil) != 0 {
		t.Error("who is alone waits for nobody")
	}
}

func TestDelay(t *testing.T) {
	for rank, want := range map[int]time.Duration{-1: 0, 0: 0, 1: 40 * time.Millisecond, 3: 120 * time.Millisecond, 99: 120 * time.Millisecond} {
		if got := Delay(rank); got != want {
			t.Errorf("rank %d: %s", rank, got)
		}
	}
}
