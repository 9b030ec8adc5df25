package specdir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/durable"
)

// A grantLine is the memory of a grant, as a cluster's entry and host have it in an annotation.
type grantLine struct {
	Entry      string     `json:"entry"`
	EntryUID   string     `json:"entryUID"`
	HostUID    string     `json:"hostUID"`
	MACs       []boot.MAC `json:"macs"`
	Generation int64      `json:"generation"`
	GrantID    string     `json:"grantID"`
	SessionUID string     `json:"sessionUID"`
	// Issuing stands in the state folder's record until the grant is in its session.
	Issuing bool      `json:"issuing,omitempty"`
	At      time.Time `json:"at"`
}

// An installLine is the memory of an install.
type installLine struct {
	Entry      string     `json:"entry"`
	EntryUID   string     `json:"entryUID"`
	HostUID    string     `json:"hostUID"`
	MACs       []boot.MAC `json:"macs"`
	Generation int64      `json:"generation"`
	PlanDigest string     `json:"planDigest"`
	Serial     string     `json:"serial,omitempty"`
	At         time.Time  `json:"at"`
}

// A line of a journal: exactly one of its fields is set.
type line struct {
	Granted   *grantLine   `json:"granted,omitempty"`
	Installed *installLine `json:"installed,omitempty"`
	// Consumed comes before the first byte that it allows.
	Consumed  *boot.Consumption `json:"consumed,omitempty"`
	Elsewhere *elsewhereLine    `json:"elsewhere,omitempty"`
}

// newest is the last line that touches a machine, with its number.
type newest[T any] struct {
	number int
	line   *T
}

// A journal is one of the two places where grants are remembered: a file of JSON lines, which only grows. Each is on the disk before
// anything follows from it.
type journal struct {
	path string

	mu    sync.Mutex
	file  *os.File // Nil where it can't be written.
	size  int64
	lines int
	// followed counts how often it was read anew.
	followed int
	stamp    stamp

	granted   map[machineKey]newest[grantLine] // By entry UID, and by MAC.
	installed map[machineKey]newest[installLine]
	consumed  []boot.Consumption
	used      map[usedBy]bool // of those
	elsewhere map[machineKey][]string
}

// usedBy is who used a grant.
type usedBy struct{ entryUID, hostUID string }

// stamp tells a file from another, and from itself after somebody else's write.
type stamp struct {
	size          int64
	changed       time.Time // Its inode was; zero where that isn't asked for.
	modified      time.Time
	device, inode uint64
}

var errDamaged = errors.New("damaged")

// readJournal reads a journal that may not be there. A last line that was cut off by a crash is dropped: nothing followed from it.
// Any other that can't be read is errDamaged: what was granted there isn't known.
func readJournal(path string) (*journal, error) {
	j := &journal{path: path, granted: map[machineKey]newest[grantLine]{}, installed: map[machineKey]newest[installLine]{}, used: map[usedBy]bool{}, elsewhere: map[machineKey][]string{}}
	j.stamp = stampOf(path)
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("cannot read the record of grants: %w", err)
	}
	for rest := b; ; {
		row, after, whole := bytes.Cut(rest, []byte("\n"))
		if !whole {
			break
		}
		var l line
		if err := json.Unmarshal(row, &l); err != nil || !l.take(j) { //nolint:musttag // The domain's own names are the format.
			return nil, fmt.Errorf("line %d of the record of grants %q is %w; what was granted there is unknown: restore the file, or remove the line if you know that it meant no machine that must be kept",
				j.lines+1, path, errDamaged)
		}
		j.size += int64(len(row) + 1)
		rest = after
	}
	return j, nil
}

// take takes a line in; false where it says nothing.
func (l line) take(j *journal) bool {
	number := j.lines + 1
	switch {
	case l.Granted != nil && l.Granted.EntryUID != "":
		for k := range keys(l.Granted.EntryUID, l.Granted.MACs) {
			j.granted[k] = newest[grantLine]{number, l.Granted}
		}
	case l.Installed != nil && l.Installed.EntryUID != "":
		for k := range keys(l.Installed.EntryUID, l.Installed.MACs) {
			j.installed[k] = newest[installLine]{number, l.Installed}
		}
	case l.Consumed != nil && l.Consumed.GrantID != "":
		j.consumed = append(j.consumed, *l.Consumed)
		j.used[usedBy{l.Consumed.EntryUID, l.Consumed.HostUID}] = true
	case l.Elsewhere != nil && l.Elsewhere.EntryUID != "" && (l.Elsewhere.Ended || l.Elsewhere.Server != ""):
		l.Elsewhere.take(j)
	default:
		return false
	}
	j.lines = number
	return true
}

