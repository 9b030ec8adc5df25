package boot

import (
	"cmp"
	"iter"
	"maps"
	"net/netip"
	"slices"
)

// Covering gives the segments on which machines are answered where they are, though their network doesn't say their subnet any more. A plan outside
// its network is one that goes on as it was, since an edit of the network left its entry outside: the one is as wrong as the other. So the network has
// the plan's subnet, too, unless another network has a part of it now. A network that isn't served stays so.
func Covering(segments []Segment, plans iter.Seq[*Plan]) []Segment {
	at := make(map[Name]int, len(segments))
	for i := range segments {
		at[segments[i].Name] = i
	}
	type lack struct {
		of     int
		subnet netip.Prefix
	}
	lacks := map[lack]bool{}
	for p := range plans {
		i, served := at[p.Network.Name]
		if !served {
			continue
		}
		for a := range p.Network.Addresses() {
			if a.IsValid() && !segments[i].Contains(a.Addr()) {
				lacks[lack{i, a.Masked()}] = true
			}
		}
	}
	if len(lacks) == 0 {
		return segments
	}
	segments = slices.Clone(segments) // Whoever gave them keeps them as they are.
	// In one order, whatever that of the plans: all bootds are to have the same.
	for _, x := range slices.SortedFunc(maps.Keys(lacks), func(a, b lack) int { return cmp.Or(cmp.Compare(a.of, b.of), a.subnet.Compare(b.subnet)) }) {
		if g := &segments[x.of]; !othersHave(segments, x.of, x.subnet) {
			g.Subnets, g.Kept = append(slices.Clip(g.Subnets), x.subnet), g.Kept+1
		}
	}
	return segments
}

// othersHave says whether a segment other than that at a number has a part of a subnet.
func othersHave(segments []Segment, at int, subnet netip.Prefix) bool {
	for i := range segments {
		if i != at && slices.ContainsFunc(segments[i].Subnets, subnet.Overlaps) {
			return true
		}
	}
	return false
}
