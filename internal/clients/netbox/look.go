package netbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"runtime/debug"
	"strings"
	"syscall"
	"time"
)

const (
	// lookPage is the most that NetBox puts on a page, and leastPage the least that is asked for where such a one takes too long or fails.
	// lookPages ends a list that never ends.
	lookPage, leastPage = 1000, 100
	lookPages           = 1000
	// lookBody caps a page of so many records. What is on a larger one is read one by one.
	lookBody = 32 << 20
	// lookFields are what decodeIPAddress reads: leaving the rest out makes a page ten times as fast (950).
	lookFields = "id,url,display_url,address,vrf,tenant,status,role,dns_name,description,comments,tags,custom_fields," +
		"assigned_object_type,assigned_object_id,assigned_object,last_updated"
	// lookPatience is how long a look may take in all. Each of its requests has Config.Timeout.
	lookPatience = 10 * time.Minute
	// lookWait is how long somebody waits for a look who could read his one record by itself.
	lookWait = 5 * time.Second
)

// A PanicError is a fault of ours over what a NetBox answered.
type PanicError struct{ Stack string }

// Error is a sentence without anything of the answer.
func (e *PanicError) Error() string {
	return "the provider panicked; report it, with the stack in its log"
}

// Unfit says of an error that looks at all addresses don't help with this NetBox, and aren't tried for a while: each address is read by
// itself, and somebody should know why.
func Unfit(err error) bool {
	return IsInvalid(err) || IsNotFound(err) || IsMarkerField(err) || KindOf(err) == KindUnexpected
}

// Seen returns an address as it was at some moment of the last maxAge, or where looks take longer, since the last one began: as this connection
// has read or written it, or by one look at all addresses whose markers begin with Config.MarkersBegin, which is a request for a thousand of
// them instead of one for each. The look is nobody's own: it goes on where who asked for it doesn't wait any more, until it's done or the
// connection is closed. With a maxAge of 0 it's one that begins now. ok is false where only Get can tell: it isn't among them, the look takes long,
// or NetBox can't be asked so. What was seen so is enough to leave a record alone, and never to write to it.
func (c *Client) Seen(ctx context.Context, number int64, maxAge time.Duration) (ip IPAddress, ok bool, err error) {
	f, err := c.await(ctx, number, maxAge)
	return f.ip, f.ok, err
}

// Refresh looks at all addresses of ours together, unless that was done within maxAge, and returns those that somebody else changed or
// took away since it was last asked, by their numbers and by the markers that they have and had. An error that is Unfit isn't one of the moment.
func (c *Client) Refresh(ctx context.Context, maxAge time.Duration) ([]IPAddress, error) {
	f, err := c.await(ctx, 0, maxAge)
	if err == nil {
		err = f.why
	}
	return c.view.tell(), err
}

// Forget what is known of addresses: they are said to have changed, and couldn't be looked at. Whoever asks for one next reads it.
func (c *Client) Forget(numbers ...int64) {
	for _, n := range numbers {
		c.view.put(sighting{ip: IPAddress{ID: n}, gone: true})
	}
}

// await returns what is known as soon as that's good enough. Who asks for one record doesn't wait long for a look at all: a first one may take
// minutes, and meanwhile NetBox tells of the one at once. Of those who wait there are few, so what they ask for is no flood.
func (c *Client) await(ctx context.Context, number int64, maxAge time.Duration) (found, error) {
	if c.begins == "" {
		return found{}, nil
	}
	w := c.view.wish(number, maxAge)
	for {
		f, under, begins := c.view.answer(w)
		if under == nil {
			return f, f.err
		}
		if begins {
			go c.carryOut(ctx, under)
		}
		t := time.NewTimer(lookWait)
		select {
		case <-under.done:
		case <-t.C:
			if number != 0 && maxAge > 0 {
				return found{}, nil
			}
		case <-ctx.Done():
			t.Stop()
			return found{}, c.lookCall().failed(KindUnreachable, "no answer came in time", ctx.Err())
		}
		t.Stop()
	}
}

// carryOut makes a look, which outlives who asked for it.
func (c *Client) carryOut(ctx context.Context, l *looking) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.patience)
	defer cancel()
	defer context.AfterFunc(c.life, cancel)() //nolint:contextcheck // It ends with the connection, whoever asked.
	p, err := c.look(ctx, l)
	switch {
	case err == nil || errors.Is(err, errNoTurn):
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		err = c.lookCall().failed(KindUnexpected, fmt.Sprintf("all of them take more than the %s that a look may", c.patience), err)
	case ctx.Err() == nil && tooMuch(err):
		err = c.judgePage(ctx, l, err)
	}
	c.view.finish(l, p, err)
}

