package tftp

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestTransfer is what a transfer of 10 blocks of 8 octets (the last one short) does with what it's told.
func TestTransfer(t *testing.T) {
	type step struct {
		ack  int // the number of an ACK; -1: time is up, -2: the request again
		send burst
		end  bool
	}
	const timeout, again = -1, -2
	blocks := func(from, to int) burst { return burst{from: from, to: to} }
	oack, nothing := burst{oack: true}, burst{}
	cases := map[string]struct {
		reason string
		window int
		oack   bool
		steps  []step
	}{
		"LockStep": {"RFC 1350", 1, false, []step{
			{1, blocks(2, 2), false}, {2, blocks(3, 3), false}, {3, blocks(4, 4), false}, {4, blocks(5, 5), false}, {5, blocks(6, 6), false},
			{6, blocks(7, 7), false}, {7, blocks(8, 8), false}, {8, blocks(9, 9), false}, {9, blocks(10, 10), false}, {10, nothing, true},
		}},
		"Options":          {"the first block waits for the client to agree", 1, true, []step{{0, blocks(1, 1), false}, {1, blocks(2, 2), false}}},
		"OptionsNotAgreed": {"an ACK of a block that wasn't sent isn't it", 1, true, []step{{1, nothing, false}, {0, blocks(1, 1), false}}},
		"OACKTwice":        {"a doubled ACK of the OACK", 1, true, []step{{0, blocks(1, 1), false}, {0, nothing, false}, {1, blocks(2, 2), false}}},
		"LostACK": {"time is up: the same block again", 1, false, []step{
			{1, blocks(2, 2), false}, {timeout, blocks(2, 2), false}, {2, blocks(3, 3), false},
		}},
		"SorcerersApprentice": {"a doubled ACK sends nothing, else each packet would double to the end", 1, false, []step{
			{1, blocks(2, 2), false}, {1, nothing, false}, {1, nothing, false}, {2, blocks(3, 3), false}, {1, nothing, false},
		}},
		"Ahead": {"an ACK of what wasn't sent", 1, false, []step{{5, nothing, false}, {1, blocks(2, 2), false}}},
		"Window": {"RFC 7440", 4, true, []step{
			{0, blocks(1, 4), false}, {4, blocks(5, 8), false}, {8, blocks(9, 10), false}, {10, nothing, true},
		}},
		"WindowLost": {"an ACK in the middle: what follows was lost", 4, true, []step{
			{0, blocks(1, 4), false}, {2, blocks(3, 6), false}, {6, blocks(7, 10), false},
		}},
		"WindowLate": {"an ACK of an older window that was on its way", 4, true, []step{
			{0, blocks(1, 4), false}, {4, blocks(5, 8), false}, {3, nothing, false}, {4, nothing, false}, {8, blocks(9, 10), false},
		}},
		"WindowTimeout": {"the window begins anew behind what the client has", 4, true, []step{
			{0, blocks(1, 4), false}, {3, blocks(4, 7), false}, {timeout, blocks(4, 7), false}, {7, blocks(8, 10), false},
		}},
		"WindowAckEach": {"a client that acknowledges each block gets through all the same", 4, true, []step{
			{0, blocks(1, 4), false}, {1, blocks(2, 5), false}, {2, blocks(3, 6), false}, {3, blocks(4, 7), false},
		}},
		"SilentStranger": {"who never answered may be somebody else's address", 1, true, []step{
			{timeout, oack, false}, {timeout, oack, false}, {timeout, oack, false}, {timeout, nothing, true},
		}},
		"Silent": {"a client that answered gets more patience", 1, false, []step{
			{1, blocks(2, 2), false}, {timeout, blocks(2, 2), false}, {timeout, blocks(2, 2), false}, {timeout, blocks(2, 2), false},
			{timeout, blocks(2, 2), false}, {timeout, blocks(2, 2), false}, {timeout, blocks(2, 2), false}, {timeout, blocks(2, 2), false}, {timeout, nothing, true},
		}},
		"PatienceAnew": {"each answer gives it anew", 1, false, []step{
			{1, blocks(2, 2), false}, {timeout, blocks(2, 2), false}, {timeout, blocks(2, 2), false}, {2, blocks(3, 3), false},
			{timeout, blocks(3, 3), false}, {timeout, blocks(3, 3), false}, {timeout, blocks(3, 3), false}, {timeout, blocks(3, 3), false},
			{timeout, blocks(3, 3), false}, {timeout, blocks(3, 3), false}, {timeout, blocks(3, 3), false}, {timeout, nothing, true},
		}},
		"RequestAgain": {"its answer was lost: the same answer, and no more often than to a stranger", 1, true, []step{
			{again, oack, false}, {again, oack, false}, {again, oack, false}, {again, nothing, false}, {0, blocks(1, 1), false}, {again, nothing, false},
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			x := newTransfer(75, 8, tc.window, tc.oack)
			want := blocks(1, 1)
			if tc.oack {
				want = oack
			}
			if diff := cmp.Diff(want, x.begin(), cmp.AllowUnexported(burst{})); diff != "" {
				t.Fatalf("%s: the first answer (-want +got):\n%s", tc.reason, diff)
			}
			for i, s := range tc.steps {
				var got burst
				ended := false
				switch s.ack {
				case timeout:
					got, ended = x.expire()
				case again:
					got, _ = x.again()
				default:
					got, ended = x.ack(uint16(s.ack & 0xffff))
				}
				if diff := cmp.Diff(s.send, got, cmp.AllowUnexported(burst{})); diff != "" || ended != s.end {
					t.Fatalf("%s: step %d: ended %v (-want +got):\n%s", tc.reason, i+1, ended, diff)
				}
			}
		})
	}
}

