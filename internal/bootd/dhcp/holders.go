package dhcp

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/durable"
)

const (
	// offerHolds is how long a port waits for the REQUEST of a machine that was offered its address.
	offerHolds = 30 * time.Second
	// holdersKept is how often it's tried to write down who holds which port, where that couldn't be done.
	holdersKept = time.Second
	// holdersSoon is the least time between two times that it's written down, holdersRest how many times as long as that took passes until the next.
	holdersSoon = 10 * time.Millisecond
	holdersRest = 10
	// maxHolders bounds what is remembered: an entry that is gone leaves its line.
	maxHolders = 1 << 17
)

// Holders are the machines that were seen behind the ports of entries, by Plan.PlaceKey, and where they're written down. Who holds a port does so for
// good: an entry says where, and the first machine that is there is the one that's meant. It's for use by many.
type Holders struct {
	path string

	mu      sync.Mutex
	of      map[string]holder
	place   map[boot.MAC]string // those that hold for good
	refused map[string]boot.MAC // the last one
	changed bool
	// news has something in it where there's something to be written down.
	news chan struct{}
}

// A holder is a machine, and until when it's waited for; zero: for good.
type holder struct {
	mac   boot.MAC
	until time.Time
}

// OpenHolders reads a file; it need not be there. An error says that it can't be read, and nothing is known: ports are anybody's again.
func OpenHolders(path string) (*Holders, error) {
	h := &Holders{path: path, of: map[string]holder{}, place: map[boot.MAC]string{}, refused: map[string]boot.MAC{}, news: make(chan struct{}, 1)}
	var all map[string]boot.MAC
	if _, err := durable.ReadJSON(path, &all); err != nil {
		return h, fmt.Errorf("cannot read which machines are behind which switch ports: %w", err)
	}
	for key, text := range all {
		if mac, err := boot.ParseMAC(string(text)); err == nil {
			h.of[key], h.place[mac] = holder{mac: mac}, key
		}
	}
	return h, nil
}

// Of gives the machine that holds a place, or is waited for there; false: none is.
func (h *Holders) Of(key string, now time.Time) (boot.MAC, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	x, ok := h.of[key]
	return x.mac, ok && (x.until.IsZero() || now.Before(x.until))
}

// Place gives the key of the place that a machine holds for good.
func (h *Holders) Place(mac boot.MAC) (key string, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	key, ok = h.place[mac]
	return key, ok
}

// Hold notes that a machine is at a place, until then, or for good where that's zero; false: another one is. It gives up the place that
// it held before.
func (h *Holders) Hold(key string, mac boot.MAC, now, until time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	x, ok := h.of[key]
	counts := ok && (x.until.IsZero() || now.Before(x.until))
	switch {
	case counts && x.mac != mac, !ok && len(h.of) >= maxHolders:
		return false
	case counts && x.until.IsZero():
		return true
	}
	h.set(key, holder{mac, until})
	return true
}

// Name is Hold for good, whoever held the place before.
func (h *Holders) Name(key string, mac boot.MAC) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if x, ok := h.of[key]; (!ok || x != holder{mac: mac}) && (ok || len(h.of) < maxHolders) {
		h.set(key, holder{mac: mac})
	}
}

// set is called with the lock.
func (h *Holders) set(key string, x holder) {
	if old, ok := h.of[key]; ok && h.place[old.mac] == key {
		delete(h.place, old.mac)
	}
	if h.of[key] = x; !x.until.IsZero() {
		return
	}
	if other, ok := h.place[x.mac]; ok && other != key {
		delete(h.of, other)
	}
	h.place[x.mac], h.changed = key, true
	delete(h.refused, key)
	select {
	case h.news <- struct{}{}:
	default:
	}
}

// Refuses notes that a machine was refused a place; false: it was the last one already.
func (h *Holders) Refuses(key string, mac boot.MAC) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refused[key] == mac {
		return false
	}
	h.refused[key] = mac
	return true
}

// Run writes down who holds what until ctx ends, and once more when served returns: a machine of the last moment counts as any other. It's written as soon
// as somebody holds a port, so that a bootd which is killed knows who was first.
func (h *Holders) Run(ctx context.Context, log *slog.Logger, served func()) error {
	said := false
	for ended := false; !ended; {
		var again <-chan time.Time
		if said {
			again = time.After(holdersKept)
		}
		select {
		case <-ctx.Done():
			served()
			ended = true
		case <-h.news:
		case <-again:
		}
		began := time.Now()
		err := h.keep()
		if err != nil && !said {
			log.Warn("which machines are behind which switch ports can't be written down, and a restart would forget it", "error", err.Error())
		}
		said = err != nil
		select {
		case <-ctx.Done():
		case <-time.After(max(holdersSoon, holdersRest*time.Since(began))):
		}
	}
	return nil
}

// keep writes the file anew, whole or not at all.
func (h *Holders) keep() error {
	h.mu.Lock()
	if !h.changed {
		h.mu.Unlock()
		return nil
	}
	all := make(map[string]boot.MAC, len(h.place))
	for mac, key := range maps.All(h.place) {
		all[key] = mac
	}
	h.changed = false
	h.mu.Unlock()
	err := durable.WriteJSON(h.path, all)
	if err != nil {
		h.mu.Lock()
		h.changed = true
		h.mu.Unlock()
	}
	return err
}
