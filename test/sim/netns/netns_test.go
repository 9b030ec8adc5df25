package netns_test

import (
	"context"
	"net"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/test/able"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netns"
)

// childVariable makes this test program the one that TestRunEndsWithItsContext runs.
const childVariable = "NETNS_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		os.Exit(child())
	}
	os.Exit(netns.Main(m, nil))
}

// child says on the descriptor that it was given that it's there, and waits until it's asked to end.
func child() int {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	if _, err := os.NewFile(3, "given").WriteString("here"); err != nil {
		return 1
	}
	<-asked
	code, err := strconv.Atoi(os.Getenv(childVariable))
	if err != nil {
		return 1
	}
	return code
}

func isolated(t *testing.T) {
	t.Helper()
	if !netns.Isolated() {
		able.Need(t, netns.Missing())
	}
}

func TestIsolated(t *testing.T) {
	isolated(t)
	links, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	if len(links) != 1 || links[0].Flags&net.FlagUp == 0 {
		t.Errorf("a new namespace has loopback alone, and up: %v", links)
	}
	if os.Getpid() != 1 {
		t.Errorf("process %d: in a process namespace of its own it is the first", os.Getpid())
	}
	c, err := net.ListenPacket("udp4", "127.0.0.1:67")
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
}

// TestRunEndsWithItsContext asks a program in namespaces to end, which then ends as it likes.
func TestRunEndsWithItsContext(t *testing.T) {
	isolated(t)
	for _, want := range []int{0, 3} {
		t.Setenv(childVariable, strconv.Itoa(want))
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			_, _ = r.Read(make([]byte, 1)) // It's there.
			cancel()
		}()
		if code, err := netns.Run(ctx, w); code != want || err != nil {
			t.Errorf("code %d, %v; want %d", code, err, want)
		}
	}
}
