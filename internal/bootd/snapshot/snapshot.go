// Package snapshot keeps the last known state on the disk, so that a bootd that is restarted while the
// API is away goes on serving leases and local boots.
package snapshot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

const (
	fileName = "snapshot.json"
	// format of the file; another one is ignored.
	format = 1
	// calm is the least time between two writes, and rest how many times as long as one took: the disk is the log's too.
	calm = time.Second
	rest = 4
)

// file is what's on the disk. It holds the keys of tokens too: without them iPXE couldn't be told where
// its script is. So it's readable by its owner only.
type file struct {
	Format   int            `json:"format"`
	Segments []boot.Segment `json:"segments"`
	Plans    []boot.Plan    `json:"plans"`
	Sessions []boot.Session `json:"sessions"`
	Keys     [][]byte       `json:"keys"`
}

// offer is a state that may be written. Most never are, since the next one comes first.
type offer struct {
	state *boot.State
	keys  [][]byte
}

// A Snapshot is a file in bootd's state folder.
type Snapshot struct {
	path string
	next atomic.Pointer[offer]
	wake chan struct{}
}

// In gives the snapshot of a folder.
func In(dir string) *Snapshot {
	return &Snapshot{path: filepath.Join(dir, fileName), wake: make(chan struct{}, 1)}
}

// Load reads what was saved last; a nil state where nothing was.
func (s *Snapshot) Load() (*boot.State, [][]byte, error) {
	b, err := os.ReadFile(s.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("cannot read the snapshot: %w", err)
	}
	return decode(b)
}

func decode(b []byte) (*boot.State, [][]byte, error) {
	f := file{}
	if err := json.Unmarshal(b, &f); err != nil { //nolint:musttag // The domain's own names are the format.
		return nil, nil, fmt.Errorf("cannot decode the snapshot: %w", err)
	}
	if f.Format != format {
		return nil, nil, fmt.Errorf("the snapshot has format %d, this program reads format %d", f.Format, format)
	}
	return boot.NewState(f.Segments, f.Plans, f.Sessions), f.Keys, nil
}

func encode(st *boot.State, keys [][]byte) *file {
	f := &file{Format: format, Segments: st.Segments, Sessions: slices.Collect(maps.Values(st.Sessions)), Keys: keys}
	for _, p := range st.Plans() {
		f.Plans = append(f.Plans, *p)
	}
	return f
}

// Offer hands over a newer state, which Run writes soon. It never blocks.
func (s *Snapshot) Offer(st *boot.State, keys [][]byte) {
	s.next.Store(&offer{st, keys})
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Run writes what is offered, at most once a second, and a last time when ctx ends.
func (s *Snapshot) Run(ctx context.Context, log *slog.Logger) error {
	for {
		select {
		case <-ctx.Done():
			s.flush(log)
			return nil
		case <-s.wake:
		}
		began := time.Now()
		s.flush(log)
		select {
		case <-ctx.Done():
		case <-time.After(max(calm, rest*time.Since(began))):
		}
	}
}

func (s *Snapshot) flush(log *slog.Logger) {
	o := s.next.Swap(nil)
	if o == nil {
		return
	}
	if err := s.save(encode(o.state, o.keys)); err != nil {
		log.Warn("the snapshot can't be written; a restart while the API is away would serve an older one", "error", err.Error())
	}
}

func (s *Snapshot) save(f *file) error {
	b, err := json.Marshal(f) //nolint:musttag // As above.
	if err != nil {
		return fmt.Errorf("cannot encode the snapshot: %w", err)
	}
	tmp := s.path + ".new"
	if err := write(tmp, b); err != nil {
		return fmt.Errorf("cannot write the snapshot: %w", err)
	}
	if err := os.Rename(tmp, s.path); err != nil {
		return fmt.Errorf("cannot write the snapshot: %w", err)
	}
	return nil
}

func write(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Sync(), f.Close())
}
