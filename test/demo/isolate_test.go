package main

import (
	"context"
	"io"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/test/able"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netns"
)

func TestMain(m *testing.M) {
	if netns.Isolated() {
		os.Exit(kept())
	}
	os.Exit(m.Run())
}

// kept does what a demo in namespaces of its own does where it's to be kept: it has a server, says that everything is up, and waits
// until it's asked to end.
func kept() int {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	if err := netns.Enter(); err != nil {
		return 1
	}
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 1
	}
	go answer(server)
	if _, err := forwarded(server.Addr().String()); err != nil {
		return 1
	}
	if _, err := os.NewFile(readyFD, "ready").WriteString("up"); err != nil {
		return 1
	}
	<-asked
	return 0
}

// answer repeats to each client all that it said.
func answer(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		asked, _ := io.ReadAll(c) // The end of the question is passed on.
		_, _ = io.WriteString(c, "heard "+string(asked))
		_ = c.Close()
	}
}

// ask sends a question to its end and returns the whole answer.
func ask(t *testing.T, address, question string) string {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() // Read to its end.
	if _, err := io.WriteString(c, question); err != nil {
		t.Fatal(err)
	}
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

// TestForward sends bytes both ways, and each side's end.
func TestForward(t *testing.T) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	go answer(server)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go forward(l, server.Addr().String()) // Until the test program ends, as in the demo.
	if got := ask(t, l.Addr().String(), "you"); got != "heard you" {
		t.Errorf("got %q", got)
	}
}

// TestKeptIsReachable asks from outside a server that only listens in namespaces of its own, and ends it as "make demo-down" does.
func TestKeptIsReachable(t *testing.T) {
	able.Need(t, netns.Missing())
	up, failed := make(chan struct{}), make(chan error, 1)
	files, err := handed(func() { close(up) })
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.FileListener(files[1])
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close() // Only its address was wanted.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		code, err := netns.Run(ctx, files...)
		if code != 0 && err == nil {
			err = errBoom
		}
		failed <- err
	}()
	select {
	case <-up:
	case err := <-failed:
		t.Fatalf("it ended: %v", err)
	}
	if got := ask(t, address, strings.Repeat("x", 1<<20)); len(got) != len("heard ")+1<<20 {
		t.Errorf("%d bytes came back", len(got))
	}
	cancel()
	if err := <-failed; err != nil {
		t.Errorf("it ends well when it's asked to: %v", err)
	}
}
