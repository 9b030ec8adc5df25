package bootd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/advertisement"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/limit"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/links"
)

// solicitable is a socket that solicitations come in on, as advertisement's is.
type solicitable interface {
	advertisement.Conn

	Join(wanted func(links.Link) bool) (names []string, err error)
}

// solicited answers router solicitations while a segment wants that, and is heard nowhere otherwise.
type solicited struct {
	c      Config
	server *advertisement.Server
	view   func() advertisement.View
	hears  func(name string) bool
	// open opens the socket.
	open func(context.Context) (solicitable, error)

	// problem says what isn't answered.
	problem trouble

	socket solicitable
	failed atomic.Bool // the socket has ended
	tried  time.Time   // when it was last opened
	joined time.Time
	stop   func()
}

// Problem with a segment, in a sentence; "": none.
func (x *solicited) Problem(g boot.Segment) string {
	if !advertisement.Answers(g) {
		return ""
	}
	return x.problem.get()
}

// say notes a problem, and logs it once.
func (x *solicited) say(problem string) {
	switch news := x.problem.set(problem); {
	case news && problem != "":
		x.c.Logger.Error("router solicitations aren't answered, or not everywhere", "problem", problem)
	case news:
		x.c.Logger.Info("router solicitations are no problem any more")
	}
}

// run keeps the socket until ctx ends.
func (x *solicited) run(ctx context.Context) error {
	defer x.close()
	for {
		x.turn(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(proxyEvery):
		}
	}
}

func (x *solicited) turn(ctx context.Context) {
	v := x.view()
	if v.State == nil || !slices.ContainsFunc(v.State.Segments, advertisement.Answers) {
		x.close()
		x.say("")
		return
	}
	if x.stop == nil || x.failed.Load() {
		x.close()
		if time.Since(x.tried) < againEvery {
			return
		}
		x.tried = time.Now()
		if err := x.listen(ctx); err != nil {
			x.say("router solicitations aren't answered, and all else is served: " + err.Error())
			return
		}
	}
	if now := time.Now(); now.Sub(x.joined) >= joinEvery {
		x.joined = now
		x.say(x.join(v))
	}
}

// join hears routers' group where something is to be said, and says what is wrong; "": nothing.
func (x *solicited) join(v advertisement.View) string {
	var wrong []string
	_, err := x.socket.Join(func(l links.Link) bool {
		if !x.hears(l.Name) {
			return false
		}
		_, why := advertisement.Content(v, l)
		if why == advertisement.SilentAnother {
			wrong = append(wrong, fmt.Sprintf(
				"router solicitations on interface %s aren't answered: one BootNetwork there has routerSolicitations: Answer, and another with a subnet of IPv6 hasn't; let both say the same", l.Name))
		}
		return why == "" || why == dhcp.SilentNoServer // It has its own address in a moment.
	})
	if err != nil {
		wrong = append(wrong, "router solicitations aren't answered on all interfaces: "+err.Error())
	}
	return strings.Join(wrong, "; ")
}

// listen opens the socket, and answers until it's closed or fails: then it's opened anew.
func (x *solicited) listen(ctx context.Context) error {
	c, err := x.open(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	x.socket, x.joined = c, time.Time{}
	x.failed.Store(false)
	x.stop = func() {
		cancel()
		<-done
	}
	go func() {
		defer close(done)
		if err := x.server.Serve(ctx, c); ctx.Err() == nil {
			x.c.Logger.Error("router solicitations aren't heard for a moment", "error", fmt.Sprint(err))
			x.failed.Store(true)
		}
	}()
	x.c.Logger.Info("listening", "for", "router solicitations", "address", advertisement.Group())
	return nil
}

func (x *solicited) close() {
	if x.stop != nil {
		x.stop()
		x.stop = nil
	}
}

// solicitations answers them for this bootd's segments.
func (d *daemon) solicitations() *solicited {
	x := &solicited{c: d.c, hears: d.six.on, open: func(ctx context.Context) (solicitable, error) { return advertisement.Listen(ctx) }}
	x.view = func() advertisement.View {
		_, answers := d.six.view()
		return advertisement.View{State: d.state(), DHCPv6: answers}
	}
	x.server = advertisement.New(advertisement.Config{
		View: x.view, Hears: x.hears, Observe: func(r dhcp.Reason) { d.metrics.solicited(r) }, Limit: limit.New(advertisement.Rates()), Log: d.c.Logger,
	})
	return x
}
