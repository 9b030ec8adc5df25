package bootd

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
)

// followEvery is how often it's looked whether an interface is still the one that its socket hears.
const followEvery = time.Second

// A follower keeps a socket at whatever interface has a name. The kernel binds one to an interface's number: a VLAN or a bond that is taken down and made
// anew has another, and the socket would hear nothing for ever, without a word.
type follower struct {
	name string
	// find gives the number of the interface with the name, bind has the socket hear it.
	find func(name string) (int, error)
	bind func(name string) error
	log  *slog.Logger

	// at is the number that is heard. gone says that the interface was away when it was last looked for, deaf that the socket couldn't be bound then.
	at         int
	gone, deaf bool
}

// follow makes a follower of a socket that was just bound to an interface.
func follow(name string, c syscall.Conn, log *slog.Logger) *follower {
	f := &follower{name: name, log: log, find: indexOf, bind: func(name string) error { return bindTo(c, name) }}
	f.at, _ = f.find(name)
	return f
}

func indexOf(name string) (int, error) {
	i, err := net.InterfaceByName(name)
	if err != nil {
		return 0, err //nolint:wrapcheck // It's not shown.
	}
	return i.Index, nil
}

// bindTo has a socket hear one interface.
func bindTo(c syscall.Conn, name string) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err //nolint:wrapcheck // Nobody knows more.
	}
	if cerr := raw.Control(func(fd uintptr) { err = unix.SetsockoptString(int(fd), unix.SOL_SOCKET, unix.SO_BINDTODEVICE, name) }); cerr != nil {
		return cerr //nolint:wrapcheck // The same.
	}
	return err
}

// run looks after the socket until ctx ends or it's closed.
func (f *follower) run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(followEvery):
		}
		if closed := f.look(); closed {
			return nil
		}
	}
}

// look binds the socket anew where its interface is another one by now; closed: there is no socket any more.
func (f *follower) look() (closed bool) {
	index, err := f.find(f.name)
	switch {
	case err != nil && !f.gone:
		f.gone = true
		f.log.Warn("an interface that DHCP is heard on is gone; it's heard again when it's back", "interface", f.name)
	case err == nil && index != f.at:
		if err := f.bind(f.name); err != nil {
			if errors.Is(err, net.ErrClosed) {
				return true
			}
			if !f.deaf {
				f.log.Error("DHCP isn't heard on an interface that was made anew; it's tried again each second", "interface", f.name, "error", err.Error())
			}
			f.deaf = true
			return false
		}
		f.at, f.gone, f.deaf = index, false, false
		f.log.Info("an interface was made anew, and DHCP is heard on it", "interface", f.name)
	case err == nil:
		f.gone = false
	}
	return false
}

// followed is a Conn that is looked after until it's closed.
type followed struct {
	dhcp.Conn

	stop context.CancelFunc
}

// Close ends both.
func (f followed) Close() error {
	f.stop()
	return f.Conn.Close()
}
