package wiring

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
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

// TestTurnsOfTheEdited holds that nobody's seats are taken for what asks somebody else by now, and that what waits is counted right all the same.
func TestTurnsOfTheEdited(t *testing.T) {
	of := map[string]string{"1": "a", "2": "b", "3": "b"}
	q := newQueue("edited", workqueue.DefaultTypedControllerRateLimiter[string](), newTurns(func(s string) place { return place{asks: of[s]} }, newCrowd[string](8)))
	defer q.ShutDown()
	for _, item := range []string{"1", "2", "3"} {
		q.Add(item)
	}
	of["1"], of["3"] = "b", "" // An edit, and a deletion.
	var got []string
	for range 3 {
		item, _ := q.Get()
		got = append(got, item)
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{"1", "2", "3"}, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	crowd := q.(*queue[string]).crowd
	if n := len(crowd.all["b"].since); n != 2 || crowd.all["a"] != nil || len(crowd.astray) != 0 {
		t.Errorf("%d ask b, %v a, and %v are astray", n, crowd.all["a"], crowd.astray)
	}
	if n := depth(t, "edited"); n != 0 {
		t.Errorf("workqueue_depth is %v with nothing that waits", n)
	}
	for _, item := range got {
		q.Done(item)
	}
	if n := q.Len(); n != 0 || depth(t, "edited") != 0 {
		t.Errorf("%d wait, and workqueue_depth is %v", n, depth(t, "edited"))
	}
}

// depth is what the metric says of how many wait in a queue.
func depth(t *testing.T, name string) float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "workqueue_depth" {
			continue
		}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "name" && l.GetValue() == name {
					return m.GetGauge().GetValue()
				}
			}
		}
	}
	t.Fatalf("no depth of %q is measured", name)
	return 0
}
