package main

import (
	"net"
	"net/http"
	"os"
	"syscall"
	"testing"
	"time"
)

// TestHangup: SIGHUP, by which other servers read their files anew, ends no bootd; SIGTERM does.
func TestHangup(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // A port that is free.
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	_ = l.Close()
	c := parse(t, "--source", "dir:"+t.TempDir(), "--state-dir", t.TempDir(), "--dhcp-listen=", "--tftp-listen=", "--http-listen="+at, "--health-listen=", "--drain=0s")
	ended := make(chan error, 1)
	go func() { ended <- c.Run() }()
	for alive, hung := 0, false; alive < 5; time.Sleep(50 * time.Millisecond) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+at+"/healthz", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			select {
			case err := <-ended:
				t.Fatalf("it has ended, %v", err)
			default:
			}
			if hung {
				t.Fatal("it doesn't answer any more")
			}
			continue
		}
		_ = resp.Body.Close()
		if !hung {
			hung = syscall.Kill(os.Getpid(), syscall.SIGHUP) == nil
		}
		alive++
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
