package bootd

import (
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/tiebreak"
)

// maxLater offers wait for their turn. Of more each goes out at once.
const maxLater = 1024

// errStopping is no trouble: the machine has its offer of the other one.
var errStopping = fmt.Errorf("%w: this bootd is stopping, and leaves the offer to another one", dhcp.ErrLeft)

// offers holds back a connection's OFFERs: for a moment where it's another bootd's turn, and for good where this one is stopping and another is live. All other
// answers go out at once: a machine that has chosen a server waits for that one.
type offers struct {
	dhcp.Conn

	delay func(boot.MAC) time.Duration // nil: never
	leave func() func(boot.MAC) bool   // says that an offer is another bootd's to make, where that may be; nil: never
	after func(time.Duration, func())

	later atomic.Int64
	mu    sync.Mutex // A connection sends for one at a time.
}

func holdOffers(c dhcp.Conn, delay func(boot.MAC) time.Duration, leave func() func(boot.MAC) bool) *offers {
	return &offers{Conn: c, delay: delay, leave: leave, after: func(d time.Duration, f func()) { time.AfterFunc(d, f) }}
}

// Send sends what isn't held back.
func (o *offers) Send(out []dhcp.Outgoing) {
	from := 0
	for i := range out {
		if o.hold(&out[i]) {
			o.send(out[from:i])
			from = i + 1
		}
	}
	o.send(out[from:])
}

func (o *offers) send(out []dhcp.Outgoing) {
	if len(out) == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.Conn.Send(out)
}

// hold says whether a packet isn't to be sent now.
func (o *offers) hold(x *dhcp.Outgoing) bool {
	var leave func(boot.MAC) bool
	if o.leave != nil {
		leave = o.leave()
	}
	if leave == nil && o.delay == nil {
		return false
	}
	mac, ok := offered(x.Data)
	if !ok {
		return false
	}
	if leave != nil && leave(mac) {
		x.Err = errStopping
		return true
	}
	if o.delay == nil {
		return false
	}
	d := o.delay(mac)
	if d <= 0 || o.later.Load() >= maxLater {
		return false
	}
	o.later.Add(1)
	own := *x
	own.Data = slices.Clone(x.Data) // What it lies in is the next answer's.
	o.after(d, func() {
		defer o.later.Add(-1)
		o.send([]dhcp.Outgoing{own})
	})
	return true
}

const (
	// Where things are in a DHCP packet (RFC 2131 §2), and codes of RFC 2132.
	atHardware, atOptions      = 28, 240
	optPad, optType, optEnd    = 0, 53, 255
	typeOffer, ethernetAddress = 2, 6
)

// offered gives the MAC that a packet offers an address to; false for any other packet.
func offered(b []byte) (boot.MAC, bool) {
	for i := atOptions; i < len(b) && b[i] != optEnd; {
		if b[i] == optPad {
			i++
			continue
		}
		if i+1 >= len(b) {
			break
		}
		if b[i] != optType {
			i += 2 + int(b[i+1])
			continue
		}
		if i+2 >= len(b) || b[i+2] != typeOffer {
			break
		}
		return boot.MAC(net.HardwareAddr(b[atHardware : atHardware+ethernetAddress]).String()), true
	}
	return "", false
}

// turns says how long this bootd waits with its offers. Who is live is asked for once a second.
type turns struct {
	self  string
	peers func(network boot.Name) []string

	mu    sync.Mutex
	asked time.Time
	known map[boot.Name][]string
}

// of a machine: none where it's this bootd's turn, or where no other one is known to be live.
func (t *turns) of(mac boot.MAC, network boot.Name) time.Duration {
	return tiebreak.Delay(tiebreak.Rank(mac, t.self, t.others(network)))
}

// others are the other bootds of a network that are known to be live.
func (t *turns) others(network boot.Name) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known == nil || time.Since(t.asked) > time.Second {
		t.known, t.asked = map[boot.Name][]string{}, time.Now()
	}
	peers, ok := t.known[network]
	if !ok {
		peers = t.peers(network)
		slices.Sort(peers)
		t.known[network] = peers
	}
	return peers
}

// turn of an offer; nil where it's always this bootd's. Beside a bootd that installs, one that doesn't comes second: a machine that takes its
// offer isn't installed.
func (d *daemon) turn() func(boot.MAC) time.Duration {
	if d.c.NoInstall {
		return func(boot.MAC) time.Duration { return tiebreak.Delay(1) }
	}
	s, ok := d.source.(interface {
		Peers(network boot.Name) []string
	})
	if !ok {
		return nil
	}
	t := &turns{self: boot.Name{Namespace: d.c.Namespace, Name: d.c.Name}.String(), peers: s.Peers}
	skewed := skewedBy(d.source)
	return func(mac boot.MAC) time.Duration {
		st := d.state()
		if st == nil {
			return 0
		}
		network, ok := st.NetworkOf(mac)
		if !ok {
			return 0
		}
		if skewed != nil && skewed() && len(t.others(network)) > 0 {
			return tiebreak.Behind // Who takes its offer isn't installed; whom no other one hears has its address and its disk.
		}
		return t.of(mac, network)
	}
}

// leaving is leaves while this bootd is stopping, and nil before.
func (d *daemon) leaving() func(boot.MAC) bool {
	if !d.activity.stopping.Load() {
		return nil
	}
	return d.leaves
}

// leaves says of a machine that asks whether its offer is left to another one. Where there's none, who asks now is answered: a system that boots its disk
// needs its lease, and an iPXE that was just loaded goes on.
func (d *daemon) leaves(mac boot.MAC) bool {
	left := d.left(mac)
	if !left && d.activity.stopping.Load() {
		d.activity.touch() // It asks for its address next.
	}
	return left
}

// left says whether this bootd is stopping and another one that's live serves the machine's network.
func (d *daemon) left(mac boot.MAC) bool {
	if !d.activity.stopping.Load() {
		return false
	}
	s, ok := d.source.(interface {
		Peers(network boot.Name) []string
	})
	st := d.state()
	if !ok || st == nil {
		return false
	}
	network, ok := st.NetworkOf(mac)
	return ok && len(s.Peers(network)) > 0
}
