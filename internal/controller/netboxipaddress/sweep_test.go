package netboxipaddress

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

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
	connect error
	looks   int
	expired []int64
	// hangs is what looks wait for; nil: nothing.
	hangs chan struct{}
	// date is what its clock shows; the zero time: it doesn't tell.
	date time.Time
}

func (w *ward) Date() (time.Time, bool) { return w.date, !w.date.IsZero() }

func (w *ward) Released(context.Context) ([]netbox.IPAddress, error) {
	w.mu.Lock()
	w.looks++
	hangs, records, err := w.hangs, w.records, w.err
	w.mu.Unlock()
	if hangs != nil {
		<-hangs
	}
	return records, err
}

func (w *ward) looked() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.looks
}

func (w *ward) Retired(ip netbox.IPAddress) bool { return ip.Retired(testField) }

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
	k.Ref, k.UID = config.Ref{Kind: v1alpha1.ClusterProviderConfigKind, Name: name}, types.UID(name)
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
		"Unfit":     {"a field that isn't fit any more is said, once", &ward{err: kind(netbox.KindReleaseField)}, nil, sweepEvery, []string{"CannotEndQuarantine: whatever is in quarantine stays in NetBox: custom field \"crossplane_released\""}},
		"Unseen":    {"also that records may not be looked at", &ward{err: kind(netbox.KindForbidden)}, nil, sweepEvery, []string{"CannotEndQuarantine: whatever is in quarantine stays in NetBox: the token"}},
		"Unknown":   {"what can't be connected to is tried again", &ward{connect: errors.New("boom")}, nil, sweepRetry, nil},
		"Ahead": {"our clock is a day ahead", &ward{date: now.Add(-24 * time.Hour), records: []netbox.IPAddress{released(5, ours+" 2026-09-01T11:59:00Z"), released(6, ours+" 2026-09-01T12:00:00Z")}}, nil, sweepEvery,
			[]string{"CannotEndQuarantine: the quarantine of record 5 (10.77.0.40/24) and 1 more of NetBox is over by this provider's clock, and isn't by NetBox's, or that of what stands in front of it, which is about 1440 minutes behind: "}},
		"Behind": {"our clock is a day behind", &ward{date: now.Add(24 * time.Hour), records: []netbox.IPAddress{released(5, ours+" 2026-09-01T12:00:07Z")}}, nil, 7 * time.Second, nil},
		"Nearly": {"NetBox's clock is a moment behind", &ward{date: now.Add(-4 * time.Second), records: []netbox.IPAddress{released(5, ours+" 2026-09-01T12:00:00Z")}}, nil, 4 * time.Second, nil},
		"Synced": {"both say that it's over", &ward{date: now.Add(time.Second), records: []netbox.IPAddress{released(5, ours+" 2026-09-01T12:00:00Z")}}, []int64{5}, sweepEvery, []string{"QuarantineEnded"}},
		"Named":  {"or gave it a name", &ward{records: []netbox.IPAddress{released(5, noted, func(ip *netbox.IPAddress) { ip.DNSName = "db-1.example" })}}, nil, sweepEvery, []string{"QuarantineInUse"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h := &harness{}
			s := newSweeper(&sweeper{
				configs: func(context.Context) ([]config.Known, error) { return []config.Known{known("netbox")}, nil },
				client:  func(config.Identity, netbox.Config) (Quarantine, error) { return tc.ward, tc.ward.connect },
				cluster: "c1", now: func() time.Time { return now }, events: &h.events, log: logging.NewNopLogger(),
			})
			sweep := func() time.Time {
				s.sweep(t.Context())
				s.looks.wait()
				return s.soonest()
			}
			if got := sweep().Sub(now); got != tc.next {
				t.Errorf("%s: again after %s, want %s", tc.reason, got, tc.next)
			}
			if diff := cmp.Diff(tc.expired, tc.ward.expired); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if tc.expired == nil {
				sweep()
			}
			if len(h.events) != len(tc.events) || (len(h.events) == 1 && !strings.HasPrefix(h.events[0], tc.events[0])) {
				t.Errorf("%s: events %q, want %q", tc.reason, h.events, tc.events)
			}
		})
	}
}

