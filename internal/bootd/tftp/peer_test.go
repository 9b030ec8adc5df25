package tftp

import (
	"bytes"
	"context"
	"net/netip"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/ownnet"
)

// TestNarrowRoute: a tunnel on the way takes less than our links. The kernel then cuts no window into packets (EMSGSIZE, or EINVAL of
// an older one), and sends each block in fragments.
func TestNarrowRoute(t *testing.T) {
	if !ownnet.Inside(t) {
		return
	}
	narrow(t, 1300)
	to := served(t, func(c *Config) { c.Timeout = 2 * time.Second })
	c := client(t)
	_, tid := exchange(t, c, to, "\x00\x01undionly.kpxe\x00octet\x00blksize\x001468\x00windowsize\x004\x00")
	if got := receive(t, c, tid, 1468, 4); !bytes.Equal(got, content()) {
		t.Errorf("%d bytes came, want %d", len(got), len(content()))
	}
}

// narrow has the loopback up, with an MTU.
func narrow(t *testing.T, mtu uint32) {
	t.Helper()
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(s) }()
	r, err := unix.NewIfreq("lo")
	if err != nil {
		t.Fatal(err)
	}
	r.SetUint32(mtu)
	if err := unix.IoctlIfreq(s, unix.SIOCSIFMTU, r); err != nil {
		t.Skipf("the MTU can't be set: %v", err)
	}
	r.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, r); err != nil {
		t.Skipf("the loopback can't be set up: %v", err)
	}
}

// TestCanSegment: a kernel that doesn't know UDP_SEGMENT says so when it's asked for it, and only then. A socket of another kind
// stands for such a kernel.
func TestCanSegment(t *testing.T) {
	other, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(other) }()
	if canSegment(other) {
		t.Error("what doesn't know UDP_SEGMENT would send a window as one packet")
	}
}

// TestWakeIsWritten: once the loop goes on to close its descriptors, nobody writes to one of them any more: its number may be
// another file's.
func TestWakeIsWritten(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for range 100 {
		fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
		if err != nil {
			t.Fatal(err)
		}
		l := &loop{wake: fd}
		ctx, cancel := context.WithCancel(t.Context())
		stopped := l.wakeAt(ctx)
		cancel()
		stopped()
		_, err = unix.Read(fd, make([]byte, 8))
		_ = unix.Close(fd)
		if err != nil {
			t.Fatalf("the write is still to come: %v", err)
		}
	}
}

// TestPanicEndsOneTransfer: what is sent again goes wrong by itself, as here where a file has less than was said. It's given up, and
// the loop goes on.
func TestPanicEndsOneTransfer(t *testing.T) {
	l := newHall(t)
	to := netip.MustParseAddrPort("127.0.0.1:9")
	l.byClient[to] = &running{
		transfer: newTransfer(5000, 512, 1, false), peer: share(l.main, to, netip.Addr{}), client: to, file: []byte("short"),
	}
	l.byClient[to].acked = 2
	l.expire()
	if len(l.byClient) != 0 || !slices.Equal(l.ended, []Outcome{Aborted}) {
		t.Errorf("%d transfers are left, ended %v", len(l.byClient), l.ended)
	}
}
