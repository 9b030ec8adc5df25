package netboxipaddress

import "sync"

// oneEach has one look at each NetBox under way at once, and nobody wait for any: one that doesn't answer keeps no other one waiting, and
// isn't asked again and again meanwhile. The zero value has none.
type oneEach[K comparable] struct {
	looks sync.WaitGroup
	mu    sync.Mutex
	// missed are the NetBoxes that are being looked at, and whether another look was asked for meanwhile.
	missed map[K]bool
}

// begin has a look made at a NetBox, unless one is under way. That one may have come too early for what the one that is left out would have
// seen: it's made once more at its end, where it says so.
func (o *oneEach[K]) begin(of K, look func() (more bool)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, under := o.missed[of]; under {
		o.missed[of] = true
		return
	}
	if o.missed == nil {
		o.missed = map[K]bool{}
	}
	o.missed[of] = false
	o.looks.Go(func() {
		for {
			if more := look(); !o.again(of, more) {
				return
			}
		}
	})
}

// again says, at the end of a look, whether another one follows. Else none is under way any more.
func (o *oneEach[K]) again(of K, more bool) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if more && o.missed[of] {
		o.missed[of] = false
		return true
	}
	delete(o.missed, of)
	return false
}

// wait for all looks that are under way.
func (o *oneEach[K]) wait() { o.looks.Wait() }
