package artifacts

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// A Report says what a cache holds.
type Report struct {
	// Files that are whole, and Bytes of all that lies in the folder, with what is half there. Limit is what it may be.
	Files, Bytes, Limit int64
	// Digests of the whole files, and of those on their way, sorted.
	Digests, Fetching []string
	// Failed are those that are needed and can't be had, by digest.
	Failed []Failure
}

// A Failure says why a file can't be had: one word and one sentence.
type Failure struct{ Digest, Reason, Message string }

// Counts are what a cache did since it was opened.
type Counts struct{ Downloads, Failures, Resumed, Evictions, Damaged int64 }

// counts as they grow.
type counts struct{ downloads, failures, resumed, evictions, damaged atomic.Int64 }

// Counts says what the cache did.
func (c *Cache) Counts() Counts {
	n := &c.counts
	return Counts{n.downloads.Load(), n.failures.Load(), n.resumed.Load(), n.evictions.Load(), n.damaged.Load()}
}

// Report says what the cache holds, what is on its way, and what can't be had.
func (c *Cache) Report() Report {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := Report{Bytes: c.bytes, Limit: c.o.CacheBytes}
	packed := c.packedOnly()
	for name := range c.kept {
		if d := digestOf(name); fileOf(d) == name {
			r.Files++
			if !packed[d] {
				r.Digests = append(r.Digests, d)
			}
		}
	}
	for d := range c.flying {
		if c.kept[fileOf(d)] == nil || packed[d] { // Else it's read, not fetched.
			r.Fetching = append(r.Fetching, d)
		}
	}
	for d, x := range c.failures() {
		f := Failure{Digest: d, Reason: ReasonFetch, Message: x.err.Error()}
		if why, ok := x.err.(*Error); ok { //nolint:errorlint // It's made here, and not wrapped.
			f.Reason, f.Message = why.Reason, why.err.Error()
		}
		r.Failed = append(r.Failed, f)
	}
	slices.Sort(r.Digests)
	slices.Sort(r.Fetching)
	slices.SortFunc(r.Failed, func(a, b Failure) int { return strings.Compare(a.Digest, b.Digest) })
	return r
}

// packedOnly are the images that are there and of no use yet, since they're wanted unpacked. It needs mu.
func (c *Cache) packedOnly() map[string]bool {
	out := map[string]bool{}
	for a := range c.wanted {
		if a.Unpack && c.kept[nameOf(a)] == nil {
			out[a.Digest] = true
		}
	}
	return out
}

// failures are those of files that are needed, one a digest: of several URLs that of the file that's needed most, and of these the last one.
// It needs mu.
func (c *Cache) failures() map[string]failure {
	all := map[string]failure{}
	for a, x := range c.failed {
		if c.needed[a.Digest] == Unneeded {
			continue
		}
		if _, named := c.wanted[a]; c.wanted != nil && !named {
			continue // Somebody corrected the URL.
		}
		if y, ok := all[a.Digest]; !ok || x.level > y.level || x.level == y.level && x.at.After(y.at) {
			all[a.Digest] = x
		}
	}
	return all
}

// Run fetches what is wanted and couldn't be had, and writes down when files were last used, once a minute until ctx ends.
func (c *Cache) Run(ctx context.Context) error {
	defer c.note()
	t := time.NewTicker(aheadAgain)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
		c.note()
		c.start(failureFor) //nolint:contextcheck // A download outlives whoever asked for it.
	}
}
