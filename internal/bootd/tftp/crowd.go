package tftp

import (
	"time"

	"golang.org/x/sys/unix"
)

const (
	// crowded is how many packets of transfers in a turn make a crowd, and sparse how few end it: one each 60 µs would be worth looking for
	// (see spin), and to change costs as much as a hundred of them where there are a hundred transfers.
	crowded = 24
	sparse  = 8
	// each is how many sockets may be looked into for each packet, lest those that have nothing keep the others waiting.
	each = 4
	// glance is how often a crowd's loop looks whether anybody else has come.
	glance = 50 * time.Microsecond
)

// A crowd is the transfers of a loop that so much comes of that it reads their sockets in turn, without epoll. The kernel tells an epoll of
// each packet that comes to a socket, and of each that has left it: he who sends us ACKs does that work, too, and there are always enough of
// them that looking in vain costs less.
type crowd struct {
	on      bool
	members []*running
	// packets came since began.
	packets       int
	began, looked time.Time
}

// enter has the loop hear of what comes to a transfer's own socket.
func (l *loop) enter(r *running) error {
	l.bySocket[r.fd] = r
	if l.crowd.on {
		l.crowd.members = append(l.crowd.members, r)
		return nil
	}
	return l.watch(r.fd)
}

// count looks once a turn how much comes.
func (l *loop) count() {
	if l.now.Sub(l.crowd.began) < turn {
		return
	}
	packets := l.crowd.packets
	l.crowd.began, l.crowd.packets = l.now, 0
	switch {
	case !l.crowd.on && packets >= max(crowded, len(l.bySocket)/each):
		l.gather()
	case l.crowd.on && packets < max(sparse, len(l.crowd.members)/(4*each)):
		l.scatter()
	}
}

// gather makes a crowd of all who have a socket of their own.
func (l *loop) gather() {
	l.crowd.on = true
	for fd, r := range l.bySocket {
		l.crowd.members = append(l.crowd.members, r)
		_ = unix.EpollCtl(l.poll, unix.EPOLL_CTL_DEL, fd, nil) // What can't be taken out is told of twice.
	}
}

// scatter goes back to epoll, which tells of what came meanwhile, too.
func (l *loop) scatter() {
	members := l.crowd.members
	l.crowd.on, l.crowd.members = false, nil
	for _, r := range members {
		if r.ended {
			continue
		}
		if err := l.watch(r.fd); err != nil {
			l.end(r, Aborted, err)
		}
	}
}

// round reads each socket of a crowd once.
func (l *loop) round() {
	members := l.crowd.members[:0]
	for i, r := range l.crowd.members {
		if i%events == events-1 { // As many as epoll tells of at once.
			l.now = time.Now()
			l.yield()
		}
		if !r.ended {
			members = append(members, r)
			l.read(r)
		}
	}
	clear(l.crowd.members[len(members):])
	l.crowd.members = members
}

// look is what wait is in a crowd: it doesn't, and looks for others now and then.
func (l *loop) look(list []unix.EpollEvent) (int, error) {
	l.yield()
	if l.now.Sub(l.crowd.looked) < glance {
		return 0, nil
	}
	l.crowd.looked = l.now
	return pollNow(l.poll, list)
}
