package netbox

// A NetBox that answers everything else may take too long for a page of a thousand, or what stands in front of it give up: then no look would ever
// be whole. So pages become smaller with each look that fails over one, and larger again after each that doesn't.

// smaller has the next look ask for smaller pages, after one that may have failed over its own: false where there are none.
func (v *view) smaller(size int) bool {
	last := v.seenBy
	v.seenBy = 0
	switch {
	case size <= leastPage:
		v.vain++
		return false
	case last > 0 && last < size: // It could do with those.
		v.size, v.large, v.largeUntil = last, size, v.now().Add(largeFor)
	default:
		v.size = max(size/2, leastPage)
	}
	return true
}

// larger has the next look ask for larger pages, after one that was whole with these.
func (v *view) larger(size int) {
	v.size, v.seenBy, v.vain = size, size, 0
	next := min(2*size, lookPage)
	if next < v.large || !v.now().Before(v.largeUntil) {
		v.size = next
	}
}

// desperate says that a look that is about to end in vain is one of many, and no page can be smaller.
func (v *view) desperate(l *looking) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return l.size <= leastPage && v.vain+1 >= desperateAfter
}
