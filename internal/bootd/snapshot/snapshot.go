// Package snapshot keeps the last known state on the disk, so that a bootd that is restarted while the
// API is away goes on serving leases and local boots.
package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/durable"
)

const (
	fileName = "snapshot"
	// earlierName is the file of programs that wrote format 1.
	earlierName = "snapshot.json"
	// calm is the least time between two writes, and rest how many times as long as one took: the disk is the log's too.
	calm = time.Second
	rest = 4
)

// offer is a state that may be written. Most never are, since the next one comes first.
type offer struct {
	state *boot.State
	keys  [][]byte
}

// A Snapshot is a file in bootd's state folder. It holds the keys of tokens too: without them iPXE couldn't be told where its script is. So
// it's readable by its owner only.
type Snapshot struct {
	dir    string
	next   atomic.Pointer[offer]
	beside atomic.Pointer[companion]
	wake   chan struct{}

	// last is what the file holds: Load's, and Run's once that has begun. loaded is the ID of what Load has read.
	last   known
	loaded string
}

// In gives the snapshot of a folder.
func In(dir string) *Snapshot {
	return &Snapshot{dir: dir, wake: make(chan struct{}, 1)}
}

// Load reads what was saved last; a nil state where nothing was. All of it is read or nothing: a state without the half of its machines
// would give a MAC to the wrong one. What is damaged is set aside under another name, for people to look at.
func (s *Snapshot) Load() (*boot.State, [][]byte, error) {
	for _, f := range []struct {
		name   string
		decode func([]byte) (known, error)
	}{{fileName, decode}, {earlierName, decodeJSON}} {
		path := filepath.Join(s.dir, f.name)
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, nil, fmt.Errorf("cannot read the snapshot: %w", err)
		}
		k, err := f.decode(b)
		if err == nil {
			s.last, s.loaded = k, k.id
			return k.state, k.keys, nil
		}
		if errors.Is(err, errFormat) {
			return nil, nil, err
		}
		aside := path + ".damaged"
		if moved := os.Rename(path, aside); moved != nil {
			return nil, nil, errors.Join(fmt.Errorf("the snapshot %q is damaged: %w", path, err), moved)
		}
		return nil, nil, fmt.Errorf("the snapshot is damaged, and set aside as %q: %w", aside, err)
	}
	return nil, nil, nil
}

// Offer hands over a newer state, which Run writes soon. It never blocks.
func (s *Snapshot) Offer(st *boot.State, keys [][]byte) {
	s.next.Store(&offer{st, keys})
	s.poke()
}

// poke wakes Run.
func (s *Snapshot) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Run writes what is offered, at most once a second, and a last time when ctx ends. A change is served before it's written: the first one is
// written at once, a later one in a second, lest both want the processor.
func (s *Snapshot) Run(ctx context.Context, log *slog.Logger) error {
	for first := true; ; first = false {
		select {
		case <-ctx.Done():
			s.flush(log)
			return nil
		case <-s.wake:
		}
		if !first {
			select {
			case <-ctx.Done():
			case <-time.After(calm):
			}
		}
		began := time.Now()
		s.flush(log)
		select {
		case <-ctx.Done():
		case <-time.After(max(calm, rest*time.Since(began))):
		}
	}
}

// flush writes what waits. What lies beside a state comes after it: where that state is the newest no longer, so is what is beside it.
func (s *Snapshot) flush(log *slog.Logger) {
	beside := s.beside.Swap(nil)
	if o := s.next.Swap(nil); o != nil {
		if err := s.save(o.state, o.keys); err != nil {
			log.Warn("the snapshot can't be written; a restart while the API is away would serve an older one", "error", err.Error())
		}
	}
	if beside == nil || beside.state != s.last.state || s.last.id == "" {
		return
	}
	if err := s.saveBeside(beside.text); err != nil {
		log.Warn("what lies beside the snapshot can't be written; a restart takes longer", "error", err.Error())
	}
}

// save puts a state in the place of the one before: after a power cut it's one of the two.
func (s *Snapshot) save(st *boot.State, keys [][]byte) error {
	s.last = known{} // Whichever of the two it is, should this fail.
	id, err := newID()
	if err == nil {
		err = durable.Replace(filepath.Join(s.dir, fileName), func(f *os.File) error { return encode(f, st, keys, id) })
	}
	if err != nil {
		return fmt.Errorf("cannot write the snapshot: %w", err)
	}
	s.last = known{state: st, id: id}
	if err := os.Remove(filepath.Join(s.dir, earlierName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot remove the snapshot of an earlier program: %w", err)
	}
	return nil
}
