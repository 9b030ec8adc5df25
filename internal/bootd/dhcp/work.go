package dhcp

import (
	"context"
	"fmt"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp/wire"
)

// work is the memory of one Serve: a ring of packets that wait, and answers on their way.
type work struct {
	s    *Server
	c    Conn
	ring []Packet
	// from is the oldest packet that waits.
	from int

	message wire.Message
	reply   wire.Reply
	out     []Outgoing
	done    []Answer
	in      []Ingress
	bufs    [][]byte
	// rooms have the plans of answers on their way, each that of the answer at its place.
	rooms [atOnce]boot.Room
	known macs
	// macs are those of the packets that come next, as numbers.
	macs [atOnce]uint64
}

func newWork(s *Server, c Conn) *work {
	w := &work{s: s, c: c, ring: make([]Packet, s.cfg.Queue+atOnce)}
	all := make([]byte, len(w.ring)*maxPacket)
	for i := range w.ring {
		w.ring[i].Data = all[i*maxPacket : (i+1)*maxPacket : (i+1)*maxPacket]
	}
	for range atOnce {
		w.bufs = append(w.bufs, make([]byte, 0, linkSize))
	}
	return w
}

// receive waits for packets and reads all that are there. Of more than may wait the oldest are dropped: their machines have
// most likely asked again already. It stops reading when it has read many times what may wait: else, where packets come faster
// than they're read, nobody would ever be answered.
func (w *work) receive() (waiting int, err error) {
	const rounds = 8
	w.from = 0
	for read := 0; read < rounds*w.s.cfg.Queue; {
		at := (w.from + waiting) % len(w.ring)
		space := w.ring[at:min(at+atOnce, len(w.ring))]
		n, err := w.c.Receive(space, read == 0)
		if err != nil {
			return waiting, err
		}
		waiting, read = waiting+n, read+n
		if over := waiting - w.s.cfg.Queue; over > 0 {
			w.drop(over)
			waiting -= over
		}
		if n < len(space) {
			break
		}
	}
	return waiting, nil
}

func (w *work) drop(n int) {
	w.from = (w.from + n) % len(w.ring)
	for range n {
		w.s.observe("", "", Dropped)
	}
}

// answer answers the packets that wait, the oldest first.
func (w *work) answer(ctx context.Context, waiting int) {
	for i := range waiting {
		if i%atOnce == 0 {
			w.foresee(i, min(i+atOnce, waiting))
		}
		w.one(ctx, &w.ring[(w.from+i)%len(w.ring)])
		if len(w.out) == atOnce {
			w.flush(ctx)
		}
	}
	w.flush(ctx)
}

// foresee looks at what is known of the machines whose packets come next.
func (w *work) foresee(from, to int) {
	defer func() { _ = recover() }() // Nothing rests on it, and what is wrong is told where they're answered.
	st := w.s.cfg.State()
	if st == nil {
		return
	}
	macs := w.macs[:0]
	for i := from; i < to; i++ {
		if n, ok := wire.Hardware(w.ring[(w.from+i)%len(w.ring)].Data); ok {
			macs = append(macs, n)
		}
	}
	_ = st.Near(macs)
}

// one decides about a packet.
func (w *work) one(ctx context.Context, p *Packet) {
	defer func() {
		if r := recover(); r != nil { // One hostile packet must not end the boots of a rack.
			w.s.cfg.Log.Error("a DHCP packet caused a panic", "from", p.In.From, "panic", fmt.Sprint(r))
		}
	}()
	if err := w.message.Read(p.Data); err != nil {
		w.s.observe("", "", SilentMalformed)
		w.s.cfg.Log.Debug("ignored a malformed DHCP packet", "from", p.In.From, "error", err.Error())
		return
	}
	room := &w.rooms[len(w.out)]
	a := w.s.handle(&w.message, p.In, desk{&w.known, &w.reply, w.bufs[len(w.out)], room})
	if a.Packet == nil {
		w.s.lines.write(ctx, a, p.In, nil)
		room.Clear()
		return
	}
	o := Outgoing{Data: a.Packet, To: a.To, From: a.From, Hardware: a.Hardware}
	if a.Broadcast {
		o.Index = p.In.Index
	}
	w.bufs[len(w.out)] = a.Packet
	w.out, w.done, w.in = append(w.out, o), append(w.done, a), append(w.in, p.In)
}

func (w *work) flush(ctx context.Context) {
	if len(w.out) == 0 {
		return
	}
	w.c.Send(w.out)
	for i, a := range w.done {
		w.s.lines.write(ctx, a, w.in[i], w.out[i].Err)
		w.rooms[i].Clear()
	}
	w.out, w.done, w.in = w.out[:0], w.done[:0], w.in[:0]
}

// handle answers one packet, and passes on what it's a sign of before the answer can be sent. Whoever is told of a plan has it until the next packet.
func (s *Server) handle(m *wire.Message, in Ingress, at desk) Answer {
	v := s.view()
	a := s.decide(v, m, in, at)
	ours := s.ours(&a, v.Now)
	s.lent(&a, v.Now)
	s.holds(&a, v.Now)
	s.quarantineOf(&a).heard(a, v.Now)
	s.declined(&a, v.Now)
	s.observe(a.Facts.Type.String(), a.Facts.Client, a.Reason)
	if a.Reason == SilentOtherServer && a.Plan != nil && a.Facts.Type == wire.Request && s.cfg.OtherServer != nil && !ours {
		s.cfg.OtherServer(a.Plan.Kept(), a.Facts.Server)
	}
	s.cfg.StandIns.answered(&a, v.Now)
	s.noticed(&a, in, ours)
	s.misplaced(&a, s.saw(a, m.XID(), v.Now), v.Now)
	s.began(&a, v.Now)
	if s.cfg.Trace != nil && !a.Reason.limited() {
		s.cfg.Trace(m.Raw(), in, a, v.Now)
	}
	return a
}

// decide gives the answer to one packet, unless its sender asks too often. Who is a stranger is asked that first: to look for an address
// for one takes longer than to answer a machine that's known.
func (s *Server) decide(v View, m *wire.Message, in Ingress, at desk) Answer {
	f := classify(m, at.known)
	if s.cfg.Limit != nil && f.MAC != "" && !v.knows(f.MAC) {
		if why := s.tooMany(f, v.Now); why != "" {
			return Answer{Reason: why, Facts: f}
		}
		return respond(v, m, f, in, at)
	}
	a := respond(v, m, f, in, at)
	s.limit(&a, v.Now)
	return a
}

// declined puts what was declined into quarantine, and says so. What was given by another bootd, and declined to that one, is
// taken for us as well.
func (s *Server) declined(a *Answer, now time.Time) {
	if a.Facts.Type != wire.Decline {
		return
	}
	network, address := a.about()
	if a.Reason != Declined && (a.Reason != SilentOtherServer || a.Facts.Requested != address) {
		return
	}
	var macs []boot.MAC
	if a.Plan != nil {
		macs = a.Plan.MACs
	}
	believed := s.quarantineOf(a).declines(*a, macs, now)
	if believed && a.Plan == nil && s.cfg.Lending.Book != nil {
		s.cfg.Lending.Book.Release(network, address, a.Facts.MAC)
	}
	switch {
	case a.Reason == Declined && !believed:
		a.Reason = SilentUnasked
	case a.Reason == Declined && a.Plan != nil && s.cfg.Declined != nil:
		s.cfg.Declined(a.Plan.Kept(), a.Facts.MAC, address, now)
	}
}
