package ownnet

import (
	"errors"
	"net"
	"os"
	"strings"
	"testing"
)

// TestInside: there is nothing but a loopback, and the network is another one than outside.
func TestInside(t *testing.T) {
	if os.Getenv(marker) == "" {
		t.Setenv("OWNNET_TEST_OUTSIDE", netOf(t))
	}
	if !Inside(t) {
		return
	}
	links, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	if len(links) != 1 || links[0].Flags&net.FlagLoopback == 0 || links[0].Flags&net.FlagUp != 0 {
		t.Errorf("want a loopback alone, which is down, got %v", links)
	}
	if outside := os.Getenv("OWNNET_TEST_OUTSIDE"); outside == netOf(t) || outside == "" {
		t.Errorf("the network is the one outside: %q", outside)
	}
}

// netOf this process.
func netOf(t *testing.T) string {
	t.Helper()
	n, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestJudge(t *testing.T) {
	cases := map[string]struct {
		reason, out    string
		ended          error
		skipped, wrong string
	}{
		"Pass":     {"it ran, and all is well", "=== RUN   TestX\n--- PASS: TestX (0.00s)\nPASS\n", nil, "", ""},
		"Fail":     {"what it printed is told", "--- FAIL: TestX (0.00s)\n    x.go:1: so it goes\n", errors.New("exit status 1"), "", "so it goes"},
		"Skip":     {"it needs something that isn't there", "--- SKIP: TestX (0.00s)\n    x.go:1: no veth\nPASS\n", nil, "no veth", ""},
		"SkipPart": {"a part that isn't tried is told", "--- PASS: TestX (0.00s)\n    --- SKIP: TestX/Part (0.00s)\nPASS\n", nil, "TestX/Part", ""},
		"None":     {"a program that runs no test ends well", "testing: warning: no tests to run\nPASS\n", nil, "", "didn't run"},
		"Another":  {"nor is it another one's word", "--- PASS: TestXY (0.00s)\nPASS\n", nil, "", "didn't run"},
		"Killed":   {"the system ended it", "", errors.New("signal: killed"), "", "killed"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			skipped, wrong := judge("TestX", tc.out, tc.ended)
			if !says(skipped, tc.skipped) || !says(wrong, tc.wrong) {
				t.Errorf("%s: skipped %v, wrong %v", tc.reason, skipped, wrong)
			}
		})
	}
}

func says(err error, what string) bool {
	return (err == nil) == (what == "") && (err == nil || strings.Contains(err.Error(), what))
}