// judgePage finds out whether a page was too much, of a look that failed over one: only where NetBox answers anything else. One that is away for a
// moment has no trouble with pages, whatever it broke off.
func (c *Client) judgePage(ctx context.Context, l *looking, err error) error {
	if _, serr := c.once(ctx, statusCall()); serr != nil {
		if Unfit(err) {
			return c.lookCall().failed(KindUnreachable, "the answer broke off, and it answers nothing else either", err)
		}
		return err
	}
	l.tooMuch = true
	if c.view.desperate(l) {
		return c.lookCall().failed(KindUnexpected, fmt.Sprintf("it answers, but not when it's asked for %d of them at a time", leastPage), err)
	}
	return err
}

// tooMuch says of an error that a page may have been too much: it took too long, or something failed over it.
func tooMuch(err error) bool {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return false
	}
	var ne net.Error
	var op *net.OpError
	switch {
	case errors.Is(err, errTorn), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return true // It broke off, or was larger than a page may be.
	case e.Kind == KindServerError:
		return e.Status != http.StatusTooManyRequests
	case e.Kind != KindUnreachable, errors.As(err, &op) && op.Op == "dial":
		return false
	}
	return errors.As(err, &ne) && ne.Timeout()
}

func (c *Client) lookCall() call {
	return call{
		op: "list the addresses whose markers begin with", subject: c.begins, method: http.MethodGet,
		path: addressesPath, want: http.StatusOK, most: c.room.limits.Page,
		query: url.Values{"cf_" + c.field + "__isw": {c.begins}, "ordering": {"id"}, "fields": {lookFields}},
	}
}

// look reads all addresses of ours. A record that goes while it is read makes the next page begin one later: a look may miss records,
// and proves of none that it's gone. What is another cluster's isn't kept, and what is too large is left to be read by itself.
func (c *Client) look(ctx context.Context, l *looking) (p *pile, err error) {
	k := c.lookCall()
	defer func() {
		if r := recover(); r != nil {
			err = k.failed(KindUnexpected, "the provider panicked over it", &PanicError{Stack: fmt.Sprintf("%v\n%s", r, debug.Stack())})
		}
	}()
	leave, err := c.room.enter(ctx)
	if err != nil {
		return nil, k.failed(KindUnreachable, "looks at other NetBoxes take all the time that there is for them", err)
	}
	defer leave()
	p = c.room.pile(k)
	p.each = mostRecord // As of one that's read by itself: what isn't kept then doesn't appear here.
	most, addresses := c.room.bound(), lookPage*lookPages
	most.size, most.pages = l.size, most.pages*most.size/l.size
	if c.most != nil {
		addresses = c.most(ctx, c.name)
		p.bound(addresses)
	}
	_, err = listPages(ctx, c, k, most, func(b []byte) (struct{}, error) {
		if len(b) > mostRecord {
			return struct{}{}, nil
		}
		weighed := p.weight
		ip, err := p.decode(b)
		if errors.Is(err, errDense) {
			return struct{}{}, nil
		}
		if err != nil {
			return struct{}{}, err
		}
		m := ip.Marker(c.field)
		if len(m) < len(c.begins) || !strings.EqualFold(m[:len(c.begins)], c.begins) {
			return struct{}{}, k.failed(KindMarkerField, fmt.Sprintf("it doesn't filter by what custom field %q begins with: that is missing there, or isn't filtered by", c.field), nil)
		}
		if !strings.HasPrefix(m, c.begins) { // The filter ignores case; ids don't.
			p.weight = weighed
			return struct{}{}, nil
		}
		if p.seen[ip.ID] = (sighting{ip: c.view.shared(ip), at: l.began}); len(p.seen) > addresses {
			return struct{}{}, p.full(fmt.Sprintf("it has more than %d addresses with these markers, which are many more than there are resources for them", addresses))
		}
		return struct{}{}, nil
	})
	return p, err
}

// shared is a record as it was seen before, where it's the same: so that what two looks saw shares its memory.
func (v *view) shared(is IPAddress) IPAddress {
	v.mu.Lock()
	was := v.seen[is.ID].ip
	v.mu.Unlock()
	if was.LastUpdated == is.LastUpdated && reflect.DeepEqual(was, is) {
		return was
	}
	return is
}
