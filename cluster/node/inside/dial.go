package inside

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"
)

// dialTimeout bounds a connection inside, where nothing is further away than the kernel.
const dialTimeout = 5 * time.Second

// Dial connects, from outside, to a TCP address inside: by the runner's socket, which a network namespace doesn't hide. The
// first line names the address, the answer's first line is "ok" or says what is wrong, and then bytes go both ways.
func Dial(ctx context.Context, socket, address string) (net.Conn, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, fmt.Errorf("cannot reach the node: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	answer, err := ask(c, address)
	if err == nil && answer != "ok" {
		err = errors.New(answer)
	}
	if !stop() {
		err = errors.Join(err, ctx.Err())
	}
	if err != nil {
		_ = c.Close() // Nothing was sent that counts.
		return nil, fmt.Errorf("cannot reach %s from the node: %w", address, err)
	}
	return c, nil
}

// ask reads the answer byte by byte: what comes after it is the connection's.
func ask(c net.Conn, address string) (string, error) {
	if _, err := io.WriteString(c, address+"\n"); err != nil {
		return "", err
	}
	var line strings.Builder
	for b := make([]byte, 1); ; {
		if _, err := io.ReadFull(c, b); err != nil {
			return "", err
		}
		if b[0] == '\n' {
			return line.String(), nil
		}
		line.WriteByte(b[0])
	}
}

// serveDials answers Dial until the process ends.
func serveDials(socket string) error {
	_ = os.Remove(socket) // A runner that was killed may have left it.
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "unix", socket)
	if err != nil {
		return fmt.Errorf("cannot listen for the outside: %w", err)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil { // Nobody closes it: there are too many connections, and some will end.
				time.Sleep(100 * time.Millisecond)
				continue
			}
			go connect(c)
		}
	}()
	return nil
}

func connect(outer net.Conn) {
	defer outer.Close() // All that was copied has been sent.
	r := bufio.NewReader(outer)
	line, err := r.ReadString('\n')
	if err != nil {
		return // Whoever asks nothing gets no answer.
	}
	inner, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(context.Background(), "tcp", strings.TrimSpace(line))
	if err != nil {
		_, _ = io.WriteString(outer, strings.ReplaceAll(err.Error(), "\n", " ")+"\n") // Or it has gone.
		return
	}
	defer inner.Close() // All that was copied has been sent.
	if _, err := io.WriteString(outer, "ok\n"); err != nil {
		return
	}
	Splice(outer, r, inner)
}

// Splice copies both ways until both sides have ended. fromA is what is still to be read of a; it may be a itself.
func Splice(a net.Conn, fromA io.Reader, b net.Conn) {
	var wg sync.WaitGroup
	wg.Go(func() { half(b, fromA) })
	wg.Go(func() { half(a, b) })
	wg.Wait()
}

// half copies one way and passes the end on.
func half(to net.Conn, from io.Reader) {
	_, _ = io.Copy(to, from) // A connection may break; then both ends see that it does.
	if c, ok := to.(interface{ CloseWrite() error }); ok {
		_ = c.CloseWrite() // Already closed is as good.
	}
}
