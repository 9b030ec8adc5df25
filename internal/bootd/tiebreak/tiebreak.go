// Package tiebreak decides which of several bootds answers a machine first. All give the same answer, but each under its own address: who
// comes first is the one that the machine's boot then rests on. Nobody asks anybody: each works it out from who is live.
package tiebreak

import (
	"hash/fnv"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

const (
	// step is how much later each next one offers: longer than an answer takes, and far shorter than firmware waits.
	step = 40 * time.Millisecond
	// most ranks wait longer than the one before; those behind wait as long.
	most = 3
)

// Behind is how long one waits that's to offer after all others.
const Behind = (most + 2) * step

// Rank is the place of a bootd among its live peers for one machine: 0 offers first. With other machines it's another's turn, so that
// each serves its share.
func Rank(mac boot.MAC, self string, peers []string) (rank int) {
	own := score(mac, self)
	for _, p := range peers {
		if s := score(mac, p); p != self && (s < own || s == own && p < self) {
			rank++
		}
	}
	return rank
}

// Delay of a rank's offers.
func Delay(rank int) time.Duration { return time.Duration(min(max(rank, 0), most)) * step }

// score mixes a name and a MAC. What differs comes first, so that all that follows mixes it.
func score(mac boot.MAC, name string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name + "\x00" + string(mac)))
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd // As MurmurHash3 ends.
	return x ^ x>>33
}
