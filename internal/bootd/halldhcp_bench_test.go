package bootd

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/heap"
)

// atATime is how many packets of a hall wait together.
const atATime = 32

// asking is a relay before a hall, 64 machines of which, by chance, are on their way at a time: each discovers and requests, and then another one does.
type asking struct {
	machines int
	// left are exchanges that are still to come, and packets that may be sent for them: a machine that nobody answers asks again.
	left, packets int
	ways          [64]way
	from          int
	discover      []byte
	request       []byte
	own           []netip.Addr
}

// way is how far a machine is.
type way struct {
	machine            int
	requests, answered bool
}

// Receive implements dhcp.Conn.
func (a *asking) Receive(ps []dhcp.Packet, wait bool) (int, error) {
	switch {
	case a.left <= 0 || a.packets <= 0:
		return 0, net.ErrClosed
	case !wait:
		return 0, nil
	}
	n := min(len(ps), atATime)
	for i := range n {
		w := &a.ways[a.from]
		if w.answered && w.requests {
			a.left--
			*w = way{machine: rand.IntN(a.machines)} //nolint:gosec // Not a secret.
		}
		w.requests, w.answered = w.answered, false
		a.write(&ps[i], w)
		a.from = (a.from + 1) % len(a.ways)
	}
	a.packets -= n
	return n, nil
}

// write writes what the next machine asks. Its number is its MAC's, and its xid says which of the ways it's on.
func (a *asking) write(p *dhcp.Packet, w *way) {
	asks := a.discover
	if w.requests {
		asks = a.request
	}
	p.Data = p.Data[:copy(p.Data[:cap(p.Data)], asks)]
	binary.BigEndian.PutUint32(p.Data[4:], rand.Uint32()<<6|uint32(a.from))                 //nolint:gosec // Not a secret, and below 64.
	copy(p.Data[31:], []byte{byte(w.machine >> 16), byte(w.machine >> 8), byte(w.machine)}) //nolint:gosec // There are fewer.
	if w.requests {
		address := hallAddress(w.machine)
		copy(p.Data[len(p.Data)-5:], address[:])
	}
	p.In = dhcp.Ingress{From: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 64, 0, 1}), 67), Index: 1, To: a.own[0], Addresses: a.own}
}

// Send implements dhcp.Conn.
func (a *asking) Send(out []dhcp.Outgoing) {
	for i := range out {
		a.ways[binary.BigEndian.Uint32(out[i].Data[4:])%uint32(len(a.ways))].answered = true
	}
}

func (*asking) Close() error { return nil }

// asks are a DISCOVER and a REQUEST of a hall, whose address is in its last octets but the end mark.
func asks(b *testing.B, server netip.Addr) (discover, request []byte) {
	b.Helper()
	discover, err := dhcp.Discover("52:54:00:00:00:00", dhcp.Guise{Client: dhcp.ClientPXE, Arch: dhcp.ArchUEFIAMD64}, netip.AddrFrom4([4]byte{10, 64, 0, 1}), netip.Addr{})
	if err != nil {
		b.Fatal(err)
	}
	const options = 240 // Behind the cookie.
	request = append(request, discover[:options]...)
	of := server.As4()
	request = append(request, 53, 1, 3, 54, 4, of[0], of[1], of[2], of[3])
	for i := options; discover[i] != 255; i += 2 + int(discover[i+1]) {
		if discover[i] != 53 {
			request = append(request, discover[i:i+2+int(discover[i+1])]...)
		}
	}
	return discover, append(request, 50, 4, 0, 0, 0, 0, 255)
}

// BenchmarkHallDHCP is what an exchange costs of many machines in turn, but for the kernel's part.
func BenchmarkHallDHCP(b *testing.B) {
	heap.Spare(heap.OfBootd)
	for _, n := range []int{10_000, 100_000} {
		d, _ := hall(b, n)
		g, ctx := errgroup.WithContext(b.Context())
		srv, err := d.serveDHCP(ctx, g, listeners{})
		if err != nil {
			b.Fatal(err)
		}
		a := &asking{machines: n, own: []netip.Addr{netip.AddrFrom4([4]byte{10, 99, 0, 1})}}
		a.discover, a.request = asks(b, a.own[0])
		serve := func(exchanges int) {
			a.left, a.packets, a.ways = exchanges, 3*exchanges+100*len(a.ways), [64]way{}
			if err := srv.Serve(context.WithoutCancel(ctx), a); a.left > 0 {
				b.Fatalf("%d of %d exchanges have no end (%v)", a.left, exchanges, err)
			}
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			serve(n)
			b.ReportAllocs()
			b.ResetTimer()
			serve(b.N)
		})
	}
}
