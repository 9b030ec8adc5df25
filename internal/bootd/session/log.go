package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/durable"
)

// entry is one line of the log.
type entry struct {
	Consumption boot.Consumption `json:"consumption"`
	// Withdrawn takes a line back: the API refused the consumption, for certain, and no byte was served.
	Withdrawn bool `json:"withdrawn,omitempty"`
	// Delivered says of a consumption that stands already: its kernel, which destroys by itself, went out.
	Delivered bool `json:"delivered,omitempty"`
}

// A Log remembers, on this machine's own disk, what was consumed. Each line is on the disk before the
// API hears of it. It's what stands between a restored etcd and a second install.
type Log struct {
	mu      sync.Mutex
	file    *os.File
	path    string
	size    int64
	lines   int
	torn    bool // What is behind size may be half a line.
	byEntry map[string][]boot.Consumption
	// byHost names the entries that used a grant for a machine that's named by its MACs.
	byHost map[string][]string
	// delivered are those whose kernel went out.
	delivered map[use]bool
	// unreadable says why nothing can be logged; nil where it can.
	unreadable error
}

// use is one boot's use of a grant.
type use struct{ grant, nonce string }

func useOf(c boot.Consumption) use { return use{c.GrantID, c.Nonce} }

// OpenLog reads a log, or begins one. A last line that was cut off by a crash is dropped: the API wasn't
// told of it yet. A line that can't be read anywhere else is an error: something was consumed there, and
// going on would forget what.
func OpenLog(path string) (*Log, error) {
	l := &Log{path: path, byEntry: map[string][]boot.Consumption{}, byHost: map[string][]string{}, delivered: map[use]bool{}}
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("cannot read the log of consumed grants: %w", err)
	}
	good, err := l.parse(b)
	if err != nil {
		return nil, err
	}
	if l.file, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, fmt.Errorf("cannot open the log of consumed grants: %w", err)
	}
	if err := errors.Join(l.file.Truncate(good), seekEnd(l.file), l.file.Sync(), durable.Sync(filepath.Dir(path))); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot prepare the log of consumed grants %q: %w", path, err), l.file.Close())
	}
	l.size = good
	if l.wasteful() {
		if err := l.compact(); err != nil {
			return nil, errors.Join(err, l.file.Close())
		}
	}
	return l, nil
}

// Unreadable is the log of a bootd that can't read its own: nothing is added to it, so that nothing is consumed. It's for one that goes
// on serving addresses and boots from disk.
func Unreadable(why error) *Log {
	return &Log{byEntry: map[string][]boot.Consumption{}, byHost: map[string][]string{}, delivered: map[use]bool{}, unreadable: why}
}

// parse takes in all whole lines, and returns where they end.
func (l *Log) parse(b []byte) (int64, error) {
	end := 0
	for n := 1; ; n++ {
		i := bytes.IndexByte(b[end:], '\n')
		if i < 0 {
			return int64(end), nil
		}
		var e entry
		if err := json.Unmarshal(b[end:end+i], &e); err != nil || e.Consumption.GrantID == "" { //nolint:musttag // The domain's own names are the format.
			return 0, fmt.Errorf("line %d of the log of consumed grants %q is damaged; "+
				"what was consumed there is unknown: compare with the logs of other bootds, or without a cluster with .bootd/granted beside the specs, then remove the line, and start bootd anew", n, l.path)
		}
		l.take(e)
		l.lines++
		end += i + 1
	}
}

func (l *Log) take(e entry) {
	uid := e.Consumption.EntryUID
	if e.Withdrawn {
		l.byEntry[uid] = slices.DeleteFunc(l.byEntry[uid], func(c boot.Consumption) bool { return same(c, e.Consumption) })
		return
	}
	if e.Delivered {
		l.delivered[useOf(e.Consumption)] = true
		return
	}
	l.byEntry[uid] = append(l.byEntry[uid], e.Consumption)
	if h := e.Consumption.HostUID; boot.NamedByMACs(h) && !slices.Contains(l.byHost[h], uid) {
		l.byHost[h] = append(l.byHost[h], uid)
	}
}

func same(a, b boot.Consumption) bool { return useOf(a) == useOf(b) }

// For gives what is known of an entry, the newest last. The slice must not be changed.
func (l *Log) For(entryUID string) []boot.Consumption {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clip(slices.Clone(l.byEntry[entryUID]))
}

