package netbox

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestMemo: what was found is asked for again after its time, what wasn't is in a moment, and trouble always is.
func TestMemo(t *testing.T) {
	now := time.Unix(1000, 0)
	room := NewRoom(Limits{Each: 10 << 10}).lodge("")
	m := newMemo(func() time.Time { return now }, room, func(k string, _ int) int64 { return int64(len(k)) })
	asked := 0
	ask := func(key string, err error) {
		_, _ = m.of(key, memoTTL, func() (int, error) {
			asked++
			return 1, err
		})
	}
	steps := []struct {
		reason string
		after  time.Duration
		key    string
		err    error
		want   int
	}{
		{"nothing is known", 0, "a", nil, 1},
		{"found", memoTTL - time.Second, "a", nil, 0},
		{"long ago", 2 * time.Second, "a", nil, 1},
		{"another", 0, "b", &Error{Kind: KindNotFound}, 1},
		{"isn't there", time.Second, "b", nil, 0},
		{"and may be by now", missTTL, "b", nil, 1},
		{"nobody knows", 0, "c", &Error{Kind: KindUnreachable}, 1},
		{"so it's asked again", 0, "c", nil, 1},
	}
	for _, s := range steps {
		now = now.Add(s.after)
		before := asked
		ask(s.key, s.err)
		if asked-before != s.want {
			t.Errorf("%s: asked %d times, want %d", s.reason, asked-before, s.want)
		}
	}
	for i := range 100 {
		ask(strconv.Itoa(i), nil)
	}
	now = now.Add(2 * memoTTL)
	ask("z", nil)
	if len(m.known) != 1 {
		t.Errorf("%d are kept", len(m.known))
	}
	for i := range 2 * mostKnown {
		ask(strconv.Itoa(i), nil)
	}
	if len(m.known) != mostKnown {
		t.Errorf("%d are kept of many", len(m.known))
	}
	m.forget()
	ask(strings.Repeat("x", 9<<10), nil)
	ask(strings.Repeat("y", 9<<10), nil)
	if len(m.known) != 1 {
		t.Errorf("%d are kept where there's room for one", len(m.known))
	}
	m.close()
	ask("z", nil)
	if len(m.known) != 0 || len(room.parts) != 0 {
		t.Errorf("%d are kept of a connection that is closed, and %d have a part of the room", len(m.known), len(room.parts))
	}
}
