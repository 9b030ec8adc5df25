package advertisement

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/limit"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/links"
)

// wire is a connection in memory.
type wire struct {
	in     chan received
	closed chan struct{}
	once   sync.Once

	mu   sync.Mutex
	sent []sent
	err  error // of Send
}

type received struct {
	b   []byte
	in  Ingress
	err error
}

type sent struct {
	To   netip.Addr
	Link string
	At   time.Time
}

func newWire() *wire { return &wire{in: make(chan received), closed: make(chan struct{})} }

func (w *wire) Receive(b []byte) (int, Ingress, error) {
	select {
	case r := <-w.in:
		return copy(b, r.b), r.in, r.err
	case <-w.closed:
		return 0, Ingress{}, net.ErrClosed
	}
}

func (w *wire) Send(_ []byte, to netip.Addr, l links.Link) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent = append(w.sent, sent{to, l.Name, time.Now()})
	return w.err
}

func (w *wire) Close() error {
	w.once.Do(func() { close(w.closed) })
	return nil
}

// all that was sent.
func (w *wire) all() []sent {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.sent)
}

// served has a server on a wire in a bubble of time, and its reasons.
func served(t *testing.T, change func(*Config), do func(w *wire, reasons func() []dhcp.Reason)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var reasons []dhcp.Reason
		v := view(segment("rack-1", nil, "fd00:99::/64"))
		cfg := Config{View: func() View { return v }, Limit: limit.New(Rates()), Observe: func(r dhcp.Reason) { reasons = append(reasons, r) }}
		if change != nil {
			change(&cfg)
		}
		w := newWire()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- New(cfg).Serve(ctx, w) }()
		do(w, func() []dhcp.Reason {
			synctest.Wait()
			return reasons
		})
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute) // Whatever waits comes, and goes nowhere.
	})
}

// TestServe: who has an address is answered at it within half a second, and who has none with everybody.
func TestServe(t *testing.T) {
	served(t, nil, func(w *wire, reasons func() []dhcp.Reason) {
		start := time.Now()
		w.in <- received{b: solicitation(t, hardware()), in: from(machine)}
		w.in <- received{b: solicitation(t), in: from(nobody)}
		w.in <- received{b: []byte("garbage"), in: from(machine)}
		if got, want := reasons(), []dhcp.Reason{Advertised, Advertised, dhcp.SilentMalformed}; !slices.Equal(got, want) {
			t.Errorf("%v", got)
		}
		time.Sleep(answerWithin)
		got := w.all()
		slices.SortFunc(got, func(a, b sent) int { return a.To.Compare(b.To) })
		if len(got) != 2 || got[0].To != machine || got[1].To != everybody() || got[0].Link != "eth1" {
			t.Fatalf("%+v", got)
		}
		for _, s := range got {
			if s.At.Sub(start) > answerWithin {
				t.Errorf("%s is answered after %s", s.To, s.At.Sub(start))
			}
		}
	})
}

