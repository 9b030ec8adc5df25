package netbox_test

import (
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// TestSeenAway: one that is away for a while has no trouble with pages: as soon as it's there, it's asked for as many at a time as before.
func TestSeenAway(t *testing.T) {
	const age, soon = time.Minute, 2 * time.Second
	for name, breaks := range map[string]string{"BadGateway": "", "BreaksOff": "Torn", "HangsUp": "HungUp"} {
		t.Run(name, func(t *testing.T) {
			s := &shelf{markers: marked(1200, "c1/"), breaks: breaks, away: true}
			c, pass := onShelf(t, s)
			for range 6 {
				if _, ok, err := c.Seen(t.Context(), 1, age); ok || !netbox.IsUnreachable(err) {
					t.Errorf("while it's away: %v, %v", ok, err)
				}
				pass(soon)
			}
			s.mu.Lock()
			s.away = false
			s.mu.Unlock()
			before := s.requests()
			if _, ok, err := c.Seen(t.Context(), 1, age); !ok || err != nil {
				t.Errorf("once it's back: %v, %v", ok, err)
			}
			if asked := s.asked[before:]; len(asked) != 2 || !strings.Contains(asked[0], "limit=1000") {
				t.Errorf("once it's back it's asked %q", asked)
			}
		})
	}
}

// TestSeenTooLong: a look that isn't over in the time that one may take isn't tried again and again, and somebody is told.
func TestSeenTooLong(t *testing.T) {
	s := &shelf{markers: marked(10_000, "c1/"), slow: func() { time.Sleep(100 * time.Millisecond) }}
	c, pass := onShelf(t, s, netbox.WithLookPatience(300*time.Millisecond))
	_, err := c.Refresh(t.Context(), time.Minute)
	if !netbox.Unfit(err) || !strings.Contains(err.Error(), "more than the 300ms that a look may") {
		t.Errorf("who looks at all is told: %v", err)
	}
	asked := s.requests()
	pass(5 * time.Minute)
	if _, ok, err := c.Seen(t.Context(), 1, time.Minute); ok || err != nil || s.requests() != asked {
		t.Errorf("its record is read by itself: %v, %v, %d requests", ok, err, s.requests()-asked)
	}
}