// A machineKey is an entry's UID, or a MAC.
type machineKey struct {
	mac  bool
	text string
}

// keys that a machine is found by: whatever its entry is called now, and whichever NIC is named. They're asked for all machines again and again.
func keys(entryUID string, macs []boot.MAC) iter.Seq[machineKey] {
	return func(yield func(machineKey) bool) {
		if !yield(machineKey{text: entryUID}) {
			return
		}
		for _, m := range macs {
			if !yield(machineKey{mac: true, text: string(m)}) {
				return
			}
		}
	}
}

// open makes a journal one that can be written.
func (j *journal) open() error {
	if err := os.MkdirAll(filepath.Dir(j.path), 0o700); err != nil {
		return fmt.Errorf("cannot make the folder of the record of grants: %w", err)
	}
	f, err := os.OpenFile(j.path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("cannot open the record of grants: %w", err)
	}
	if err := errors.Join(f.Truncate(j.size), f.Sync(), durable.Sync(filepath.Dir(j.path)), durable.Sync(filepath.Dir(filepath.Dir(j.path)))); err != nil {
		return errors.Join(fmt.Errorf("cannot prepare the record of grants %q: %w", j.path, err), f.Close())
	}
	j.file = f
	j.stamped()
	return nil
}

// stamped notes what the file looks like after our own write: by its descriptor, and as long as we wrote it. Where another file stands
// in its place by now, or somebody else has written, too, the path looks different.
func (j *journal) stamped() {
	j.stamp = stamp{size: -1}
	if i, err := j.file.Stat(); err == nil {
		j.stamp = stampIn(i)
		j.stamp.size = j.size
	}
}

// append puts a line onto the disk. It returns only when that would survive a power cut.
func (j *journal) append(l line) error {
	b, err := json.Marshal(l) //nolint:musttag // As above.
	if err != nil {
		return fmt.Errorf("cannot encode a record of a grant: %w", err)
	}
	b = append(b, '\n')
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return fmt.Errorf("the record of grants %q can't be written", j.path)
	}
	if j.stamp != stampOf(j.path) {
		return fmt.Errorf("somebody else wrote the record of grants %q", j.path)
	}
	_, err = j.file.WriteAt(b, j.size)
	if err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		err = errors.Join(fmt.Errorf("cannot write the record of grants %q: %w", j.path, err), j.file.Truncate(j.size))
		j.stamped()
		return err
	}
	j.size += int64(len(b))
	j.stamped()
	l.take(j)
	return nil
}

// edited says whether somebody else changed the journal since it was read or written: put it back, or took it away.
func (j *journal) edited() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.file != nil && j.stamp != stampOf(j.path)
}

// away says that the journal isn't where it was.
func (j *journal) away() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.file != nil && stampOf(j.path).size < 0
}

// follow takes in what another bootd has written since. What is known is never forgotten for a file that is gone or shorter, nor for one
// that can't be read.
func (j *journal) follow() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	now := stampOf(j.path)
	if now == j.stamp || now.size < j.size {
		return nil
	}
	j.stamp = now
	n, err := readJournal(j.path)
	if err != nil {
		return err
	}
	if n.lines >= j.lines {
		j.followed++
		j.size, j.lines, j.granted, j.installed, j.consumed, j.used, j.elsewhere = n.size, n.lines, n.granted, n.installed, n.consumed, n.used, n.elsewhere
	}
	return nil
}

// knows says whether a consumption is there already.
func (j *journal) knows(c boot.Consumption) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.ContainsFunc(j.consumed, func(x boot.Consumption) bool { return x.GrantID == c.GrantID && x.Nonce == c.Nonce })
}

// count grows with each line, and whenever the journal was read anew.
func (j *journal) count() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.lines + j.followed
}

func (j *journal) close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file != nil {
		_ = j.file.Close()
		j.file = nil
	}
}

func stampOf(path string) stamp {
	i, err := os.Stat(path)
	if err != nil {
		return stamp{size: -1}
	}
	return stampIn(i)
}

func stampIn(i os.FileInfo) stamp {
	s := stamp{size: i.Size(), modified: i.ModTime()}
	if x, ok := i.Sys().(*syscall.Stat_t); ok {
		s.device, s.inode = x.Dev, x.Ino
	}
	return s
}
