package netbox

import (
	"fmt"
	"io"
)

// A reading is what a list takes for as long as it's read. It isn't safe for concurrent use.
type reading struct {
	k      call
	l      *lodger
	weight int64
	// body is what of it is the page's that is read or decoded just now.
	body int64
}

// weigh has a call's answer be read as a list's is, though it's but one: it may be as large as one. end is to be called when it's over.
func (c *Client) weigh(k *call) (end func()) {
	in := &reading{k: *k, l: c.room}
	k.in, k.most = in, maxBody
	return in.end
}

// add takes so many bytes more, unless there's no room for them: the list is too large then, or there's none just now.
func (r *reading) add(n int64) error {
	l := r.l
	if n > 0 && r.weight+n > l.limits.List {
		return r.k.failed(KindUnexpected, fmt.Sprintf("its list takes more than %d MiB of memory", l.limits.List>>20), nil)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.part()
	defer l.leave(p)
	if n > 0 && (p.lists+n > l.limits.List || l.limits.Lists > 0 && l.lists+n > l.limits.Lists) {
		return r.k.failed(KindUnreachable, "there's no memory for its list beside others that are read just now", nil)
	}
	p.lists, l.lists, r.weight = p.lists+n, l.lists+n, r.weight+n
	return nil
}

// page has the page that is read or decoded just now count by so many bytes, of which it has no more than are counted.
func (r *reading) page(n int64) {
	_ = r.add(n - r.body)
	r.body = n
}

// end gives all of it back.
func (r *reading) end() { _ = r.add(-r.weight) }

// bodyStep is how much of a body is counted at once.
const bodyStep = 64 << 10

// A counted is a body that counts as it comes, before there's memory for it: who sends all but the last byte, and waits with that, has taken what he
// has sent.
type counted struct {
	io.Reader

	in *reading
	// left is what is counted and hasn't come.
	left int
}

// Read returns a *Error where there's no room for more.
func (c *counted) Read(p []byte) (int, error) {
	if c.left == 0 {
		if err := c.in.add(bodyStep); err != nil {
			return 0, err
		}
		c.left = bodyStep
		c.in.body += bodyStep
	}
	n, err := c.Reader.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}

// sizeOf words so many bytes.
func sizeOf(n int) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}
