package bootd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// said runs a bootd of one machine, and gives what it has written when it's ready.
func said(t *testing.T, change func(*Config)) (Config, *lines) {
	t.Helper()
	c, log := config(t), &lines{}
	c.PlansDir, c.HealthListen, c.Logger = t.TempDir(), freePort(t), slogTo(log)
	if err := os.WriteFile(filepath.Join(c.PlansDir, "a.yaml"), fmt.Appendf(nil, plans, "http://127.0.0.1:1"), 0o600); err != nil {
		t.Fatal(err)
	}
	change(&c)
	running(t, c)
	return c, log
}

// TestFewFilesAreSaidOnce: a bootd has a server for machines and one for its metrics, and one sentence of both.
func TestFewFilesAreSaidOnce(t *testing.T) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	few := limit
	few.Cur = min(limit.Max, 4096)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Setrlimit(unix.RLIMIT_NOFILE, &limit) })
	_, log := said(t, func(*Config) {})
	if n := strings.Count(log.String(), "few files may be open"); n != 1 {
		t.Errorf("it's said %d times:\n%s", n, log)
	}
}

// TestNoHTTPIsSaid: where nothing serves what a first stage goes on by, machines have addresses and nothing to load, and the log says so.
func TestNoHTTPIsSaid(t *testing.T) {
	const words = "machines get addresses and nothing to boot"
	c, log := said(t, func(c *Config) { c.HTTPListen = "" })
	if file := request(t, c.DHCPListen); file != "" || !strings.Contains(log.String(), words) {
		t.Errorf("a machine is sent to %q, and the log says:\n%s", file, log)
	}
	if c, log := said(t, func(*Config) {}); request(t, c.DHCPListen) == "" || strings.Contains(log.String(), words) {
		t.Errorf("with HTTP:\n%s", log)
	}
}
