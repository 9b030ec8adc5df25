package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/durable"
)

// Files are the sessions of a bootd without an API: a folder with one JSON file for each. Each is replaced as a whole and is on the
// disk before a write returns; revisions are integers of the folder's own, so that a Store's compare-and-swap means what it does in
// a cluster. Both halves of a session, the grants' and bootd's, are written here, each by a method of its own.
type Files struct {
	dir      string
	consumed func(boot.Consumption) error
	changed  func()
	// writing lets one write at a time at each session. A disk takes its time, and nobody who only reads waits for it.
	writing locks

	mu      sync.Mutex
	records map[boot.Name]Record
	// last is the newest revision that was given out, writes counts what was written.
	last, writes uint64
}

// OpenFiles reads a folder of sessions, and makes it where there's none. A file that can't be read is renamed to *.damaged and named
// in the second result: its machine has no session then, which holds it. consumed is called with each new consumption before it's
// written, and an error of it stops the write; changed after each write.
func OpenFiles(dir string, consumed func(boot.Consumption) error, changed func()) (*Files, []error, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, fmt.Errorf("cannot make the folder of sessions: %w", err)
	}
	f := &Files{
		dir: dir, consumed: consumed, changed: changed, records: map[boot.Name]Record{}, writing: locks{held: map[boot.Name]chan struct{}{}},
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot list the folder of sessions: %w", err)
	}
	var damaged []error
	for _, e := range list {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		if err := f.read(e.Name()); err != nil {
			damaged = append(damaged, err)
		}
	}
	return f, damaged, nil
}

func (f *Files) read(name string) error {
	path := filepath.Join(f.dir, name)
	b, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("cannot read the session in %q: %w", path, err)
	}
	var r Record
	err = json.Unmarshal(b, &r) //nolint:musttag // The domain's own names are the format.
	if err == nil && (f.file(r.Name) != name || r.Session.UID == "" || Revision(r.Session.Revision) == 0) {
		err = errors.New("it's no session, or another one's")
	}
	if err != nil {
		return errors.Join(fmt.Errorf("the session in %q is damaged, and set aside: %w", path, err), os.Rename(path, path+".damaged"))
	}
	f.records[r.Name] = r
	f.last = max(f.last, Revision(r.Session.Revision))
	return nil
}

// file is the name of a session's file. Names of objects may be longer than those of files.
func (f *Files) file(n boot.Name) string {
	s := sha256.Sum256([]byte(n.String()))
	return hex.EncodeToString(s[:16]) + ".json"
}

// Get reads a session. ErrNotFound where it's missing.
func (f *Files) Get(_ context.Context, n boot.Name) (Record, error) {
	r, ok := f.Find(n)
	if !ok {
		return Record{}, ErrNotFound
	}
	return r, nil
}

// Find gives a session, where there's one.
func (f *Files) Find(n boot.Name) (Record, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r, ok := f.records[n]
	return r, ok
}

// All gives all sessions, in no order.
func (f *Files) All() []Record {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Collect(maps.Values(f.records))
}

// Has says whether there's a session.
func (f *Files) Has(n boot.Name) bool {
	_, ok := f.Find(n)
	return ok
}

// Len counts the sessions.
func (f *Files) Len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.records)
}

// Writes counts what was written since the folder was opened.
func (f *Files) Writes() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.writes
}

// Update writes bootd's half of a session, if it's still the one that was read.
func (f *Files) Update(ctx context.Context, r Record) (Record, error) {
	unlock, err := f.writing.lock(ctx, r.Name)
	if err != nil {
		return Record{}, err
	}
	defer unlock()
	return f.swap(r, func(old Record) Record {
		r.Session.Grant, r.Session.Revocation, r.Session.EntryUID = old.Session.Grant, old.Session.Revocation, old.Session.EntryUID
		return r
	})
}

// Grant writes the grants' half of a session, if it's still the one that was read; nil takes the grant out.
func (f *Files) Grant(r Record, g *boot.Grant) (Record, error) {
	unlock, _ := f.writing.take(nil, r.Name)
	defer unlock()
	return f.swap(r, func(old Record) Record {
		old.Session.Grant = g
		return old
	})
}

// Create makes a session. One that is there already is given instead, whichever entry it's of.
func (f *Files) Create(n boot.Name, entryUID, uid string) (Record, error) {
	unlock, _ := f.writing.take(nil, n)
	defer unlock()
	if r, ok := f.Find(n); ok {
		return r, nil
	}
	return f.write(Record{Name: n, Session: boot.Session{UID: uid, EntryUID: entryUID}})
}

// swap writes what becomes of a session, under its lock.
func (f *Files) swap(r Record, next func(old Record) Record) (Record, error) {
	old, ok := f.Find(r.Name)
	if !ok || old.Session.UID != r.Session.UID || old.Session.Revision != r.Session.Revision {
		return Record{}, ErrConflict
	}
	n := next(old)
	if c := n.Session.Consumed; c != nil && c != old.Session.Consumed {
		if err := f.consumed(*c); err != nil {
			return Record{}, err
		}
	}
	return f.write(n)
}

// write puts a record onto the disk, under a revision that no other has, nor one that failed: it may be there all the same. Whoever reads
// it before it's there has the one before.
func (f *Files) write(r Record) (Record, error) {
	f.mu.Lock()
	f.last++
	r.Session.Revision = strconv.FormatUint(f.last, 10)
	f.mu.Unlock()
	b, err := json.Marshal(r) //nolint:musttag // As above.
	if err != nil {
		return Record{}, fmt.Errorf("cannot encode the session of %s: %w", r.Name, err)
	}
	if err := durable.Write(filepath.Join(f.dir, f.file(r.Name)), append(b, '\n')); err != nil {
		return Record{}, fmt.Errorf("cannot write the session of %s: %w", r.Name, err)
	}
	f.mu.Lock()
	f.records[r.Name] = r
	f.writes++
	f.mu.Unlock()
	f.changed()
	return r, nil
}
