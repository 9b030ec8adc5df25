package foreign

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/durable"
)

// A Verdict says whether a segment may begin.
type Verdict int

// Values of Verdict.
const (
	// Goes on: it has begun, or nobody else is there.
	Goes Verdict = iota
	// Listens: whether somebody else is there isn't known yet.
	Listens
	// Refused: somebody else is.
	Refused
)

// May says whether a segment that refuses foreign servers may give an address to a machine that has none of ours. It's asked for each
// packet of a segment that hasn't begun.
func (w *Watch) May(network boot.Name) Verdict {
	now := w.o.Now()
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.begun[network] {
		return Goes
	}
	for k, s := range w.sights {
		if k.network == network && now.Sub(s.Last) < fresh && !w.o.Ours(s.Server) {
			return Refused
		}
	}
	if until, ok := w.until[network]; !ok || now.Before(until) {
		return Listens
	}
	return Goes
}

// Began says that a machine of a segment was given its address. It's called for each, and writes nothing: Run does.
func (w *Watch) Began(network boot.Name) {
	w.mu.RLock()
	known := w.begun[network]
	w.mu.RUnlock()
	if known {
		return
	}
	w.mu.Lock()
	w.begun[network], w.dirty = true, true
	w.mu.Unlock()
}

// listen begins to listen to segments that are new here, and names those that must be asked: the new ones now, the others again while
// somebody else is in their way. One that comes back is new.
func (w *Watch) listen(st *boot.State, asked map[boot.Name]time.Time) (ask []boot.Segment) {
	now := w.o.Now()
	if st == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	gone := func(n boot.Name, _ time.Time) bool {
		g, ok := st.Segment(n)
		return !ok || g.Mode != boot.SegmentAuthoritative
	}
	maps.DeleteFunc(asked, gone)
	maps.DeleteFunc(w.until, gone)
	for _, g := range st.Segments {
		if g.Mode != boot.SegmentAuthoritative {
			continue
		}
		last, known := asked[g.Name]
		every := regularly
		if !w.begun[g.Name] && g.RefuseForeign {
			every = waiting
		}
		if known && now.Sub(last).Abs() < every {
			continue
		}
		asked[g.Name] = now
		ask = append(ask, g)
		if !known {
			w.until[g.Name] = now.Add(listening)
		}
	}
	return ask
}

// flush writes down which segments have begun, if that's news.
func (w *Watch) flush() {
	w.mu.Lock()
	names := slices.Collect(maps.Keys(w.begun))
	dirty := w.dirty
	w.dirty = false
	w.mu.Unlock()
	if !dirty {
		return
	}
	slices.SortFunc(names, func(a, b boot.Name) int { return strings.Compare(a.String(), b.String()) })
	err := writeMarks(w.o.Path, names)
	if err != nil && !w.unwritten { // Once: it's tried again at each turn.
		w.o.Logger.Warn("that a network has begun can't be remembered, and a restart would listen for other servers first", "error", err.Error())
	}
	w.unwritten = err != nil
	if err != nil {
		w.mu.Lock()
		w.dirty = true
		w.mu.Unlock()
	}
}

// readMarks gives the segments that have begun; false: nobody has written that yet, or it can't be read.
func readMarks(path string, log *slog.Logger) (map[boot.Name]bool, bool) {
	marks := map[boot.Name]bool{}
	var names []boot.Name // The domain's own names are the format.
	found, err := durable.ReadJSON(path, &names)
	if err != nil {
		log.Warn("which networks have begun can't be read; those that were served last count as begun", "error", err.Error())
		return marks, false
	}
	for _, n := range names {
		marks[n] = true
	}
	return marks, found
}

// writeMarks writes them down, be there none.
func writeMarks(path string, names []boot.Name) error {
	if err := durable.WriteJSON(path, append([]boot.Name{}, names...)); err != nil {
		return fmt.Errorf("cannot write down which networks have begun: %w", err)
	}
	return nil
}
