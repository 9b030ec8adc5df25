package netbox

import (
	"testing"
	"time"
)

// TestFace: a clock that goes on is never one that was set back, however seldom it's read, and one that was set back is, however long ago it was read.
func TestFace(t *testing.T) {
	noon := time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	type reading struct {
		after time.Duration // of our clock, since the one before
		says  time.Duration // since noon
		back  bool
	}
	cases := map[string]struct {
		reason   string
		readings []reading
	}{
		"Goes":     {"both clocks go on", []reading{{0, 0, false}, {time.Hour, time.Hour, false}, {time.Second, time.Hour + time.Second, false}}},
		"Ahead":    {"it's no matter by how much it's ahead, nor that it's set forward", []reading{{0, 24 * time.Hour, false}, {time.Minute, 72 * time.Hour, false}}},
		"Back":     {"it was set back", []reading{{0, 0, false}, {time.Minute, -time.Hour, true}, {time.Minute, time.Minute - time.Hour, false}}},
		"Unseen":   {"it was set back, and came to be later again before anybody looked", []reading{{0, 0, false}, {time.Hour, 30 * time.Minute, true}, {time.Minute, 31 * time.Minute, false}}},
		"Servers":  {"two servers whose clocks differ a little answer in turn", []reading{{0, 0, false}, {time.Second, -50 * time.Second, false}, {time.Second, 2 * time.Second, false}, {time.Second, -50 * time.Second, false}}},
		"Late":     {"answers that come out of order", []reading{{0, 10 * time.Second, false}, {0, 0, false}, {0, 11 * time.Second, false}}},
		"Slow":     {"a clock that goes slower is set back once in a while", []reading{{0, 0, false}, {time.Hour, time.Hour - 40*time.Second, false}, {time.Hour, 2*time.Hour - 80*time.Second, true}, {time.Hour, 3*time.Hour - 120*time.Second, false}}},
		"Twice":    {"it's set back twice", []reading{{0, 0, false}, {time.Second, -time.Hour, true}, {time.Second, -2 * time.Hour, true}}},
		"Restored": {"and put right again", []reading{{0, 0, false}, {time.Second, -time.Hour, true}, {wholeAge, wholeAge + 2*time.Second, false}, {time.Second, -time.Hour, true}}},
		"Skewed": {"two servers whose clocks differ a lot answer in turn: that's believed once in a while", []reading{
			{0, 0, false}, {time.Second, -time.Hour, true}, {time.Second, 2 * time.Second, false}, {time.Second, 3*time.Second - time.Hour, false},
			{wholeAge, wholeAge + 3*time.Second, false}, {time.Second, wholeAge + 4*time.Second - time.Hour, true}, {time.Second, wholeAge + 5*time.Second, false}, {time.Second, wholeAge + 6*time.Second - time.Hour, false},
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f, now := &face{}, noon.Add(-time.Hour)
			if at := f.come(noon); !at.Equal(noon) {
				t.Errorf("%s: before anything is read %s comes to %s", tc.reason, noon, at)
			}
			for i, r := range tc.readings {
				now = now.Add(r.after)
				if back := f.reads(noon.Add(r.says), now); back != r.back {
					t.Errorf("%s: reading %d: set back %v, want %v", tc.reason, i, back, r.back)
				}
				if at, ok := f.shows(now.Add(time.Second)); !ok || at.Before(noon.Add(r.says)) && !now.Before(f.held) {
					t.Errorf("%s: a second after reading %d it shows %s, %v", tc.reason, i, at, ok)
				}
			}
		})
	}
}

// TestWentBack: nothing is concluded of times that aren't told, nor of a few seconds.
func TestWentBack(t *testing.T) {
	noon := time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	cases := map[string]struct {
		reason  string
		was, is time.Time
		want    bool
	}{
		"Later":   {"it's later", noon, noon.Add(time.Hour), false},
		"Same":    {"nothing happened", noon, noon, false},
		"Servers": {"clocks of two servers differ", noon, noon.Add(-tolerated), false},
		"Back":    {"it's earlier", noon, noon.Add(-tolerated - time.Second), true},
		"Untold":  {"the first time isn't told", time.Time{}, noon, false},
		"Mute":    {"the second one isn't", noon, time.Time{}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := wentBack(tc.was, tc.is); got != tc.want {
				t.Errorf("%s: %v", tc.reason, got)
			}
		})
	}
}

// TestOlderIn: a look shows that NetBox's data was set back by a record that is older than it was, unless somebody wrote that one while the look was
// under way.
func TestOlderIn(t *testing.T) {
	at := func(text string) map[int64]sighting {
		return map[int64]sighting{5: {ip: IPAddress{ID: 5, LastUpdated: text}, at: time.Unix(1000, 0)}}
	}
	later := func(text string, by time.Duration) map[int64]sighting {
		return map[int64]sighting{5: {ip: IPAddress{ID: 5, LastUpdated: text}, at: time.Unix(1000, 0).Add(by)}}
	}
	const noon, earlier = "2026-09-01T12:00:00.000001Z", "2026-09-01T10:00:00.000001Z"
	cases := map[string]struct {
		reason             string
		before, seen, news map[int64]sighting
		want               bool
	}{
		"Back":    {"it's older", at(noon), later(earlier, time.Minute), nil, true},
		"Behind":  {"a copy shows it as it was before we wrote it", at(noon), later(earlier, shownLate), nil, false},
		"Written": {"it was written after the look had passed it", at(noon), later(earlier, time.Minute), at(noon), false},
		"Later":   {"it was changed", at(earlier), later(noon, time.Minute), nil, false},
		"New":     {"it wasn't seen before", nil, later(earlier, time.Minute), nil, false},
		"Gone":    {"it's gone", at(noon), nil, nil, false},
		"Mute":    {"NetBox doesn't tell", at(noon), later("yesterday", time.Minute), nil, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := olderIn(tc.before, tc.seen, tc.news); got != tc.want {
				t.Errorf("%s: %v", tc.reason, got)
			}
		})
	}
}

// TestOlder: what a device that was read shows of NetBox's clock. A copy of its database that shows one as it was before we wrote it has nothing read anew.
func TestOlder(t *testing.T) {
	now := time.Unix(1000, 0)
	device := func(id int64, updated string) Holder { return Holder{Kind: Device, ID: id, LastUpdated: updated} }
	for name, tc := range map[string]struct {
		reason string
		after  time.Duration
		kept   int
	}{
		"Behind": {"by a copy", shownLate, 2},
		"Back":   {"a backup was restored", shownLate + time.Second, 0},
	} {
		r := newRoster[Holder](func() time.Time { return now }, NewRoom(Limits{Each: 1 << 20}).lodge(""), &face{})
		r.put(1, device(1, "2026-09-01T12:00:00Z"))
		r.put(2, device(2, "2026-09-01T12:00:00Z"))
		began := now.Add(tc.after)
		r.note([]int64{1}, []Holder{device(1, "2026-09-01T10:00:00Z")}, began, 0)
		if n := len(r.known); n < tc.kept || tc.kept == 0 && r.turn == 0 {
			t.Errorf("%s, %s: %d are known, in turn %d", name, tc.reason, n, r.turn)
		}
	}
}