// TestPatience: a client that heard us is waited for over half a minute, so that a switch's link may go and come back; one that didn't for a few seconds.
func TestPatience(t *testing.T) {
	waits := func(x *transfer, timeout time.Duration) (all time.Duration, sent int) {
		for ended := false; !ended; _, ended = x.expire() {
			all, sent = all+x.patience(timeout), sent+1
		}
		return all, sent
	}
	heard := func(guess bool) *transfer {
		x := newTransfer(75, 8, 1, true)
		if guess {
			x.guess()
		}
		x.begin()
		x.ack(0)
		return x
	}
	cases := map[string]struct {
		reason  string
		x       *transfer
		timeout time.Duration
		all     time.Duration
		sent    int
	}{
		"Heard":    {"1, 1, 1, 1, 2, 4, 8 and 16 seconds", heard(false), time.Second, 34 * time.Second, 8},
		"Slow":     {"what the client asked for is never made less, nor much more", heard(false), 20 * time.Second, 160 * time.Second, 8},
		"Stranger": {"somebody else's address is spared", newTransfer(75, 8, 1, true), time.Second, 4 * time.Second, 4},
		"Guessed":  {"an ACK that anybody can write proves nothing", heard(true), time.Second, 4 * time.Second, 4},
	}
	for name, tc := range cases {
		if all, sent := waits(tc.x, tc.timeout); all != tc.all || sent != tc.sent {
			t.Errorf("%s: %s\n%d packets over %s, want %d over %s", name, tc.reason, sent, all, tc.sent, tc.all)
		}
	}
}

// TestRollover: 16 bits number the blocks of 32 MiB at 512 octets; grub loads kernels that are larger.
func TestRollover(t *testing.T) {
	for _, window := range []int{1, 16, 64} {
		const size = 200_000*512 + 3
		x := newTransfer(size, 512, window, true)
		x.begin()
		b, ended := x.ack(0)
		for had := 0; !ended; {
			if b.from != had+1 || b.to > had+window {
				t.Fatalf("window %d: sends %d to %d behind %d", window, b.from, b.to, had)
			}
			had = b.to
			b, ended = x.ack(uint16(had & 0xffff))
			if !ended && had == x.last() {
				t.Fatalf("window %d: the end isn't seen", window)
			}
		}
		if x.acked != 200_001 {
			t.Errorf("window %d: %d blocks", window, x.acked)
		}
	}
}

