// Package artifacts keeps kernels, initrds and images on bootd's disk. A file is served only after its
// digest was found right, and fetched once however many machines want it.
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
	// CacheBytes is what all files together may take; 0: half of the disk that Dir is on.
	CacheBytes int64
	// Reserve is what must stay free on the disk; 0: DefaultReserve. Free says how much is; nil: as the system says.
	Reserve int64
	Free    func() (int64, error)
	Now     func() time.Time
	Logger  *slog.Logger
}

// A Cache of files by digest.
type Cache struct {
	o    Options
	http *http.Client
	// soon bounds the downloads that machines wait for, ahead the others, and checks those that read the disk.
	soon, ahead *queue
	checks      chan struct{}
	counts      counts

	clearing sync.Mutex

	mu sync.Mutex
	// needed says of a digest how soon; nil before anything is known of plans. wanted are the files that are fetched before anybody asks.
	needed map[string]Level
	wanted map[boot.Artifact]Level
	flying map[string]*flight
	failed map[string]failure
	// kept are the files of the folder by their names, those that are half there among them, and bytes their sum.
	kept  map[string]*kept
	bytes int64
	// stale says that when files were used isn't written down yet.
	stale bool
}

// flight is one download, or the reading of a file that lay there when bootd started.
type flight struct {
	done chan struct{}
	err  error
	// level that it's wanted at; it only rises, under the cache's mu. hurry is closed once a machine waits for it.
	level Level
	hurry chan struct{}
}

// failure is remembered for a while, so that machines which ask again and again don't hammer somebody's server.
type failure struct {
	url   string
	level Level
	err   error
	at    time.Time
}

const (
	// failureFor is how long a failure stands for machines, and aheadAgain for what no machine waits for; then it's tried again.
	failureFor = 5 * time.Second
	aheadAgain = time.Minute
	// downloads that machines wait for run at once, and perHost of them from one server; of the others aheads and perHostAhead.
	downloads    = 16
	perHost      = 4
	aheads       = 4
	perHostAhead = 2
	// readers of what lies on the disk.
	readers = 4
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
	if o.CacheBytes <= 0 {
		o.CacheBytes = halfOf(o.Dir)
	}
	c := &Cache{
		o: o, http: o.Guard.client(), soon: newQueue(downloads, perHost), ahead: newQueue(aheads, perHostAhead), checks: make(chan struct{}, readers),
		flying: map[string]*flight{}, failed: map[string]failure{}, kept: map[string]*kept{},
	}
	if err := c.scan(); err != nil {
		return nil, err
	}
	return c, nil
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
	if !digestPattern.MatchString(digest) {
		return false
	}
	i, err := os.Stat(c.path(digest))
	if err != nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.kept[fileOf(digest)]
	return k != nil && k.good == markOf(i)
}

// Open opens a file that is there, for somebody to send: it stays while that lasts, and sent must be called after. ErrFetching where it
// isn't there, or what lies there isn't what was checked.
func (c *Cache) Open(digest string) (f *os.File, sent func(), err error) {
	if !digestPattern.MatchString(digest) {
		return nil, nil, ErrDigest
	}
	f, err = os.Open(c.path(digest))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, ErrFetching
	}
	if err != nil {
		return nil, nil, err //nolint:wrapcheck // It says what failed.
	}
	if i, serr := f.Stat(); serr == nil {
		if sent, ok := c.send(fileOf(digest), markOf(i)); ok {
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
	if c.Has(a.Digest) {
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

// begin joins or starts a download; nil where it's there already, or failed a moment ago.
func (c *Cache) begin(a boot.Artifact, level Level) *flight {
	if c.Has(a.Digest) {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if f, ok := c.flying[a.Digest]; ok {
		f.raise(level)
		return f
	}
	if c.failedLately(a, level) {
		return nil
	}
	f := &flight{done: make(chan struct{}), hurry: make(chan struct{})}
	f.raise(level)
	c.flying[a.Digest] = f
	go c.fly(a, f)
	return f
}

func (f *flight) raise(level Level) {
	if level <= f.level {
		return
	}
	f.level = level
	if level == Soon {
		close(f.hurry)
	}
}

// failedLately says whether a file's failure stands. One of a download that nobody waited for doesn't for a machine.
func (c *Cache) failedLately(a boot.Artifact, level Level) bool {
	x, ok := c.failed[a.Digest]
	patience := failureFor
	if level < Soon {
		patience = aheadAgain
	}
	return ok && x.url == a.URL && level <= x.level && c.o.Now().Sub(x.at) < patience
}

func (c *Cache) fly(a boot.Artifact, f *flight) {
	began := c.o.Now()
	n, err := c.obtain(a, f)
	c.mu.Lock()
	delete(c.flying, a.Digest)
	if err != nil {
		if len(c.failed) >= maxFailed {
			clear(c.failed)
		}
		c.failed[a.Digest] = failure{url: a.URL, level: f.level, err: err, at: c.o.Now()}
	} else {
		delete(c.failed, a.Digest)
	}
	c.mu.Unlock()
	took := c.o.Now().Sub(began).String()
	switch {
	case err != nil:
		c.counts.failures.Add(1)
		c.o.Logger.Warn("cannot fetch an artifact", "url", redacted(a.URL), "digest", a.Digest, "error", err.Error())
	case n < 0:
		c.o.Logger.Info("artifact found on the disk, and right", "digest", a.Digest, "took", took)
	default:
		c.counts.downloads.Add(1)
		c.o.Logger.Info("artifact fetched", "digest", a.Digest, "bytes", n, "took", took)
	}
	f.err = err
	close(f.done)
}

// obtain makes sure that a file is there: as it lies on the disk, where that's right, else from its server. It gives its size, or -1
// where it was there.
func (c *Cache) obtain(a boot.Artifact, f *flight) (int64, error) {
	if !digestPattern.MatchString(a.Digest) {
		return 0, &Error{Reason: ReasonDigest, Digest: a.Digest, err: ErrDigest}
	}
	if c.Has(a.Digest) {
		return -1, nil
	}
	if ok, err := c.found(a.Digest); ok || err != nil {
		return -1, err
	}
	defer c.place(f, hostOf(a.URL))() // Who waits here for a slow server keeps nobody else waiting.
	return c.fetch(a, f)
}

func (c *Cache) lastFailure(a boot.Artifact) error {
	if c.Has(a.Digest) {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if x, ok := c.failed[a.Digest]; ok {
		return x.err
	}
	return nil
}
