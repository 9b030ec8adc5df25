package fastlane

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// most is how long a request may be: a script's has some 300 octets.
const most = 2 << 10

// A lane is a connection that is here.
type lane struct {
	of *Listener
	c  net.Conn
	// until is the deadline of reading; zero: it isn't known.
	until time.Time
	// where has our end's address, as net/http says it to handlers, and remote is the other end's.
	where  context.Context //nolint:containedctx // The part of each request's that stays.
	remote string
	in     [most]byte
	// early is what came before its request's turn.
	early []byte
}

// serve answers one request after the other, until one isn't for here, or the connection ends.
func (v *lane) serve() {
	defer v.of.leave(v)
	v.where = context.WithValue(context.Background(), http.LocalAddrContextKey, v.c.LocalAddr())
	v.remote = v.c.RemoteAddr().String()
	for silent := v.of.o.First; ; silent = v.of.o.Idle {
		over, ok := v.next(silent)
		switch {
		case len(over) > 0 && v.of.hand(accepted{c: &resumed{v.c, bytes.Clone(over)}}):
			return
		case len(over) > 0 || !ok:
			_ = v.c.Close()
			return
		}
	}
}

// next reads a request and answers it. What was read and isn't for here is returned; false: the connection is at its end.
func (v *lane) next(silent time.Duration) (over []byte, ok bool) {
	if len(v.early) > 0 {
		return v.early, true
	}
	v.wait(silent)
	if v.of.ends() { // Its deadline was set after that of the listener's end.
		return nil, false
	}
	n, err := v.c.Read(v.in[:])
	if n == 0 || err != nil {
		return nil, false
	}
	w, _ := v.of.works.Get().(*work)
	if !w.read(v.in[:n], &v.of.said) || !v.of.o.Takes(w.url.Path) {
		v.of.done(w)
		return v.in[:n], true
	}
	return nil, v.answer(w)
}

// wait gives the client so long to say something. A deadline that is as good isn't moved: that costs as much as reading.
func (v *lane) wait(silent time.Duration) {
	now := time.Now()
	if left := v.until.Sub(now); left <= silent && left > silent-silent/64 {
		return
	}
	v.until = now.Add(silent)
	_ = v.c.SetReadDeadline(v.until)
}

// answer has the handler answer, and sends what it said; false: the connection can't be used any more. A handler that panics costs its connection, as
// with net/http.
func (v *lane) answer(w *work) (ok bool) {
	w.begin(v)
	w.request.RemoteAddr, w.answer.lane = v.remote, v
	defer func() {
		w.end()
		p := recover()
		if p == nil {
			v.of.done(w)
			return
		}
		ok = false
		if p != http.ErrAbortHandler { //nolint:errorlint // That very value.
			v.of.o.Logger.Debug("a handler caused a panic", "panic", fmt.Sprint(p))
		}
	}()
	v.of.o.Handler.ServeHTTP(&w.answer, w.request)
	w.out, ok = w.answer.send(w.out)
	return ok
}

// A resumed connection is one of which something was read already.
type resumed struct {
	net.Conn

	read []byte
}

// Read gives that first.
func (c *resumed) Read(b []byte) (int, error) {
	if len(c.read) == 0 {
		return c.Conn.Read(b) //nolint:wrapcheck // The connection's own words.
	}
	n := copy(b, c.read)
	if c.read = c.read[n:]; len(c.read) == 0 {
		c.read = nil
	}
	return n, nil
}

// ReadFrom lets the kernel send a file by itself.
func (c *resumed) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(c.Conn, r) //nolint:wrapcheck // The connection's own words.
}
