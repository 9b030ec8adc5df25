// Package artifacts keeps kernels, initrds and images on bootd's disk. A file is served only after its
// digest was found right, and fetched once from each URL however many machines want it.
package artifacts

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// Options of a Cache.
type Options struct {
	// Dir that the files are in. It's made.
	Dir string
	// Guard says where files may be fetched from.
	Guard Guard
	// MaxBytes of one file.
	MaxBytes int64
	// CacheBytes is what all files together may take; 0: half of the disk that Dir is on, or what lies there already where that's more.
	CacheBytes int64
	// Reserve is what must stay free on the disk; 0: DefaultReserve. Free says how much is, and Half what half of the disk is; nil: as the
	// system says.
	Reserve int64
	Free    func() (int64, error)
	Half    func() int64
	// PullSecret reads the passwords that an artifact's PullSecret names, a Docker config in JSON, anew for each download; nil: there are none.
	PullSecret func(ctx context.Context, name string) ([]byte, error)
	Now        func() time.Time
	Logger     *slog.Logger
}

// A Cache of files by digest.
type Cache struct {
	o    Options
	http *http.Client
	// soon bounds the downloads that machines wait for, ahead the others, and checks those that read the disk: a file once at a time.
	soon, ahead, checks *queue
	// unpacks bounds the images that are unpacked at once for machines, unpacksAhead the others.
	unpacks, unpacksAhead *queue
	// disks has one at a time write the disk of an image, by whatever URL it was fetched and whoever waits for it.
	disks  *queue
	counts counts

	clearing sync.Mutex

	mu sync.Mutex
	// needed says of a digest how soon; nil before anything is known of plans. wanted are the files that are fetched before anybody asks, and
	// halves the names of their half downloads.
	needed map[string]Level
	wanted map[boot.Artifact]Level
	halves map[string]bool
	// flying are the downloads by digest and source: each URL of a file, and each Secret that it's fetched by, has its own, so that nobody waits for a server that somebody else named.
	flying map[string]map[string]*flight
	failed map[boot.Artifact]failure
	// faults are what is wrong with the images themselves, by digest: these aren't read again.
	faults map[string]error
	// needs is, by digest, what a disk takes at least that there was no room for: it isn't begun again before there is.
	needs map[string]int64
	// kept are the files of the folder by their names, those that are half there among them, and bytes their sum.
	kept  map[string]*kept
	bytes int64
	// stale says that when files were used isn't written down yet.
	stale bool
}

const (
	// failureFor is how long a failure stands for machines, mismatchFor one by a wrong digest, and aheadAgain for what no machine waits for; then it's
	// tried again.
	failureFor  = 5 * time.Second
	mismatchFor = time.Minute
	aheadAgain  = time.Minute
	// downloads that machines wait for run at once, and perHost of them from one server; of the others aheads and perHostAhead.
	downloads    = 16
	perHost      = 4
	aheads       = 4
	perHostAhead = 2
	// turn is how long a download keeps its place among these; one that takes longer goes on beside them.
	turn = 2 * time.Minute
	// readers of what lies on the disk.
	readers = 4
	// unpacks of images that machines wait for run at once. It's a core's work, and DHCP has to be answered meanwhile.
	unpacks = 2
	// maxFailed failures are remembered.
	maxFailed = 1024
	// DefaultMaxBytes of one file.
	DefaultMaxBytes = 64 << 30
)

