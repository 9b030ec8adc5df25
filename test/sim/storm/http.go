package storm

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// stillness is how long nothing may come before a machine gives up a connection, as iPXE does after a minute.
	stillness = time.Minute
	maxScript = 64 << 10
)

// client is a machine's connection.
type client struct {
	conn *net.TCPConn
	in   *bufio.Reader
	done func() bool
}

// dial opens a connection to a URL's server, from an address of this host's loopback where the machine has one.
func dial(ctx context.Context, to string, from netip.Addr) (*client, error) {
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "http" {
		return nil, fmt.Errorf("there's no script at %q", to)
	}
	d := net.Dialer{Timeout: stillness}
	if from.IsLoopback() {
		d.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(from, 0))
	}
	c, err := d.DialContext(ctx, "tcp4", u.Host)
	if err != nil {
		return nil, fmt.Errorf("cannot reach the server: %w", err)
	}
	conn, ok := c.(*net.TCPConn)
	if !ok {
		return nil, errors.New("it's no TCP connection")
	}
	return &client{conn: conn, in: bufio.NewReader(conn), done: context.AfterFunc(ctx, func() { _ = conn.Close() })}, nil
}

func (c *client) close() {
	c.done()
	_ = c.conn.Close()
}

// get asks for a URL of this connection's server, and gives the answer's header.
func (c *client) get(address string) (*http.Response, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("cannot parse %q: %w", address, err)
	}
	_ = c.conn.SetDeadline(time.Now().Add(stillness))
	if _, err := fmt.Fprintf(c.conn, "GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: iPXE/1.21.1\r\n\r\n", u.RequestURI(), u.Host); err != nil {
		return nil, err
	}
	resp, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("answered %d", resp.StatusCode)
	}
	return resp, nil
}

func (c *client) text(address string) (string, error) {
	resp, err := c.get(address) //nolint:bodyclose // It's the connection's.
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxScript))
	return string(b), err
}

// file takes a file, and its digest where it's to be compared. It's whole, or there's an error.
func (c *client) file(address string, compare bool, nowhere []byte) (n int64, digest string, err error) {
	resp, err := c.get(address) //nolint:bodyclose // It's the connection's.
	if err != nil {
		return 0, "", err
	}
	if compare {
		h := sha256.New()
		n, err = io.Copy(h, still{resp.Body, c.conn})
		digest = "sha256:" + hex.EncodeToString(h.Sum(nil))
	} else {
		n, err = c.skip(resp.ContentLength, nowhere)
	}
	if err == nil && n != resp.ContentLength {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return n, "", fmt.Errorf("broke off after %d bytes: %w", n, err)
	}
	return n, digest, nil
}

// skip takes a file's octets without looking at them: the kernel drops them where they are (tcp(7), MSG_TRUNC). Nowhere is how many at once,
// and nothing is written to it: all machines have one.
func (c *client) skip(length int64, nowhere []byte) (n int64, err error) {
	first, err := c.in.Discard(int(min(length, int64(c.in.Buffered()))))
	if n = int64(first); err != nil {
		return n, err
	}
	raw, err := c.conn.SyscallConn()
	if err != nil {
		return n, err
	}
	for n < length {
		_ = c.conn.SetReadDeadline(time.Now().Add(stillness))
		var got int
		var cause error
		err := raw.Read(func(fd uintptr) bool {
			got, _, cause = unix.Recvfrom(int(fd), nowhere[:min(length-n, int64(len(nowhere)))], unix.MSG_TRUNC)
			return !errors.Is(cause, unix.EAGAIN)
		})
		switch {
		case err != nil:
			return n, err
		case errors.Is(cause, unix.EINTR):
			continue
		case cause != nil:
			return n, cause
		case got == 0:
			return n, io.ErrUnexpectedEOF
		}
		n += int64(got)
	}
	return n, nil
}

// still is a body that may take as long as something of it comes now and then.
type still struct {
	io.Reader

	conn net.Conn
}

func (s still) Read(b []byte) (int, error) {
	_ = s.conn.SetReadDeadline(time.Now().Add(stillness))
	return s.Reader.Read(b)
}
