package netboxipaddress

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
)

// A ward is a NetBox with released records.
type ward struct {
	mu      sync.Mutex
	records []netbox.IPAddress
	err     error
	expire  error
	looks   int
	expired []int64
}

func (w *ward) Released(context.Context) ([]netbox.IPAddress, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looks++
	return w.records, w.err
}

func (w *ward) Retired(ip netbox.IPAddress) bool {
	return ip.Status == netbox.StatusDeprecated && ip.Unmarked(testField) && ip.Assigned == nil
}

func (w *ward) Expire(_ context.Context, number int64, _ string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.expire == nil {
		w.expired = append(w.expired, number)
	}
	return w.expire
}

func known(name string) config.Known {
	c := &v1alpha1.ClusterProviderConfig{}
	c.SetName(name)
	k := config.Known{Object: c}
	k.Ref, k.UID = config.Ref{Kind: v1alpha1.ClusterProviderConfigKind, Name: name}, c.GetUID()
	return k
}

func TestSweep(t *testing.T) {
	now := time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	released := func(id int64, note string, change ...func(*netbox.IPAddress)) netbox.IPAddress {
		return bare(id, "10.77.0.40/24", append([]func(*netbox.IPAddress){withNote(note)}, change...)...)
	}
	cases := map[string]struct {
		reason  string
		ward    *ward
		expired []int64
		// next is when it's looked at again, from now.
		next   time.Duration
		events []string
	}{
		"Due":       {"it's over", &ward{records: []netbox.IPAddress{released(5, ours+" 2026-09-01T12:00:00Z")}}, []int64{5}, sweepEvery, []string{"QuarantineEnded: record 5 (10.77.0.40/24) of NetBox was deleted: its quarantine is over"}},
		"Soon":      {"it's over in a moment", &ward{records: []netbox.IPAddress{released(5, ours+" 2026-09-01T12:00:07Z")}}, nil, 7 * time.Second, nil},
		"Later":     {"it isn't over for long", &ward{records: []netbox.IPAddress{released(5, ours+" 2026-09-02T12:00:00Z")}}, nil, sweepEvery, nil},
		"Kept":      {"what is kept is kept", &ward{records: []netbox.IPAddress{released(5, ours)}}, nil, sweepEvery, nil},
		"Garbled":   {"a time that can't be read is no time", &ward{records: []netbox.IPAddress{released(5, ours+" soon")}}, nil, sweepEvery, nil},
		"Stranger":  {"another cluster's is left to it", &ward{records: []netbox.IPAddress{released(5, "c2/team-a/web-1/u1 2026-09-01T12:00:00Z")}}, nil, sweepEvery, nil},
		"InUse":     {"what somebody put back into use is left alone, and said once", &ward{records: []netbox.IPAddress{released(5, noted, func(ip *netbox.IPAddress) { ip.Status = "active" })}}, nil, sweepEvery, []string{"QuarantineInUse"}},
		"Assigned":  {"or onto an interface", &ward{records: []netbox.IPAddress{released(5, noted, func(ip *netbox.IPAddress) { ip.Assigned = on("db-1") })}}, nil, sweepEvery, []string{"QuarantineInUse"}},
		"Raced":     {"also between two looks", &ward{records: []netbox.IPAddress{released(5, noted)}, expire: kind(netbox.KindConflict)}, nil, sweepRetry, []string{"QuarantineInUse"}},
		"Forbidden": {"a right that is missing is said once, and tried again", &ward{records: []netbox.IPAddress{released(5, noted)}, expire: kind(netbox.KindForbidden)}, nil, sweepRetry, []string{"CannotEndQuarantine"}},
		"Down":      {"what can't be asked for is asked for again", &ward{err: kind(netbox.KindUnreachable)}, nil, sweepRetry, nil},
		"NoField":   {"a NetBox where nothing can be released so", &ward{err: kind(netbox.KindReleaseField)}, nil, sweepEvery, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h := &harness{}
			s := newSweeper(&sweeper{
				configs: func(context.Context) ([]config.Known, error) { return []config.Known{known("netbox")}, nil },
				client:  func(config.Identity, netbox.Config) (Quarantine, error) { return tc.ward, nil },
				cluster: "c1", now: func() time.Time { return now }, events: &h.events, log: logging.NewNopLogger(),
			})
			next := s.sweep(t.Context())
			if got := next.Sub(now); got != tc.next {
				t.Errorf("%s: again after %s, want %s", tc.reason, got, tc.next)
			}
			if diff := cmp.Diff(tc.expired, tc.ward.expired); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if tc.expired == nil {
				s.sweep(t.Context())
			}
			if len(h.events) != len(tc.events) || (len(h.events) == 1 && !strings.HasPrefix(h.events[0], tc.events[0])) {
				t.Errorf("%s: events %q, want %q", tc.reason, h.events, tc.events)
			}
		})
	}
}

// TestSweepAll: one NetBox that fails keeps no other one waiting.
func TestSweepAll(t *testing.T) {
	now := time.Unix(1000, 0)
	wards := map[string]*ward{"bad": {err: kind(netbox.KindServerError)}, "good": {records: []netbox.IPAddress{bare(5, "10.77.0.40/24", withNote(ours+" 1970-01-01T00:00:01Z"))}}}
	h := &harness{}
	s := newSweeper(&sweeper{
		configs: func(context.Context) ([]config.Known, error) { return []config.Known{known("bad"), known("good")}, nil },
		client:  func(of config.Identity, _ netbox.Config) (Quarantine, error) { return wards[of.Name], nil },
		cluster: "c1", now: func() time.Time { return now }, events: &h.events, log: logging.NewNopLogger(),
	})
	if next := s.sweep(t.Context()); next.Sub(now) != sweepRetry || len(wards["good"].expired) != 1 {
		t.Errorf("again at %s, expired %v", next, wards["good"].expired)
	}
	s.configs = func(context.Context) ([]config.Known, error) { return nil, kind(netbox.KindUnreachable) }
	if next := s.sweep(t.Context()); next.Sub(now) != sweepRetry {
		t.Errorf("without the list: again at %s", next)
	}
}

// TestSweepSooner: a quarantine that is shorter than the time between two looks is ended in time.
func TestSweepSooner(t *testing.T) {
	w := &ward{}
	s := newSweeper(&sweeper{
		configs: func(context.Context) ([]config.Known, error) { return []config.Known{known("netbox")}, nil },
		client:  func(config.Identity, netbox.Config) (Quarantine, error) { return w, nil },
		cluster: "c1", now: time.Now, events: &events{}, log: logging.NewNopLogger(),
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Start(ctx) }()
	looks := func() int {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.looks
	}
	for looks() < 1 {
		time.Sleep(time.Millisecond)
	}
	s.due(time.Now().Add(time.Hour)) // Later than the next look anyway.
	s.due(time.Now().Add(20 * time.Millisecond))
	deadline := time.Now().Add(10 * time.Second)
	for looks() < 2 && time.Now().Before(deadline) {
		s.due(time.Now())
		time.Sleep(5 * time.Millisecond)
	}
	cancel()
	if err := <-done; err != nil || looks() < 2 {
		t.Errorf("%v, %d looks", err, looks())
	}
}
