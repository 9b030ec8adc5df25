package dhcp6

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/durable"
)

const (
	// maxLearnt bounds what is remembered, and maxOfOne what of one machine is: it has some systems, and firmware. Of more the oldest goes.
	maxLearnt = 65536
	maxOfOne  = 8
	// maxUnseen is how long a DUID is remembered that nobody says. Whose system hides its MAC says it with each renewal.
	maxUnseen = 30 * 24 * time.Hour
	// forgetEvery is how often it's looked for such, and day how exactly it's known since when.
	forgetEvery = time.Hour
	day         = 24 * time.Hour
	// keepEvery is how often what was learnt is written down.
	keepEvery = 5 * time.Second
	// twice stands for the MACs of a DUID that several machines have: it says nothing of any.
	twice = boot.MAC("twice")
)

// Learnt are the DUIDs of machines that said their MACs in another way, and where they're written down. A system that makes its link-local
// address of something else than its MAC, and that came by no relay which adds it, is known by that: its firmware, or an earlier boot of
// it, was seen with both. It's for use by many.
type Learnt struct {
	path string

	now func() time.Time

	mu      sync.Mutex
	macs    map[string]known // by DUID
	ids     map[boot.MAC][]string
	changed bool
}

// known is what a DUID was seen with, and when it was last said.
type known struct {
	mac  boot.MAC
	seen time.Time
}

// text is how it's written down.
func (k known) text() string { return string(k.mac) + " " + k.seen.UTC().Format(time.DateOnly) }

// readKnown reads a text; without a day it's of today.
func readKnown(s string, now time.Time) (known, bool) {
	mac, date, _ := strings.Cut(s, " ")
	if _, err := boot.ParseMAC(mac); err != nil && boot.MAC(mac) != twice {
		return known{}, false
	}
	seen, err := time.Parse(time.DateOnly, date)
	if err != nil || seen.After(now) {
		seen = now
	}
	return known{mac: boot.MAC(mac), seen: seen}, true
}

// OpenLearnt reads what was learnt earlier from a file; it need not be there. An error says that it can't be read, and nothing is known.
func OpenLearnt(path string) (*Learnt, error) {
	l := &Learnt{path: path, now: time.Now, macs: map[string]known{}, ids: map[boot.MAC][]string{}}
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return l, fmt.Errorf("cannot read which DUIDs machines have: %w", err)
	}
	var texts map[string]string
	if err := json.Unmarshal(b, &texts); err != nil {
		return l, fmt.Errorf("cannot read which DUIDs machines have, in %s: %w", path, err)
	}
	for text, what := range texts {
		id, err := hex.DecodeString(text)
		k, ok := readKnown(what, l.now())
		if err != nil || !ok || len(l.macs) >= maxLearnt {
			continue
		}
		l.set(string(id), k)
	}
	return l, nil
}

// MAC that a DUID was seen with; false: none, or several.
func (l *Learnt) MAC(id []byte) (boot.MAC, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k, ok := l.macs[string(id)]
	if !ok || k.mac == twice {
		return "", false
	}
	l.saw(string(id), k)
	return k.mac, true
}

// Learn notes that a NIC of a machine says a DUID. Of two machines with one DUID, as of boards whose maker has numbered them all alike,
// neither is known by it from then on.
func (l *Learnt) Learn(id []byte, mac boot.MAC, of *boot.Plan) {
	if len(id) < leastID || len(id) > mostID || mac == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	k, ok := l.macs[string(id)]
	switch {
	case ok && (k.mac == twice || slices.Contains(of.MACs, k.mac)):
		l.saw(string(id), k)
		return
	case ok:
		l.drop(string(id))
		mac = twice
	default:
		l.roomFor(of)
	}
	l.set(string(id), known{mac: mac, seen: l.now()})
	l.changed = true
}

// set and drop keep both maps alike.
func (l *Learnt) set(id string, k known) {
	l.macs[id] = k
	if k.mac != twice {
		l.ids[k.mac] = append(l.ids[k.mac], id)
	}
}

func (l *Learnt) drop(id string) {
	mac := l.macs[id].mac
	delete(l.macs, id)
	l.changed = true
	if l.ids[mac] = slices.DeleteFunc(l.ids[mac], func(x string) bool { return x == id }); len(l.ids[mac]) == 0 {
		delete(l.ids, mac)
	}
}

// saw notes that a DUID was said, as exactly as it's worth a write.
func (l *Learnt) saw(id string, k known) {
	if now := l.now(); now.Sub(k.seen) >= day {
		k.seen = now
		l.macs[id], l.changed = k, true
	}
}

// roomFor forgets the oldest where a machine has too many, or all together: then many at once, since it's looked through all for them.
func (l *Learnt) roomFor(of *boot.Plan) {
	var own []string
	for _, mac := range of.MACs {
		own = append(own, l.ids[mac]...)
	}
	if n := len(own) - maxOfOne + 1; n > 0 {
		l.dropOldest(own, n)
	}
	if len(l.macs) >= maxLearnt {
		const part = 16
		l.dropOldest(slices.Collect(maps.Keys(l.macs)), maxLearnt/part)
	}
}

// dropOldest forgets so many of some DUIDs: those of several machines first.
func (l *Learnt) dropOldest(ids []string, n int) {
	slices.SortFunc(ids, func(a, b string) int {
		x, y := l.macs[a], l.macs[b]
		switch {
		case x.mac == twice && y.mac != twice:
			return -1
		case x.mac != twice && y.mac == twice:
			return 1
		}
		return x.seen.Compare(y.seen)
	})
	for _, id := range ids[:min(n, len(ids))] {
		l.drop(id)
	}
}

// forget forgets what nobody has said for long.
func (l *Learnt) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	old := l.now().Add(-maxUnseen)
	for id, k := range l.macs {
		if k.seen.Before(old) {
			l.drop(id)
		}
	}
}

// Run writes down what is learnt until ctx ends, and once more then.
func (l *Learnt) Run(ctx context.Context, log *slog.Logger) error {
	said, looked := false, time.Time{}
	for ended := false; !ended; {
		if now := l.now(); now.Sub(looked) >= forgetEvery {
			looked = now
			l.forget()
		}
		select {
		case <-ctx.Done():
			ended = true
		case <-time.After(keepEvery):
		}
		err := l.keep()
		if err != nil && !said {
			log.Warn("which DUIDs machines have can't be written down, and a restart would forget it", "error", err.Error())
		}
		said = err != nil
	}
	return nil
}

// keep writes the file anew, whole or not at all.
func (l *Learnt) keep() error {
	l.mu.Lock()
	if !l.changed {
		l.mu.Unlock()
		return nil
	}
	texts := make(map[string]string, len(l.macs))
	for id, k := range l.macs {
		texts[hex.EncodeToString([]byte(id))] = k.text()
	}
	l.changed = false
	l.mu.Unlock()
	b, err := json.Marshal(texts)
	if err == nil {
		err = durable.Write(l.path, b)
	}
	if err != nil {
		l.mu.Lock()
		l.changed = true
		l.mu.Unlock()
	}
	return err
}