// TestSweepAgain: what was told is told again where it had ceased, and not for a look that failed in between; nothing is remembered of a
// provider config that is gone.
func TestSweepAgain(t *testing.T) {
	noted := []netbox.IPAddress{bare(5, "10.77.0.40/24", withNote(noted))} // Active.
	noted[0].Status = "active"
	w, h := &ward{}, &harness{}
	configs := []config.Known{known("netbox")}
	s := newSweeper(&sweeper{
		configs: func(context.Context) ([]config.Known, error) { return configs, nil },
		client:  func(config.Identity, netbox.Config) (Quarantine, error) { return w, nil },
		cluster: "c1", now: time.Now, events: &h.events, log: logging.NewNopLogger(),
	})
	for _, step := range []struct {
		reason  string
		records []netbox.IPAddress
		err     error
		events  int
	}{
		{"it's said", noted, nil, 1},
		{"once", noted, nil, 1},
		{"NetBox is down", nil, kind(netbox.KindUnreachable), 1},
		{"and back", noted, nil, 1},
		{"somebody cleared the note", nil, nil, 1},
		{"it was released again", noted, nil, 2},
	} {
		w.records, w.err = step.records, step.err
		s.sweep(t.Context())
		s.looks.wait()
		if len(h.events) != step.events {
			t.Errorf("%s: events %q", step.reason, h.events)
		}
	}
	configs = nil
	s.sweep(t.Context())
	if len(s.told) != 0 {
		t.Errorf("remembered: %v", s.told)
	}
}

// TestSweepAll: one NetBox that fails, or doesn't answer, keeps no other one waiting.
func TestSweepAll(t *testing.T) {
	now := time.Unix(1000, 0)
	due := bare(5, "10.77.0.40/24", withNote(ours+" 1970-01-01T00:00:01Z"))
	hangs := make(chan struct{})
	wards := map[string]*ward{"bad": {err: kind(netbox.KindServerError)}, "good": {records: []netbox.IPAddress{due}}, "hangs": {hangs: hangs}}
	h := &harness{}
	s := newSweeper(&sweeper{
		configs: func(context.Context) ([]config.Known, error) {
			return []config.Known{known("hangs"), known("bad"), known("good")}, nil
		},
		client:  func(of config.Identity, _ netbox.Config) (Quarantine, error) { return wards[of.Name], nil },
		cluster: "c1", now: func() time.Time { return now }, events: &h.events, log: logging.NewNopLogger(),
	})
	deleted := func(n int) {
		t.Helper()
		eventually(t, "the good one's are deleted", func() bool {
			wards["good"].mu.Lock()
			defer wards["good"].mu.Unlock()
			return len(wards["good"].expired) == n && s.soonest().Equal(now.Add(sweepRetry))
		})
	}
	s.sweep(t.Context())
	deleted(1)
	now = now.Add(sweepRetry)
	s.sweep(t.Context())
	deleted(2)
	if looks := wards["hangs"].looked(); looks != 1 {
		t.Errorf("%d looks at one that hangs", looks)
	}
	close(hangs)
	s.looks.wait()
	if looks := wards["hangs"].looked(); looks != 2 {
		t.Errorf("%d looks at one that had hung, and was left out meanwhile", looks)
	}
	s.configs = func(context.Context) ([]config.Known, error) { return nil, kind(netbox.KindUnreachable) }
	s.sweep(t.Context())
	if next := s.soonest(); next.Sub(now) != sweepRetry {
		t.Errorf("without the list: again at %s", next)
	}
}

// eventually waits for what goes on beside the test.
func eventually(t *testing.T, reason string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: never", reason)
		}
	}
}

// startedSweeper looks at one NetBox until the test ends.
func startedSweeper(t *testing.T, w *ward) *sweeper {
	t.Helper()
	s := newSweeper(&sweeper{
		configs: func(context.Context) ([]config.Known, error) { return []config.Known{known("netbox")}, nil },
		client:  func(config.Identity, netbox.Config) (Quarantine, error) { return w, nil },
		cluster: "c1", now: time.Now, events: &events{}, log: logging.NewNopLogger(),
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s
}

// TestSweepSooner: quarantines that are shorter than the time between two looks are ended in time, also those that were told during one.
func TestSweepSooner(t *testing.T) {
	first := make(chan struct{})
	w := &ward{hangs: first}
	s := startedSweeper(t, w)
	looks := func(n int) func() bool { return func() bool { return w.looked() >= n } }
	eventually(t, "a first look", looks(1))
	s.due(time.Now().Add(time.Hour)) // Later than the next look anyway.
	s.due(time.Now().Add(time.Minute))
	s.due(time.Now().Add(200 * time.Millisecond))
	s.due(time.Now().Add(2 * time.Minute))
	close(first)
	eventually(t, "a second one", looks(2))
}

// TestSweepMissed: a quarantine that is over while a look is under way that began before it was told is ended right after that.
func TestSweepMissed(t *testing.T) {
	hangs := make(chan struct{})
	w := &ward{hangs: hangs}
	s := startedSweeper(t, w)
	eventually(t, "a first look", func() bool { return w.looked() == 1 })
	w.mu.Lock()
	w.records = []netbox.IPAddress{bare(5, "10.77.0.40/24", withNote(ours+" 2026-09-01T12:00:00Z"))}
	w.mu.Unlock()
	s.due(time.Now())
	eventually(t, "its time comes while that is under way", func() bool { return time.Until(s.soonest()) > sweepRetry })
	close(hangs)
	eventually(t, "it's ended", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return len(w.expired) == 1
	})
}
