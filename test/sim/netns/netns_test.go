package netns_test

import (
	"net"
	"os"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/netns"
)

func TestMain(m *testing.M) { os.Exit(netns.Main(m, nil)) }

func TestIsolated(t *testing.T) {
	if !netns.Isolated() {
		err := netns.Missing()
		if os.Getenv("CI") == "true" {
			t.Fatalf("cannot run here, and under CI=true that is a failure: %v", err)
		}
		t.Skipf("skipped: %v", err)
	}
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
