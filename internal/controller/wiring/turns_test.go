package wiring

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTurns(t *testing.T) {
	cases := map[string]struct {
		reason string
		push   []string
		want   []string
	}{
		"OneFlow": {
			reason: "In one line who came first is first.",
			push:   []string{"a/1", "a/2", "a/3"},
			want:   []string{"a/1", "a/2", "a/3"},
		},
		"LongAndShort": {
			reason: "One that comes after a thousand of others waits for one of them.",
			push:   []string{"a/1", "a/2", "a/3", "a/4", "b/1", "c/1", "c/2"},
			want:   []string{"a/1", "b/1", "c/1", "a/2", "c/2", "a/3", "a/4"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			q := newTurns(func(s string) place { return place{line: strings.Split(s, "/")[0]} }, nil)
			for _, s := range tc.push {
				q.Push(s)
			}
			if q.Len() != len(tc.push) {
				t.Errorf("%s\nLen() = %d: want %d", tc.reason, q.Len(), len(tc.push))
			}
			var got []string
			for q.Len() > 0 {
				got = append(got, q.Pop())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
			if len(q.lines) != 0 || len(q.order) != 0 {
				t.Errorf("an empty queue remembers %v %v", q.lines, q.order)
			}
		})
	}
}

// TestTurnsComeBack holds that a flow which was empty waits for its turn like others.
func TestTurnsComeBack(t *testing.T) {
	q := newTurns(func(s string) place { return place{line: s[:1]} }, nil)
	q.Push("a1")
	q.Push("b1")
	if got := q.Pop(); got != "a1" {
		t.Fatalf("Pop() = %s: want a1", got)
	}
	q.Push("a2")
	if got := q.Pop(); got != "b1" {
		t.Errorf("Pop() = %s: want b1, whose turn it is", got)
	}
	if got := q.Pop(); got != "a2" {
		t.Errorf("Pop() = %s: want a2", got)
	}
}

// TestTurnsOfAsked holds that those who are asked take turns before their lines do.
func TestTurnsOfAsked(t *testing.T) {
	q := newTurns(func(s string) place { return place{asks: s[:1], line: s[1:2]} }, nil)
	for _, s := range []string{"ax1", "ax2", "ay1", "az1", "bx1", "bx2"} {
		q.Push(s)
	}
	var got []string
	for q.Len() > 0 {
		got = append(got, q.Pop())
	}
	if diff := cmp.Diff([]string{"ax1", "bx1", "ay1", "bx2", "az1", "ax2"}, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestTurnsOfTheEdited holds that nobody's seats are taken for what asks somebody else by now.
func TestTurnsOfTheEdited(t *testing.T) {
	of := map[string]string{"1": "a", "2": "b"}
	q := newTurns(func(s string) place { return place{asks: of[s]} }, newCrowd[string](8))
	q.Push("1")
	q.Push("2")
	of["1"] = "b"
	var got []string
	for q.Len() > 0 {
		got = append(got, q.Pop())
	}
	if diff := cmp.Diff([]string{"", "2", "1"}, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if n := len(q.crowd.all["b"].since); n != 2 || q.crowd.all["a"] != nil {
		t.Errorf("%d ask b, and %v a", n, q.crowd.all["a"])
	}
}
