package netbox

import (
	"errors"
	"testing"
	"time"
)

// TestRest: how old what is seen may be, and how long a failure stands, goes by how long a look takes, within bounds.
func TestRest(t *testing.T) {
	cases := map[string]struct {
		reason            string
		took, age, failed time.Duration
	}{
		"Fast":    {"what was asked for", 0, time.Minute, lookRetry},
		"Small":   {"also of one that takes a while", 30 * time.Second, time.Minute, 30 * time.Second},
		"Slow":    {"its own length, and as long a rest", 40 * time.Second, 80 * time.Second, lookRest},
		"Slowest": {"its own length, and a rest that ends", 5 * time.Minute, 7 * time.Minute, lookRest},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			now := time.Unix(0, 0)
			v := newView(func() time.Time { return now }, NewRoom(Limits{Each: ownEach}).lodge(""), "")
			look := func(err error) {
				_, under, begins := v.answer(wish{maxAge: time.Minute})
				if !begins {
					t.Fatal("there's no need for a look")
				}
				now = now.Add(tc.took)
				v.finish(under, &pile{seen: map[int64]sighting{}}, err)
			}
			look(nil)
			if got := v.age(time.Minute); got != tc.age {
				t.Errorf("%s: %s, want %s", tc.reason, got, tc.age)
			}
			now = now.Add(tc.age)
			look(errors.New("boom"))
			now = now.Add(tc.failed - 1)
			if f, _, _ := v.answer(wish{maxAge: time.Minute}); f.err == nil {
				t.Errorf("%s: the failure is forgotten", tc.reason)
			}
			now = now.Add(1)
			if _, _, begins := v.answer(wish{maxAge: time.Minute}); !begins {
				t.Errorf("%s: nobody tries again", tc.reason)
			}
		})
	}
}
