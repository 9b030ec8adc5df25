package boot

import (
	"testing"
	"time"
)

func TestExchange(t *testing.T) {
	const derived = "0123456789abcdef"
	now := noon.Add(30 * time.Second)
	cases := map[string]struct {
		reason string
		nonce  string
		want   time.Time
	}{
		"Now":     {"it's known to the minute", Stamped(derived, now), noon},
		"Earlier": {"as old as it is", Stamped(derived, noon.Add(-time.Hour)), noon.Add(-time.Hour)},
		"Day":     {"the oldest token that's good", Stamped(derived, noon.Add(-25*time.Hour)), noon.Add(-25 * time.Hour)},
		"Ahead":   {"another bootd's clock is ahead of ours: it has just begun", Stamped(derived, noon.Add(50*time.Minute)), noon},
		"Jumped":  {"our clock went back a day: it's old, and begins again with DHCP", Stamped(derived, noon.Add(24*time.Hour)), noon.Add(24*time.Hour - stamps*time.Minute)},
		"None":    {"no nonce says nothing", "", time.Time{}},
		"NoHex":   {"nor does what isn't one", "xyz", time.Time{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			x := Claims{GrantID: "00000000000000a1", Nonce: tc.nonce}.Exchange(now)
			if !x.Began.Equal(tc.want) || x.GrantID != "00000000000000a1" {
				t.Errorf("%s: got %+v, want %s", tc.reason, x, tc.want)
			}
		})
	}
	if got := Stamped(derived, noon); len(got) != len(derived) || got[stampDigits:] != derived[stampDigits:] {
		t.Errorf("Stamped(%q) is %q", derived, got)
	}
}

// servedAt is when its newest script was served.
func servedAt(at time.Time) func(*Session) {
	return func(s *Session) { s.Opened[len(s.Opened)-1].At = at }
}

// TestBefore: what is asked for by a token of before an install says nothing of the machine that is installing.
func TestBefore(t *testing.T) {
	const a, b, c = "00000000000000a1", "00000000000000b1", "00000000000000c1"
	used := session(opened(a, b), consumedBy(b))
	used.Consumed.At = noon.Add(90 * time.Second)
	cases := map[string]struct {
		reason string
		s      *Session
		began  time.Time
		nonces []string
		want   bool
	}{
		"None":     {"There's no session.", nil, noon, nil, false},
		"Unused":   {"Nothing was installed.", session(opened(a, b)), noon, []string{a}, false},
		"Old":      {"Its exchange was over before the grant was used.", used, noon, []string{c}, true},
		"New":      {"The machine has begun again since.", used, noon.Add(2 * time.Minute), []string{c}, false},
		"Minute":   {"It may have begun again within the minute.", used, noon.Add(time.Minute), []string{c}, false},
		"Own":      {"It's the token of the very boot that installs.", used, noon.Add(time.Minute), []string{c, b}, true},
		"Served":   {"It's one of before that.", used, noon.Add(time.Minute), []string{a}, true},
		"OtherOne": {"What was served for another grant says nothing.", session(opened(a), func(s *Session) { s.OpenedGrantID = "x" }, consumedBy(b)), noon, []string{a}, false},
		"Nothing":  {"A token that doesn't say when it was.", used, time.Time{}, []string{c}, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.s.Before(Exchange{Began: tc.began}, tc.nonces...); got != tc.want {
				t.Errorf("%s: got %t", tc.reason, got)
			}
		})
	}
}

func TestOutdated(t *testing.T) {
	const a, b, c = "00000000000000a1", "00000000000000b1", "00000000000000c1"
	const otherArch = "00000000000000a2"
	now, early, late := noon.Add(10*time.Minute), noon.Add(-time.Minute), noon.Add(9*time.Minute)
	with := "00000000000000a1"
	cases := map[string]struct {
		reason string
		s      *Session
		nonce  string
		x      Exchange
		want   bool
	}{
		"First":       {"Nobody was served.", session(), a, Exchange{Began: early, GrantID: with}, false},
		"Waited":      {"Nobody was served, though it waited for its files for long.", session(), a, Exchange{Began: early, GrantID: with}, false},
		"Repeat":      {"The newest script again.", session(opened(a, b)), b, Exchange{Began: early, GrantID: with}, false},
		"Replay":      {"An earlier script again, a moment later.", session(opened(a, b)), a, Exchange{Began: late, GrantID: with}, true},
		"ReplayArch":  {"An earlier script, asked for as of another architecture.", session(opened(a, b)), otherArch, Exchange{Began: late, GrantID: with}, true},
		"NewestArch":  {"No firmware says two architectures by one token.", session(opened(b, a)), otherArch, Exchange{Began: early, GrantID: with}, true},
		"RepeatLate":  {"The newest script again, long after its machine had it.", session(opened(a, b), servedAt(now.Add(-repeats))), b, Exchange{Began: early, GrantID: with}, true},
		"RepeatSoon":  {"The newest script again, within the time that a machine may load.", session(opened(a, b), servedAt(now.Add(time.Second-repeats))), b, Exchange{Began: early, GrantID: with}, false},
		"Began":       {"A machine that has begun again.", session(opened(a, b)), c, Exchange{Began: late, GrantID: with}, false},
		"Unused":      {"A token that nobody used, of an exchange before the last script.", session(opened(a, b)), c, Exchange{Began: early, GrantID: with}, true},
		"LaterButOld": {"A token of after the last script, whose machine waited.", session(opened(a)), c, Exchange{Began: noon.Add(time.Minute), GrantID: with}, false},
		"ClockAhead":  {"The last script was served by a clock that is ahead.", session(opened(a), servedAt(noon.Add(6*time.Hour))), c, Exchange{Began: noon.Add(time.Minute), GrantID: with}, false},
		"BeforeGrant": {"A token of before the grant, from a log.", session(), a, Exchange{Began: early}, true},
		"OtherGrant":  {"A token of another grant.", session(), a, Exchange{Began: early, GrantID: "00000000000000a0"}, true},
		"Unheard":     {"A machine that has just begun, by a bootd that hadn't heard of the grant.", session(), a, Exchange{Began: late}, false},
		"OfAnother":   {"What another grant's scripts were doesn't count.", session(opened(a, b), func(s *Session) { s.Grant.ID = "00000000000000a2" }), a, Exchange{Began: late}, false},
		"Nothing":     {"An exchange that says nothing is old.", session(), a, Exchange{}, true},
		"NoGrant":     {"Nothing is granted: nothing is taken over.", session(func(s *Session) { s.Grant = nil }), a, Exchange{}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Outdated(*tc.s, tc.nonce, tc.x, now); got != tc.want {
				t.Errorf("%s: got %t", tc.reason, got)
			}
		})
	}
}
