package redfish

import (
	"context"
	"time"
)

const (
	// maxRemembered bounds what is remembered of one machine: half a KB each, and
	// there may be thousands of machines.
	maxRemembered = 100
	// rememberedFor is how long a BMC is believed that nothing has changed. Some
	// never make another ETag.
	rememberedFor = 24 * time.Hour
)

// A Memory is what a BMC said of a machine last time, as far as it named ETags:
// what has still the same one isn't sent again. The zero value is empty. Not
// safe for concurrent use.
type Memory struct {
	since  time.Time
	before map[string]remembered
	now    map[string]remembered
}

// remembered is a resource that was read, as it was decoded.
type remembered struct {
	etag string
	v    any
}

// turn makes what was read last what is known, unless that is too long ago.
func (m *Memory) turn(now time.Time) {
	if m == nil {
		return
	}
	if len(m.now) > 0 {
		m.before = m.now
	}
	if now.Sub(m.since) > rememberedFor {
		m.since, m.before = now, nil
	}
	m.now = map[string]remembered{}
}

// settle gives up what was known before: all that is still true was read again.
func (m *Memory) settle() {
	if m != nil {
		m.before = nil
	}
}

// last is what a task's resource was last time, if that is known.
func (m *Memory) last(t task) remembered {
	if m == nil {
		return remembered{}
	}
	if r := m.before[t.uri]; r.v != nil && t.fits(r.v) {
		return r
	}

	return remembered{}
}

// keep remembers a resource for the next time.
func (m *Memory) keep(t task, r remembered) {
	if m != nil && r.etag != "" && t.fits(r.v) && len(m.now) < maxRemembered {
		m.now[t.uri] = r
	}
}

// getUnless reads a resource, unless it has the ETag that is known.
func (c *Client) getUnless(ctx context.Context, path, etag string) (answer, error) {
	c.known = etag
	defer func() { c.known = "" }()

	return c.get(ctx, path, nil)
}
