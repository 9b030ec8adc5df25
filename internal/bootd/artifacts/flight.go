package artifacts

import (
	"context"
	"errors"
	"maps"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// flight is one download, or the reading of a file that lay there when bootd started.
type flight struct {
	// half is the name of what it writes. unpacks says that it unpacks an image, whose own download is another flight.
	half    string
	unpacks bool
	// cancel ends it: the file came from another URL.
	cancel context.CancelFunc
	done   chan struct{}
	err    error
	// level that it's wanted at; it only rises, under the cache's mu. hurry is closed once a machine waits for it.
	level Level
	hurry chan struct{}
}

// failure is remembered for a while, so that machines which ask again and again don't hammer somebody's server.
type failure struct {
	level Level
	err   error
	at    time.Time
}

// begin joins or starts a download; nil where it's there already, or failed a moment ago.
func (c *Cache) begin(a boot.Artifact, level Level) *flight {
	patience := failureFor
	if level < Soon {
		patience = aheadAgain
	}
	return c.beginAfter(a, level, patience)
}

// beginAfter is begin for who doesn't try again what failed less than patience ago.
func (c *Cache) beginAfter(a boot.Artifact, level Level, patience time.Duration) *flight {
	if c.has(a) {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if f, ok := c.flying[a.Digest][flightKey(a)]; ok {
		f.raise(level)
		return f
	}
	if c.failedLately(a, level, patience) {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	f := &flight{half: halfName(a), unpacks: a.Unpack, cancel: cancel, done: make(chan struct{}), hurry: make(chan struct{})}
	f.raise(level)
	if c.flying[a.Digest] == nil {
		c.flying[a.Digest] = map[string]*flight{}
	}
	c.flying[a.Digest][flightKey(a)] = f
	go c.fly(ctx, a, f)
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

// failedLately says whether a file's failure stands. One of a download that nobody waited for doesn't for a machine. A file that came whole and was
// another one stays so for longer than a server stays away: it isn't fetched as often as a hall of machines asks.
func (c *Cache) failedLately(a boot.Artifact, level Level, patience time.Duration) bool {
	x, ok := c.failed[a]
	stands := level <= x.level
	if wrong, is := errors.AsType[*wrongError](x.err); is && wrong.certain {
		patience, stands = max(patience, mismatchFor), true // It's as wrong for a machine.
	}
	return ok && stands && c.o.Now().Sub(x.at) < patience
}

func (c *Cache) fly(ctx context.Context, a boot.Artifact, f *flight) {
	defer f.cancel()
	began := c.o.Now()
	obtain := c.obtain
	if a.Unpack {
		obtain = c.unpacked
	}
	n, err := obtain(ctx, a, f)
	if err != nil && c.has(a) {
		n, err = overtaken, nil
	}
	c.land(a, f, err)
	took := c.o.Now().Sub(began).String()
	switch {
	case err != nil:
		c.counts.failures.Add(1)
		c.o.Logger.Warn("cannot fetch an artifact", "url", redacted(a.URL), "digest", a.Digest, "error", err.Error())
	case n == overtaken:
		c.o.Logger.Info("artifact came from another URL first", "url", redacted(a.URL), "digest", a.Digest, "took", took)
	case a.Unpack:
		c.o.Logger.Info("image unpacked", "digest", a.Digest, "raw", c.DigestOf(a), "bytes", n, "took", took)
	case n == found:
		c.o.Logger.Info("artifact found on the disk, and right", "digest", a.Digest, "took", took)
	default:
		c.counts.downloads.Add(1)
		c.o.Logger.Info("artifact fetched", "digest", a.Digest, "bytes", n, "took", took)
	}
	f.err = err
	close(f.done)
}

// land notes that a flight is over. Where the file is there, the flights from its other URLs are, too.
func (c *Cache) land(a boot.Artifact, f *flight, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.flying[a.Digest], flightKey(a))
	for _, other := range c.flying[a.Digest] {
		if err == nil && !other.unpacks {
			other.cancel()
		}
	}
	if len(c.flying[a.Digest]) == 0 {
		delete(c.flying, a.Digest)
	}
	if err != nil {
		if len(c.failed) >= maxFailed {
			clear(c.failed)
		}
		c.failed[a] = failure{level: f.level, err: err, at: c.o.Now()}
		return
	}
	maps.DeleteFunc(c.failed, func(x boot.Artifact, _ failure) bool { return x.Digest == a.Digest && x.Unpack == a.Unpack })
	c.tidy(a.Digest)
}

// tidy removes what other URLs gave of a file that is there now. It needs mu.
func (c *Cache) tidy(digest string) {
	for name := range c.kept {
		if !strings.HasSuffix(name, partial) || digestOf(name) != digest || c.isFlying(name) {
			continue
		}
		c.forget(name)
		if err := c.remove(name); err != nil {
			c.o.Logger.Warn("half a file that is there whole can't be removed", "file", name, "error", err.Error())
		}
	}
}

const (
	// found and overtaken stand for the size of a file that needn't have been fetched, and of one that another URL gave first.
	found     = -1
	overtaken = -2
)

// obtain makes sure that a file is there: as it lies on the disk, where that's right, else from its server. It gives its size, found or
// overtaken.
func (c *Cache) obtain(ctx context.Context, a boot.Artifact, f *flight) (int64, error) {
	if !digestPattern.MatchString(a.Digest) {
		return 0, &Error{Reason: ReasonDigest, Digest: a.Digest, err: ErrDigest}
	}
	if ok, err := c.find(a.Digest); ok || err != nil {
		return found, err
	}
	leave, ok := c.place(f, hostOf(a.URL), ctx.Done()) // Who waits here for a slow server keeps nobody else waiting.
	if !ok {
		return 0, &Error{Reason: ReasonFetching, Digest: a.Digest, err: ErrFetching}
	}
	defer leave()
	if c.Has(a.Digest) {
		return overtaken, nil
	}
	return c.fetch(ctx, a, f)
}

func (c *Cache) lastFailure(a boot.Artifact) error {
	if c.has(a) {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if x, ok := c.failed[a]; ok {
		return x.err
	}
	return nil
}
