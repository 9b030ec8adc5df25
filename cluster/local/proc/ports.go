package proc

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
)

// Ports are taken below Linux's ephemeral range (32768 and up), where outgoing connections would race for them.
const (
	firstPort = 20000
	lastPort  = 32000
)

// Ports hands out ports of 127.0.0.1, free for both TCP and UDP, that no other process of this user with the same folder is
// given until Close: a lock file a port bridges the time until the server listens, and while it's restarted.
// Its methods may be called concurrently.
type Ports struct {
	dir string

	mu    sync.Mutex
	locks []*os.File
}

// NewPorts keeps its lock files in dir, which is made.
func NewPorts(dir string) (*Ports, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("cannot make the folder of port locks: %w", err)
	}
	return &Ports{dir: dir}, nil
}

// Next returns a port that is free and stays reserved until Close.
func (p *Ports) Next() (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for range 1000 {
		port := firstPort + rand.IntN(lastPort-firstPort) //nolint:gosec // Not a secret.
		if p.lock(port) {
			return port, nil
		}
	}
	return 0, fmt.Errorf("no free port between %d and %d on 127.0.0.1", firstPort, lastPort)
}

// Close gives all ports back.
func (p *Ports) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.locks {
		// The file goes while the lock is held: whoever opened it before sees that its lock has no name any more.
		_ = os.Remove(f.Name()) // A left-over lock file without a lock does no harm.
		_ = f.Close()           // Nothing was written.
	}
	p.locks = nil
}

func (p *Ports) lock(port int) bool {
	name := filepath.Join(p.dir, strconv.Itoa(port))
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return false
	}
	if !locked(f) || !isFree(port) {
		_ = f.Close() // Nothing was written.
		return false
	}
	p.locks = append(p.locks, f)
	return true
}

// locked takes the lock and looks whether the file still has its name.
func locked(f *os.File) bool {
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return false
	}
	held, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(f.Name())
	return err == nil && os.SameFile(held, named)
}

func isFree(port int) bool {
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	l, err := net.Listen("tcp", addr) //nolint:noctx // Loopback answers at once.
	if err != nil {
		return false
	}
	defer l.Close()                         // Only tried.
	u, err := net.ListenPacket("udp", addr) //nolint:noctx // Loopback answers at once.
	if err != nil {
		return false
	}
	return u.Close() == nil
}
