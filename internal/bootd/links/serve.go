package links

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// short is how long we wait where the system is short of memory: machines ask again.
const short = 10 * time.Millisecond

// A Conn is what packets come from, each with where it came in.
type Conn[Ingress any] interface {
	Receive(b []byte) (n int, in Ingress, err error)
	Close() error
}

// Serve gives each packet, of at most size bytes, to one, until the context ends or the connection fails. It closes the connection. What is
// heard there, such as "DHCPv6 requests", is for the error. The slice is the next packet's, too. A packet that causes a panic is logged, and
// the next one is received.
func Serve[Ingress any](ctx context.Context, c Conn[Ingress], what string, size int, log *slog.Logger, one func(b []byte, in Ingress)) error {
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	b := make([]byte, size)
	for {
		n, in, err := c.Receive(b)
		switch {
		case ctx.Err() != nil || errors.Is(err, net.ErrClosed):
			return nil
		case errors.Is(err, unix.ENOBUFS) || errors.Is(err, unix.ENOMEM):
			time.Sleep(short)
			continue
		case err != nil:
			_ = c.Close()
			return fmt.Errorf("cannot receive %s: %w", what, err)
		}
		guarded(log, what, b[:n], in, one)
	}
}

// guarded has one packet dealt with: a hostile one must not end the boots of a rack.
func guarded[Ingress any](log *slog.Logger, what string, b []byte, in Ingress, one func(b []byte, in Ingress)) {
	defer func() {
		if r := recover(); r != nil {
			log.Error("a packet caused a panic", "heard", what, "from", fmt.Sprintf("%+v", in), "panic", fmt.Sprint(r))
		}
	}()
	one(b, in)
}
