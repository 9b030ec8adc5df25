package boot

// maxNear is how many machines are looked for together: as many packets as DHCP reads by one call.
const maxNear = 64

// Near looks at what finding machines' plans reads, by their MACs' octets as one number: who is about to answer many looks for all of them first, so that
// what lies in no cache is waited for by all of them at once, and not for each. For each step to the next there's a loop of its own: a processor goes on
// with the next machine while the first one's memory is on its way. What it gives means nothing.
//
//go:noinline
func (s *State) Near(macs []uint64) (sum byte) {
	if s.plans.Len() == 0 {
		return 0
	}
	var plans [maxNear]int
	macs = macs[:min(len(macs), maxNear)]
	for _, n := range macs {
		sum ^= s.register.byMAC.Near(n)
	}
	found := plans[:0]
	for _, n := range macs {
		if i := s.register.byMAC.At(n); i != nil {
			found = append(found, int(*i))
		}
	}
	for _, i := range found {
		sum ^= byte(len(s.plans.rows[i])) ^ byte(s.plans.shape[i]) //nolint:gosec // It means nothing.
	}
	for _, i := range found {
		sum ^= s.plans.near(i)
	}
	return sum
}

// near looks at a plan as it was made lately, or else at its row.
func (k *Packed) near(i int) (sum byte) {
	if x := k.slot(i).Load(); x != nil && x.at == i {
		return byte(x.near()) //nolint:gosec // It means nothing.
	}
	const line = 64 // A cache's.
	for row := k.rows[i]; row != ""; row = row[min(line, len(row)):] {
		sum ^= row[0]
	}
	return sum
}