// OfMachine gives what is known of a machine that's named by its MACs by any of its entries, as that of the one which asks: an entry that was
// deleted and made anew, or under another name, is another object, and the machine and what it holds are the same.
func (l *Log) OfMachine(entryUID, hostUID string) []boot.Consumption {
	known := l.For(entryUID)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, uid := range l.byHost[hostUID] {
		if uid == entryUID {
			continue
		}
		for _, c := range l.byEntry[uid] {
			if c.HostUID == hostUID {
				c.EntryUID = entryUID
				known = append(known, c)
			}
		}
	}
	return known
}

// Add puts a consumption onto the disk, unless it's there. It returns only when it would survive a power cut.
func (l *Log) Add(c boot.Consumption) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if slices.ContainsFunc(l.byEntry[c.EntryUID], func(x boot.Consumption) bool { return same(c, x) }) {
		return nil
	}
	return l.append(entry{Consumption: c})
}

// Withdraw takes back what Add wrote for a consumption that certainly never reached the API.
func (l *Log) Withdraw(c boot.Consumption) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.append(entry{Consumption: c, Withdrawn: true})
}

// Deliver puts onto the disk that the kernel of a consumption went out, unless it's there.
func (l *Log) Deliver(c boot.Consumption) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.delivered[useOf(c)] {
		return nil
	}
	return l.append(entry{Consumption: c, Delivered: true})
}

// Delivered says whether the kernel of a consumption went out, as far as this log knows.
func (l *Log) Delivered(c boot.Consumption) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.delivered[useOf(c)]
}

func (l *Log) append(e entry) error {
	if l.unreadable != nil {
		return l.unreadable
	}
	b, err := json.Marshal(e) //nolint:musttag // As above.
	if err != nil {
		return fmt.Errorf("cannot encode a consumption: %w", err)
	}
	b = append(b, '\n')
	if err := l.mend(); err != nil {
		return err
	}
	_, err = l.file.Write(b)
	if err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		l.torn = true
		return errors.Join(fmt.Errorf("cannot log a consumption: %w", err), l.mend())
	}
	l.size += int64(len(b))
	l.lines++
	l.take(e)
	return nil
}

// mend takes back a half-written line, which would damage the next one. As long as it can't nothing more is logged.
func (l *Log) mend() error {
	if !l.torn {
		return nil
	}
	if err := errors.Join(l.file.Truncate(l.size), seekEnd(l.file)); err != nil {
		return fmt.Errorf("cannot take back a half-written line of the log of consumed grants: %w", err)
	}
	l.torn = false
	return nil
}

// compactAt is how many lines more than needed are left in peace.
const compactAt = 256

func (l *Log) wasteful() bool { return l.lines > 2*(len(l.byEntry)+len(l.delivered))+compactAt }

// compact writes the log anew with what still matters: of one entry and host the highest generation
// stands for all below it, by the rule of covers.
func (l *Log) compact() error {
	var b bytes.Buffer
	keep := map[string][]boot.Consumption{}
	lines := 0
	for uid, cs := range l.byEntry {
		for i, c := range cs {
			if slices.ContainsFunc(cs[i+1:], func(x boot.Consumption) bool {
				return x.HostUID == c.HostUID && x.Generation >= c.Generation
			}) {
				continue
			}
			n, err := l.rewrite(&b, c)
			if err != nil {
				return err
			}
			keep[uid] = append(keep[uid], c)
			lines += n
		}
	}
	size := int64(b.Len())
	f, err := durable.Open(l.path, func(f *os.File) error {
		_, err := b.WriteTo(f)
		return err
	})
	if err != nil {
		return fmt.Errorf("cannot compact the log of consumed grants: %w", err)
	}
	_ = l.file.Close() // The old file; nothing is waiting to be written to it.
	l.file, l.byEntry, l.size, l.lines = f, keep, size, lines
	return nil
}

// rewrite writes what is known of a consumption, and returns how many lines that takes.
func (l *Log) rewrite(b *bytes.Buffer, c boot.Consumption) (lines int, err error) {
	es := []entry{{Consumption: c}}
	if l.delivered[useOf(c)] {
		es = append(es, entry{Consumption: c, Delivered: true})
	}
	for _, e := range es {
		line, err := json.Marshal(e) //nolint:musttag // As above.
		if err != nil {
			return 0, fmt.Errorf("cannot encode a consumption: %w", err)
		}
		b.Write(append(line, '\n'))
	}
	return len(es), nil
}

// Close the log.
func (l *Log) Close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

func seekEnd(f *os.File) error {
	_, err := f.Seek(0, io.SeekEnd)
	return err
}
