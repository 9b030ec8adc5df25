package httpboot

import (
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
)

// base is where the machine reached us: the address of our end of its connection, never a header.
func (s *Server) base(r *http.Request) string { return s.baseAt(r, localOf(r)) }

// baseAt is base for who knows that address.
func (s *Server) baseAt(r *http.Request, local netip.AddrPort) string {
	base := s.bases.of(local, s.o.Base)
	if r.TLS != nil && s.o.Secured != nil {
		return s.o.Secured(base) // Who came by HTTPS goes on by it.
	}
	return base
}

// bases remembers the base URLs of our own addresses, of which there are few, and most machines come to one.
type bases struct {
	last atomic.Pointer[based]

	mu sync.Mutex
	by map[netip.AddrPort]*based
}

// based is an address of ours, and its base URL.
type based struct {
	local netip.AddrPort
	base  string
}

// maxBases are remembered; of more addresses each is written anew.
const maxBases = 64

func (b *bases) of(local netip.AddrPort, write func(netip.AddrPort) string) string {
	if last := b.last.Load(); last != nil && last.local == local {
		return last.base
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	x := b.by[local]
	if x == nil {
		x = &based{local, write(local)}
		if b.by == nil {
			b.by = map[netip.AddrPort]*based{}
		}
		if len(b.by) < maxBases {
			b.by[local] = x
		}
	}
	b.last.Store(x)
	return x.base
}

// localOf is our address that a request came to; invalid where that isn't known.
func localOf(r *http.Request) netip.AddrPort {
	a, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	at := a.AddrPort()
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
}

// installer is the base URL for what runs after a script.
func (s *Server) installer(base string) string {
	if s.o.Installer == nil {
		return base
	}
	return s.o.Installer(base)
}