// Open makes a cache in a folder. What lies there is read before its first byte is served; a download that an earlier life left
// half done goes on where it ended, where that can be.
func Open(o Options) (*Cache, error) {
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	if o.Reserve <= 0 {
		o.Reserve = DefaultReserve
	}
	if o.Free == nil {
		o.Free = func() (int64, error) { return freeIn(o.Dir) }
	}
	if err := os.MkdirAll(o.Dir, 0o750); err != nil {
		return nil, fmt.Errorf("cannot make the artifact cache: %w", err)
	}
	if o.Half == nil {
		o.Half = func() int64 { return halfOf(o.Dir) }
	}
	c := &Cache{
		o: o, http: o.Guard.client(), soon: newQueue(downloads, perHost, turn), ahead: newQueue(aheads, perHostAhead, turn), checks: newQueue(readers, 1, 0),
		flying: map[string]map[string]*flight{}, failed: map[boot.Artifact]failure{}, kept: map[string]*kept{},
		unpacks: newQueue(unpacks, 1, 0), unpacksAhead: newQueue(1, 1, 0), disks: newQueue(unpacks+1, 1, 0), faults: map[string]error{}, needs: map[string]int64{},
	}
	if err := c.scan(); err != nil {
		return nil, err
	}
	c.bound()
	return c, nil
}

// bound makes half of the disk the limit where nobody said another. What lies there already is never above it: a bound that nobody chose
// throws nothing out.
func (c *Cache) bound() {
	if c.o.CacheBytes > 0 {
		return
	}
	c.o.CacheBytes = c.o.Half()
	if c.bytes > c.o.CacheBytes {
		c.o.Logger.Warn("the artifact cache holds more than half of its disk, and may stay as large as it is; --cache-bytes sets another bound",
			"bytes", c.bytes, "half", c.o.CacheBytes)
		c.o.CacheBytes = c.bytes
	}
}

var digestPattern = regexp.MustCompile(`^(sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$`)

// fileOf is the name of a digest's file.
func fileOf(digest string) string { return strings.Replace(digest, ":", "-", 1) }

// digestOf is the digest that a file of the cache has in its name; "" where it's none.
func digestOf(name string) string {
	name, _, _ = strings.Cut(name, ".")
	if d := strings.Replace(name, "-", ":", 1); digestPattern.MatchString(d) {
		return d
	}
	return ""
}

func (c *Cache) path(digest string) string { return filepath.Join(c.o.Dir, fileOf(digest)) }

// Has says whether a file is there, its digest checked since this process started, and not written to since.
func (c *Cache) Has(digest string) bool {
	return digestPattern.MatchString(digest) && c.there(fileOf(digest))
}

// has is Has of what is given for an artifact.
func (c *Cache) has(a boot.Artifact) bool {
	return digestPattern.MatchString(a.Digest) && c.there(nameOf(a))
}

func (c *Cache) there(name string) bool {
	i, err := os.Stat(filepath.Join(c.o.Dir, name))
	if err != nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.kept[name]
	return k != nil && k.good == markOf(i)
}

// Open opens what is given for an artifact that is there, for somebody to send: it stays while that lasts, and sent must be called after.
// ErrFetching where it isn't there, or what lies there isn't what was checked.
func (c *Cache) Open(a boot.Artifact) (f *os.File, sent func(), err error) {
	if !digestPattern.MatchString(a.Digest) {
		return nil, nil, ErrDigest
	}
	name := nameOf(a)
	f, err = opened(filepath.Join(c.o.Dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, ErrFetching
	}
	if err != nil {
		return nil, nil, err //nolint:wrapcheck // It says what failed.
	}
	if i, serr := f.Stat(); serr == nil {
		if sent, ok := c.send(name, markOf(i)); ok {
			return f, sent, nil
		}
	}
	_ = f.Close()
	return nil, nil, ErrFetching
}

// Start fetches a file in the background unless it's there, on its way, or has just failed.
func (c *Cache) Start(a boot.Artifact) { _ = c.begin(a, Soon) }

// Await fetches a file unless it's there, and waits for it as long as ctx lasts: then ErrFetching, and
// the download goes on. Its other errors are *Error.
func (c *Cache) Await(ctx context.Context, a boot.Artifact) error {
	if c.has(a) {
		return nil
	}
	f := c.begin(a, Soon) //nolint:contextcheck // A download outlives the machine that asked first: others wait for it too.
	if f == nil {
		return c.lastFailure(a)
	}
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
		return &Error{Reason: ReasonFetching, Digest: a.Digest, err: ErrFetching}
	}
}
