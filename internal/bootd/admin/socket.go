// Package admin answers the people who run bootd, on its own host: what it would answer a machine and why, and the machine's last packets.
// They ask by HTTP on a unix socket in the state folder. Nothing of a machine's secrets goes out: no token, no password, no user data.
package admin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// socketName in the state folder.
	socketName = "bootd.sock"
	// longestPath is what the address of a unix socket holds, without its NUL (unix(7)).
	longestPath = 107
	headerTime  = 5 * time.Second
	answerTime  = time.Minute
	stopTime    = time.Second
)

// Listen opens the socket in a state folder, for root and this process's own user alone. The folder must be locked by this process: a
// socket that lies there is of an earlier life.
func Listen(ctx context.Context, stateDir string) (net.Listener, error) {
	path := filepath.Join(stateDir, socketName)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("cannot remove the socket of an earlier bootd: %w", err)
	}
	at, done, err := reach(path)
	if err != nil {
		return nil, err
	}
	defer done()
	l, err := (&net.ListenConfig{}).Listen(ctx, "unix", at)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w", path, err)
	}
	if u, ok := l.(*net.UnixListener); ok {
		u.SetUnlinkOnClose(false) // By a name that may be of this moment only.
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot close the socket to others: %w", err), l.Close())
	}
	return &guarded{Listener: l, path: path}, nil
}

// reach gives a name by which a socket can be reached however long its path is, good until done is called.
func reach(path string) (name string, done func(), err error) {
	if len(path) <= longestPath {
		return path, func() {}, nil
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return "", nil, fmt.Errorf("cannot open the folder of the socket: %w", err)
	}
	return "/proc/self/fd/" + strconv.Itoa(int(dir.Fd())) + "/" + filepath.Base(path), func() { _ = dir.Close() }, nil
}

// guarded closes the connections of other users at once. The socket's mode keeps them out, too; but not where somebody changes that.
type guarded struct {
	net.Listener

	path string
}

// Accept gives the next connection of somebody who may ask.
func (g *guarded) Accept() (net.Conn, error) {
	for {
		c, err := g.Listener.Accept()
		if err != nil {
			return nil, err //nolint:wrapcheck // The listener's own words.
		}
		if uid, err := peer(c); err == nil && admitted(uid, os.Geteuid()) {
			return c, nil
		}
		_ = c.Close()
	}
}

// Close closes the listener, and takes its name away.
func (g *guarded) Close() error {
	err := g.Listener.Close()
	_ = os.Remove(g.path)
	return err //nolint:wrapcheck // The listener's own words.
}

func admitted(uid uint32, own int) bool { return uid == 0 || int64(uid) == int64(own) }

// peer is the user at the other end of a unix socket.
func peer(c net.Conn) (uint32, error) {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return 0, errors.New("it's no unix socket")
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return 0, fmt.Errorf("cannot look at the socket: %w", err)
	}
	var cred *unix.Ucred
	cerr := raw.Control(func(fd uintptr) { cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err = errors.Join(cerr, err); err != nil {
		return 0, fmt.Errorf("cannot see who asks: %w", err)
	}
	return cred.Uid, nil
}

// Serve answers until ctx ends. It closes the listener.
func Serve(ctx context.Context, l net.Listener, h http.Handler, log *slog.Logger) error {
	srv := &http.Server{
		Handler: h, ReadHeaderTimeout: headerTime, WriteTimeout: answerTime, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		if srv.Shutdown(late) != nil {
			_ = srv.Close()
		}
	})
	err := srv.Serve(l)
	if stop() {
		return err //nolint:wrapcheck // It says what failed.
	}
	<-stopped
	return nil
}
