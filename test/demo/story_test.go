package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// known makes facts of milestones.
func known(address string, ms ...milestone) facts {
	f := facts{address: address, reason: "WaitingForSomething"}
	for _, m := range ms {
		f.reached[m] = true
	}
	return f
}

func TestTake(t *testing.T) {
	cases := map[string]struct {
		reason string
		looks  []facts
		want   [][]milestone
	}{
		"OneByOne": {
			reason: "Each milestone is told once.",
			looks:  []facts{known(""), known("a", atAddress), known("a", atAddress), known("a", atAddress, atPlan)},
			want:   [][]milestone{nil, {atAddress}, nil, {atPlan}},
		},
		"Implied": {
			reason: "What was passed between two looks is told with what came after.",
			looks:  []facts{known("a", atAddress), known("a", atDHCP)},
			want:   [][]milestone{{atAddress}, {atPlan, atPower, atDHCP}},
		},
		"Back": {
			reason: "A story doesn't go back.",
			looks:  []facts{known("a", atAddress), known("")},
			want:   [][]milestone{{atAddress}, nil},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &story{}
			var got [][]milestone
			for _, f := range tc.looks {
				got = append(got, s.take(f, time.Second))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\ntake: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestLive(t *testing.T) {
	s := &story{claim: "team-a/web-1", host: "r7-u12"}
	cases := []struct {
		reason string
		facts  facts
		at     time.Duration
		width  int
		want   string
	}{
		{"Nothing yet: only why.", known(""), 0, 200, "team-a/web-1   r7-u12  … WaitingForSomething"},
		{"The address itself is shown.", known("10.77.0.2/24", atAddress), 1200 * time.Millisecond, 200, "team-a/web-1   r7-u12  10.77.0.2/24 1.2 … WaitingForSomething"},
		{"A narrow terminal doesn't wrap.", known("10.77.0.2/24", atAddress), 0, 20, "team-a/web-1   r7-u…"},
		{
			"Ready says no reason.", known("10.77.0.2/24", atReady), 4 * time.Second, 200,
			"team-a/web-1   r7-u12  10.77.0.2/24 1.2 → plan 4.0 → power 4.0 → DHCP 4.0 → iPXE 4.0 → kernel 4.0 → installed 4.0 → Ready 4.0",
		},
	}
	for _, tc := range cases {
		s.take(tc.facts, tc.at)
		if diff := cmp.Diff(tc.want, s.live(tc.width)); diff != "" {
			t.Errorf("%s\nlive: -want, +got:\n%s", tc.reason, diff)
		}
	}
}

func TestScreen(t *testing.T) {
	a, b := &story{claim: "x/a", host: "h1"}, &story{claim: "x/b", host: "h2"}
	all := []*story{a, b}
	cases := map[string]struct {
		reason string
		width  int
		want   []string
		not    []string
	}{
		"Terminal": {"Lines are drawn over.", 80, []string{"\x1b[2A", "\x1b[K"}, nil},
		"Pipe":     {"A line a milestone, without control characters.", 0, []string{"x/a            h1      10.0.0.1/24\n"}, []string{"\x1b"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			s := &screen{out: &out, width: tc.width}
			a.reached, a.at = [milestones]bool{}, [milestones]time.Duration{}
			s.show(all, a, a.take(known("10.0.0.1/24", atAddress), time.Second))
			s.show(all, b, nil)
			for _, w := range tc.want {
				if !strings.Contains(out.String(), w) {
					t.Errorf("%s\nwant %q in %q", tc.reason, w, out.String())
				}
			}
			for _, n := range tc.not {
				if strings.Contains(out.String(), n) {
					t.Errorf("%s\nwant no %q in %q", tc.reason, n, out.String())
				}
			}
		})
	}
}

func TestPlace(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	p, err := newPlace()
	if err != nil {
		t.Fatal(err)
	}
	unlock, err := p.lock()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.lock(); err == nil || !strings.Contains(err.Error(), "demo-down") {
		t.Errorf("a second demo: want an error that says how to end the first, got %v", err)
	}
	unlock()
	if err := p.end(t.Context()); err != nil {
		t.Errorf("end where nothing runs: %v", err)
	}
}