// TestAll: everybody is told at most once in three seconds on a link, however many ask, and each link has a time of its own.
func TestAll(t *testing.T) {
	served(t, nil, func(w *wire, _ func() []dhcp.Reason) {
		other := from(nobody)
		other.Link.Index, other.Link.Name = 4, "eth2"
		for range 1000 {
			w.in <- received{b: solicitation(t), in: from(nobody)}
			w.in <- received{b: solicitation(t), in: other}
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(betweenAll + answerWithin)
		last := map[string]time.Time{}
		n := map[string]int{}
		for _, s := range w.all() {
			if before, ok := last[s.Link]; ok && s.At.Sub(before) < betweenAll {
				t.Errorf("%s after %s", s.Link, s.At.Sub(before))
			}
			last[s.Link] = s.At
			n[s.Link]++
		}
		if n["eth1"] < 3 || n["eth1"] > 5 || n["eth2"] < 3 || n["eth2"] > 5 {
			t.Errorf("%v", n)
		}
	})
}

// TestFlood: a machine that asks all the time has few answers, and others have theirs; so have those that a thousand strangers leave some.
func TestFlood(t *testing.T) {
	served(t, nil, func(w *wire, reasons func() []dhcp.Reason) {
		for range 100 {
			w.in <- received{b: solicitation(t), in: from(machine)}
		}
		w.in <- received{b: solicitation(t), in: from(machine.Next())}
		got := reasons()
		if n := len(slices.DeleteFunc(slices.Clone(got), func(r dhcp.Reason) bool { return r != Advertised })); n != 7 || got[len(got)-1] != Advertised || got[99] != dhcp.LimitedStranger {
			t.Errorf("%d answers: %v", n, got)
		}
	})
	served(t, nil, func(w *wire, reasons func() []dhcp.Reason) {
		for i := range 3000 {
			w.in <- received{b: solicitation(t), in: from(netip.MustParseAddr(fmt.Sprintf("fe80::%x", i+2)))}
		}
		got := reasons()
		if !slices.Contains(got, dhcp.LimitedStrangers) || got[len(got)-1] == Advertised {
			t.Error("there's no end to it")
		}
		time.Sleep(answerWithin)
		if n := len(w.all()); n > 1100 || n < 900 {
			t.Errorf("%d answers", n)
		}
	})
	served(t, func(c *Config) { c.Limit = nil }, func(w *wire, reasons func() []dhcp.Reason) {
		for range maxWaiting + 1 {
			w.in <- received{b: solicitation(t), in: from(machine)}
		}
		if got := reasons(); got[maxWaiting] != dhcp.Dropped {
			t.Errorf("%s: more wait than may", got[maxWaiting])
		}
	})
}

// TestChanged: what is said is what is known when it's sent, and a network that takes its word back by then says nothing.
func TestChanged(t *testing.T) {
	v := view(segment("rack-1", nil, "fd00:99::/64"))
	served(t, func(c *Config) { c.View = func() View { return v } }, func(w *wire, reasons func() []dhcp.Reason) {
		w.in <- received{b: solicitation(t), in: from(nobody)}
		reasons()
		v = view(segment("rack-1", ignores, "fd00:99::/64"))
		time.Sleep(answerWithin)
		if got := w.all(); len(got) > 0 {
			t.Errorf("%+v", got)
		}
	})
}

// TestHears: an interface that isn't listened on is as if it weren't there; and no packet ends it, nor does a link that's down.
func TestHears(t *testing.T) {
	served(t, func(c *Config) { c.Hears = func(name string) bool { return name == "eth1" } }, func(w *wire, reasons func() []dhcp.Reason) {
		w.err = errors.New("network is down")
		other := from(machine)
		other.Link.Name = "eth2"
		w.in <- received{b: solicitation(t), in: other}
		w.in <- received{err: unix.ENOBUFS}
		w.in <- received{b: solicitation(t), in: from(machine)}
		if got := reasons(); !slices.Equal(got, []dhcp.Reason{Advertised}) {
			t.Errorf("%v", got)
		}
	})
	first := true
	v := view(segment("rack-1", nil, "fd00:99::/64"))
	served(t, func(c *Config) {
		c.View = func() View {
			if first {
				first = false
				panic("boom")
			}
			return v
		}
	}, func(w *wire, reasons func() []dhcp.Reason) {
		w.in <- received{b: solicitation(t), in: from(machine)}
		w.in <- received{b: solicitation(t), in: from(machine)}
		if got := reasons(); !slices.Equal(got, []dhcp.Reason{Advertised}) {
			t.Errorf("%v", got)
		}
	})
}

// TestServeFails: a socket that breaks ends it, with a sentence.
func TestServeFails(t *testing.T) {
	w := newWire()
	done := make(chan error, 1)
	go func() { done <- New(Config{View: func() View { return View{} }}).Serve(t.Context(), w) }()
	w.in <- received{err: errors.New("boom")}
	if err := <-done; err == nil || err.Error() != "cannot receive router solicitations: boom" {
		t.Errorf("%v", err)
	}
}
