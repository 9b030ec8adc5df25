package bootd

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/advertisement"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/links"
)

// deaf is a socket that hears nothing, on one link.
type deaf struct {
	on     links.Link
	wanted bool
	err    error
	closed chan struct{}
}

func (d *deaf) Join(wanted func(links.Link) bool) ([]string, error) {
	d.wanted = wanted(d.on)
	return nil, d.err
}

func (d *deaf) Receive([]byte) (int, advertisement.Ingress, error) {
	<-d.closed
	return 0, advertisement.Ingress{}, errors.New("boom")
}

func (*deaf) Send([]byte, netip.Addr, links.Link) error { return nil }

func (d *deaf) Close() error {
	close(d.closed)
	return nil
}

// TestSolicited: what keeps solicitations from being answered is said of the networks that want that, and of no other; and once it's gone it isn't.
func TestSolicited(t *testing.T) {
	six := func(name, subnet string, answers bool) boot.Segment {
		g := boot.Segment{Name: boot.Name{Namespace: "lab", Name: name}, Mode: boot.SegmentAuthoritative, Subnets: []netip.Prefix{netip.MustParsePrefix(subnet)}}
		if answers {
			g.Advertises = &boot.Advertisement{}
		}
		return g
	}
	wants, ignores := six("a", "fd00:78::/64", true), six("b", "fd00:79::/64", false)
	v := advertisement.View{State: boot.NewState([]boot.Segment{wants, ignores}, nil, nil), DHCPv6: true}
	log := &lines{}
	s := &deaf{
		on: links.Link{Name: "eth1", Local: netip.MustParseAddr("fe80::1"), Addresses: []netip.Addr{netip.MustParseAddr("fd00:78::1")}}, closed: make(chan struct{}),
	}
	refused := errors.New("to hear them takes the right CAP_NET_RAW, which bootd doesn't have")
	x := &solicited{
		c: Config{Logger: slogTo(log)}, view: func() advertisement.View { return v }, hears: func(string) bool { return true },
		server: advertisement.New(advertisement.Config{View: func() advertisement.View { return v }}),
		open:   func(context.Context) (solicitable, error) { return s, refused },
	}
	defer x.close()
	turn := func(want string, wanted bool) {
		t.Helper()
		s.wanted, x.tried, x.joined = false, time.Time{}, time.Time{}
		x.turn(t.Context())
		if got := x.Problem(wants); !strings.Contains(got, want) || (got == "") != (want == "") || x.Problem(ignores) != "" || s.wanted != wanted {
			t.Errorf("%q, of another network %q, heard: %t", got, x.Problem(ignores), s.wanted)
		}
	}
	turn("router solicitations aren't answered, and all else is served: to hear them takes the right CAP_NET_RAW, which bootd doesn't have", false)
	turn("CAP_NET_RAW", false)
	if n := strings.Count(log.String(), "CAP_NET_RAW"); n != 1 {
		t.Errorf("it's logged %d times:\n%s", n, log.String())
	}
	refused = nil
	turn("", true)
	s.err = errors.New("cannot hear router solicitations to ff02::2 on interface eth1: no memory")
	turn("aren't answered on all interfaces: cannot hear", true)
	s.err, s.on.Addresses = nil, append(s.on.Addresses, netip.MustParseAddr("fd00:79::1"))
	turn("interface eth1 aren't answered: one BootNetwork there has routerSolicitations: Answer, and another", false)
	s.on.Addresses = s.on.Addresses[:1]
	v.DHCPv6 = false
	turn("", false)
	v.State = boot.NewState([]boot.Segment{ignores}, nil, nil)
	x.turn(t.Context())
	if x.stop != nil {
		t.Error("the socket is open, though nobody needs it")
	}
}
