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
	// slots bound the downloads that run at once.
	slots chan struct{}
	hosts hosts

	clearing sync.Mutex

	mu     sync.Mutex
	needed map[string]bool
	flying map[string]*flight
	failed map[string]failure
}

// flight is one download.
type flight struct {
	done chan struct{}
	err  error
}

// failure is remembered for a while, so that machines which ask again and again don't hammer somebody's server.
type failure struct {
	url string
	err error
	at  time.Time
}

const (
	// failureFor is how long a failure stands; then the next one who asks tries again.
	failureFor = 5 * time.Second
	downloads  = 16
	// perHost downloads run at once.
	perHost = 4
	// maxFailed failures are remembered.
	maxFailed = 1024
	// DefaultMaxBytes of one file.
	DefaultMaxBytes = 64 << 30
)

// Open makes a cache in a folder. What an earlier life left half done is removed.
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
	half, err := filepath.Glob(filepath.Join(o.Dir, "*"+partial))
	if err != nil {
		return nil, fmt.Errorf("cannot look into the artifact cache: %w", err)
	}
	for _, h := range half {
		if err := os.Remove(h); err != nil {
			return nil, fmt.Errorf("cannot clean the artifact cache: %w", err)
		}
	}
	return &Cache{
		o: o, http: o.Guard.client(), slots: make(chan struct{}, downloads),
		hosts: hosts{busy: map[string]*host{}}, flying: map[string]*flight{}, failed: map[string]failure{},
	}, nil
}

var digestPattern = regexp.MustCompile(`^(sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$`)

func (c *Cache) path(digest string) string {
	return filepath.Join(c.o.Dir, strings.Replace(digest, ":", "-", 1))
}

// Has says whether a file is there, its digest checked.
func (c *Cache) Has(digest string) bool {
	if !digestPattern.MatchString(digest) {
		return false
	}
	_, err := os.Stat(c.path(digest))
	return err == nil
}

// Open opens a file that is there. ErrFetching where it isn't.
func (c *Cache) Open(digest string) (*os.File, error) {
	if !digestPattern.MatchString(digest) {
		return nil, ErrDigest
	}
	f, err := os.Open(c.path(digest))
	if errors.Is(err, os.ErrNotExist) {
		return nil, ErrFetching
	}
	return f, err
}

// Start fetches a file in the background unless it's there, on its way, or has just failed.
func (c *Cache) Start(a boot.Artifact) { _ = c.begin(a) }

// Await fetches a file unless it's there, and waits for it as long as ctx lasts: then ErrFetching, and
// the download goes on. Its other errors are *Error.
func (c *Cache) Await(ctx context.Context, a boot.Artifact) error {
	if c.Has(a.Digest) {
		return nil
	}
	f := c.begin(a) //nolint:contextcheck // A download outlives the machine that asked first: others wait for it too.
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
func (c *Cache) begin(a boot.Artifact) *flight {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f, ok := c.flying[a.Digest]; ok {
		return f
	}
	if c.Has(a.Digest) {
		return nil
	}
	if x, ok := c.failed[a.Digest]; ok && x.url == a.URL && c.o.Now().Sub(x.at) < failureFor {
		return nil
	}
	f := &flight{done: make(chan struct{})}
	c.flying[a.Digest] = f
	go c.fly(a, f)
	return f
}

func (c *Cache) fly(a boot.Artifact, f *flight) {
	defer c.hosts.enter(hostOf(a.URL))() // Who waits here for a slow server keeps nobody else waiting.
	c.slots <- struct{}{}
	defer func() { <-c.slots }()
	began := c.o.Now()
	n, err := c.fetch(a)
	c.mu.Lock()
	delete(c.flying, a.Digest)
	if err != nil {
		if len(c.failed) >= maxFailed {
			clear(c.failed)
		}
		c.failed[a.Digest] = failure{url: a.URL, err: err, at: c.o.Now()}
	} else {
		delete(c.failed, a.Digest)
	}
	c.mu.Unlock()
	if err != nil {
		c.o.Logger.Warn("cannot fetch an artifact", "url", redacted(a.URL), "digest", a.Digest, "error", err.Error())
	} else {
		c.o.Logger.Info("artifact fetched", "digest", a.Digest, "bytes", n, "took", c.o.Now().Sub(began).String())
	}
	f.err = err
	close(f.done)
}

func (c *Cache) lastFailure(a boot.Artifact) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if x, ok := c.failed[a.Digest]; ok && !c.Has(a.Digest) {
		return x.err
	}
	return nil
}

// Holdings says how many files there are, how big they are together, and their digests.
func (c *Cache) Holdings() (files, bytes int64, digests []string) {
	list, err := os.ReadDir(c.o.Dir)
	if err != nil {
		return 0, 0, nil
	}
	for _, e := range list {
		d := strings.Replace(e.Name(), "-", ":", 1)
		i, err := e.Info()
		if err != nil || !digestPattern.MatchString(d) {
			continue
		}
		files, bytes, digests = files+1, bytes+i.Size(), append(digests, d)
	}
	return files, bytes, digests
}
