package tftp

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// requests reads what came to the server's own port.
func (l *loop) requests() {
	const atOnce = 64 // Those that have begun get their turn.
	for range atOnce {
		n, nn, _, from, err := unix.Recvmsg(l.main, l.in, l.oob, 0)
		if err != nil {
			return
		}
		client, ok := addrPort(from)
		ours, all := destination(l.oob[:nn])
		if !ok || n < headerSize || all {
			continue // What is sent to all is nobody's to answer (RFC 1123 §4.2.3.5).
		}
		l.asked(l.in[:n], client, ours)
	}
}

// destination is the address of ours that a packet was sent to, invalid where the kernel doesn't say it; all: it was sent to a broadcast or
// multicast address.
func destination(oob []byte) (ours netip.Addr, all bool) {
	h, data, _, err := unix.ParseOneSocketControlMessage(oob)
	if err == nil && h.Level == unix.IPPROTO_IPV6 && h.Type == unix.IPV6_PKTINFO && len(data) >= unix.SizeofInet6Pktinfo {
		const size = 16
		a := netip.AddrFrom16([size]byte(data))
		if a.IsLinkLocalUnicast() {
			a = a.WithZone(strconv.FormatUint(uint64(binary.NativeEndian.Uint32(data[size:])), 10))
		}
		return a, a.IsMulticast()
	}
	if err != nil || h.Level != unix.IPPROTO_IP || h.Type != unix.IP_PKTINFO || len(data) < unix.SizeofInet4Pktinfo {
		return netip.Addr{}, false
	}
	const local, address = 4, 8
	// Of a packet to all the kernel says which address of ours is on that interface.
	ours = netip.AddrFrom4([4]byte(data[local:]))
	return ours, ours != netip.AddrFrom4([4]byte(data[address:]))
}

// asked takes one packet that came to the server's own port.
func (l *loop) asked(b []byte, client netip.AddrPort, ours netip.Addr) {
	if client.Port() == 0 || client.Addr().IsUnspecified() {
		return
	}
	op := binary.BigEndian.Uint16(b)
	if op == opRRQ || op == opWRQ {
		l.s.trace(client, ours, b, false)
	}
	switch op {
	case opRRQ:
		req, ok := parse(b)
		if !ok {
			l.s.done(Refused, client.Addr(), "", nil)
			l.refuse(client, ours, codeIllegal, "a read request names a file, and mode octet or netascii")
			return
		}
		l.begin(b, req, client, ours)
	case opWRQ:
		l.s.done(Refused, client.Addr(), "", nil)
		l.refuse(client, ours, codeAccess, "nothing is written here")
	case opACK, opERROR:
		if r := l.byClient[client]; r != nil && r.shared {
			l.take(r, b)
		}
	}
}

// refuse answers with an error, once: from the port that was asked, since there's no transfer.
func (l *loop) refuse(client netip.AddrPort, ours netip.Addr, code uint16, message string) {
	p := share(l.main, client, ours)
	b := failure(code, message)
	l.s.trace(client, ours, b, true)
	_ = p.send(b)
}

// begin begins a transfer, once. A request that comes again, since its answer was lost or the network doubled it, isn't
// another one: a client would get each block twice.
func (l *loop) begin(b []byte, req request, client netip.AddrPort, ours netip.Addr) {
	if r := l.byClient[client]; r != nil {
		if r.asked == string(b) && (!r.answered || l.now.Sub(r.heard) < r.timeout) {
			if what, ok := r.again(); ok {
				l.send(r, what)
			}
			return
		}
		if r.midway(l.now) {
			return // Somebody else may ask in its name. If it's the client's own, it asks again.
		}
		l.end(r, Aborted, errAnew) // Firmware with a fixed port, that was started again.
	}
	if l.openOwn(b, req, client, ours) {
		return
	}
	r, err := l.s.open(req, client, l.makeRoom)
	if errors.Is(err, errBusy) {
		return // Who hears nothing asks again in a second or four; who hears an error boots from its next device.
	}
	if err != nil {
		code := uint16(codeUndefined)
		if errors.Is(err, ErrNotFound) {
			code = codeNotFound
		}
		l.refuse(client, ours, code, err.Error())
		return
	}
	l.start(string(b), r, client, ours)
}

// start begins a transfer that has its place.
func (l *loop) start(asked string, r *running, client netip.AddrPort, ours netip.Addr) {
	var err error
	if l.s.cfg.SinglePort {
		r.peer = share(l.main, client, ours)
	} else if r.peer, err = connect(client, ours, l.segments); err == nil {
		err = l.enter(r)
	}
	l.byClient[client] = r
	r.asked, r.began, r.heard = asked, l.now, l.now
	if err != nil {
		r.shared = r.fd == 0 // There's no socket to close.
		l.end(r, Aborted, err)
		return
	}
	if r.oack != nil {
		l.s.trace(client, ours, r.oack, true)
	}
	l.send(r, r.begin())
}

// midway says that a client is in the middle of a file. One that was started again takes longer than that to ask.
func (r *running) midway(now time.Time) bool {
	const lately = 100 * time.Millisecond
	return r.answered && now.Sub(r.heard) < lately
}

// makeRoom gives up those who asked and never answered, once all places are taken: a machine answers within milliseconds, and
// whoever asks in the name of others must not keep a rack from booting for as long as we'd wait for them. Where all of them answer it's the
// file that is being opened for longest which goes, so that there's room for who asks next.
func (l *loop) makeRoom() bool {
	const answers, sweeps = 200 * time.Millisecond, 50 * time.Millisecond
	if l.now.Sub(l.swept) < sweeps {
		return false
	}
	l.swept = l.now
	before := len(l.byClient)
	for _, r := range l.byClient {
		if !r.answered && l.now.Sub(r.heard) > answers {
			l.end(r, Aborted, errSilent)
		}
	}
	if len(l.byClient) < before {
		return true
	}
	l.openings.giveUpOldest(l.now)
	return false
}

// open finds the file that is asked for and takes a place for its transfer, which room may make. An error but errBusy goes
// to the client as it is.
func (s *Server) open(req request, client netip.AddrPort, room func() bool) (*running, error) {
	file, ok := s.cfg.Files.Find(req.name)
	if !ok {
		s.done(NotFound, client.Addr(), req.name, nil)
		return nil, ErrNotFound
	}
	if !s.limits.acquire(client.Addr()) && (!room() || !s.limits.acquire(client.Addr())) {
		s.done(Busy, client.Addr(), file.Name, nil)
		return nil, errBusy
	}
	data := file.Data
	if req.ascii {
		data = s.asASCII(file)
	}
	return s.transferOf(req, client, file.Name, data, len(data)), nil
}

// transferOf is the transfer of a file, as its client wants it.
func (s *Server) transferOf(req request, client netip.AddrPort, name string, data []byte, size int) *running {
	block := defaultBlock
	if req.block > 0 {
		req.block = min(req.block, s.mtu(client.Addr())-headersOf(client.Addr()))
		block = req.block
	}
	timeout := s.cfg.Timeout
	if req.timeout > 0 {
		timeout = time.Duration(req.timeout) * time.Second
	}
	if s.cfg.SinglePort {
		req.window = 0 // It isn't agreed on: RFC 2347 leaves out what isn't kept.
	}
	oack := req.oack(size)
	t := newTransfer(size, block, max(req.window, 1), oack != nil)
	if s.cfg.SinglePort {
		t.guess()
	}
	return &running{transfer: t, client: client, name: name, file: data, oack: oack, timeout: timeout}
}