func TestLastBlock(t *testing.T) {
	cases := map[string]struct {
		reason       string
		size, blocks int
		rest         int
	}{
		"Empty":    {"an empty file is one empty block", 0, 1, 0},
		"Short":    {"less than a block", 5, 1, 5},
		"Multiple": {"a file of whole blocks ends with an empty one", 16, 3, 0},
		"Rest":     {"and any other with what is left", 17, 3, 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			x := newTransfer(tc.size, 8, 1, false)
			if n := len(x.data(make([]byte, tc.size), tc.blocks)); x.last() != tc.blocks || n != tc.rest {
				t.Errorf("%s: %d blocks, %d octets in the last, want %d and %d", tc.reason, x.last(), n, tc.blocks, tc.rest)
			}
		})
	}
}

// FuzzTransfer: whatever ACKs come, only blocks that exist are sent, never more than a window behind what the client has.
func FuzzTransfer(f *testing.F) {
	f.Add([]byte{0, 0, 0, 4, 0, 8, 255, 255, 0, 10}, uint16(75), uint8(4), true)
	f.Add([]byte{0, 1, 0, 1, 0, 2}, uint16(1000), uint8(1), false)
	f.Fuzz(func(t *testing.T, acks []byte, size uint16, window uint8, oack bool) {
		w := int(window)%maxWindow + 1
		x := newTransfer(int(size), 8, w, oack)
		check := func(b burst) {
			if b.oack || b.from == 0 {
				return
			}
			if b.from != x.acked+1 || b.to < b.from || b.to > x.last() || b.to-x.acked > w {
				t.Fatalf("sends %d to %d behind %d of %d", b.from, b.to, x.acked, x.last())
			}
		}
		check(x.begin())
		for ; len(acks) >= 2; acks = acks[2:] {
			had := x.acked
			var b burst
			var ended bool
			if acks[0] == 254 {
				b, ended = x.expire()
			} else {
				b, ended = x.ack(uint16(acks[0])<<8 | uint16(acks[1]))
			}
			check(b)
			if x.acked < had || ended && acks[0] != 254 && x.acked != x.last() {
				t.Fatalf("%d blocks after %d, ended %v", x.acked, had, ended)
			}
			if ended {
				return
			}
		}
	})
}

// TestDawdling: one block now and then keeps no place; a slow line, or a large file, does.
func TestDawdling(t *testing.T) {
	for name, tc := range map[string]struct {
		since time.Duration
		acked int
		want  bool
	}{
		"Begun":  {9 * time.Minute, 0, false},
		"Trick":  {11 * time.Minute, 60, true},
		"Slow":   {time.Hour, 40_000, false},
		"Slower": {2 * time.Hour, 40_000, true},
	} {
		if x := (&transfer{acked: tc.acked}); x.dawdles(tc.since) != tc.want {
			t.Errorf("%s: %v", name, !tc.want)
		}
	}
}

// TestMidway: who is in the middle of a file isn't asking for another.
func TestMidway(t *testing.T) {
	now := time.Unix(1000, 0)
	for name, tc := range map[string]struct {
		answered bool
		silent   time.Duration
		want     bool
	}{
		"Begun": {false, 0, false}, "Loading": {true, time.Millisecond, true}, "Restarted": {true, time.Second, false},
	} {
		r := &running{transfer: &transfer{answered: tc.answered}, heard: now.Add(-tc.silent)}
		if r.midway(now) != tc.want {
			t.Errorf("%s: %v", name, !tc.want)
		}
	}
}
