package keyring

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

func noon() time.Time { return time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC) }

// key of so many equal bytes as a key has.
func key(b byte) []byte { return bytes.Repeat([]byte{b}, size) }

// fresh are keys of n, o, p and so on.
func fresh() *bytes.Reader {
	return bytes.NewReader(bytes.Join([][]byte{key('n'), key('o'), key('p')}, nil))
}

// names of keys, or what else is there.
func names(keys ...[]byte) string {
	var b strings.Builder
	for _, k := range keys {
		if len(k) != size {
			return string(k)
		}
		b.WriteByte(k[0])
	}
	return b.String()
}

// put puts a key's file into a folder, made so long ago.
func put(t *testing.T, dir, name string, b []byte, ago time.Duration) {
	t.Helper()
	path := filepath.Join(dir, name)
	at := noon().Add(-ago)
	if err := errors.Join(os.WriteFile(path, b, 0o600), os.Chtimes(path, at, at)); err != nil {
		t.Fatal(err)
	}
}

// held is what a folder holds: the current key, how old that is, and the one before.
type held struct {
	Current, Previous string
	Age               time.Duration
}

func heldIn(t *testing.T, dir string, now time.Time) held {
	t.Helper()
	var h held
	b, at, err := readFile(filepath.Join(dir, current))
	if err != nil {
		t.Fatal(err)
	}
	h.Current, h.Age = names(b), now.Sub(at)
	if b, _, err = readFile(filepath.Join(dir, previous)); err == nil {
		h.Previous = names(b)
	}
	return h
}

func TestOpen(t *testing.T) {
	t.Parallel()
	type file struct {
		b   []byte
		ago time.Duration
	}
	cases := map[string]struct {
		reason string
		files  map[string]file
		keys   string
		want   held
		says   string
	}{
		"New":      {"a first start makes one", nil, "n", held{Current: "n"}, ""},
		"Young":    {"a restart turns nobody away", map[string]file{current: {key('a'), time.Hour}}, "a", held{Current: "a", Age: time.Hour}, ""},
		"WithBoth": {"nor those with a token of the one before", map[string]file{current: {key('b'), time.Hour}, previous: {key('a'), life}}, "ba", held{Current: "b", Previous: "a", Age: time.Hour}, ""},
		"OfAnEarlierVersion": {
			"the one key of an earlier version has had its time, and its tokens are good",
			map[string]file{current: {key('a'), 400 * 24 * time.Hour}}, "na", held{Current: "n", Previous: "a"}, "tokens are made with a new key",
		},
		"Due": {
			"of three the oldest goes: nothing that it made is good any more",
			map[string]file{current: {key('b'), life}, previous: {key('a'), 2 * life}}, "nb", held{Current: "n", Previous: "b"}, "tokens are made with a new key",
		},
		"Crashed": {
			"it ended between the two writes, and goes on", map[string]file{current: {key('a'), life}, previous: {key('a'), life}},
			"na", held{Current: "n", Previous: "a"}, "tokens are made with a new key",
		},
		"Twice": {
			"one key is no two, whatever has copied it", map[string]file{current: {key('a'), time.Hour}, previous: {key('a'), time.Hour}},
			"a", held{Current: "a", Previous: "a", Age: time.Hour}, "",
		},
		"FromTheFuture": {
			"a clock that isn't set yet makes no new key, and dates none", map[string]file{current: {key('b'), -time.Hour}, previous: {key('a'), life}},
			"ba", held{Current: "b", Previous: "a", Age: -time.Hour}, "",
		},
		"Damaged": {
			"one that was cut short is none, and that's told", map[string]file{current: {key('b')[:7], time.Hour}, previous: {key('a'), life}},
			"na", held{Current: "n", Previous: "a"}, "a token key is damaged",
		},
		"Longer": {
			"nor is one that was edited", map[string]file{current: {append(key('b'), '\n'), time.Hour}}, "n", held{Current: "n"}, "a token key is damaged",
		},
		"PreviousDamaged": {
			"the current one is good all the same", map[string]file{current: {key('b'), time.Hour}, previous: {nil, life}},
			"b", held{Current: "b", Age: time.Hour}, "a token key is damaged",
		},
		"Removed": {
			"who removes one has another", map[string]file{previous: {key('a'), life}}, "na", held{Current: "n", Previous: "a"}, "",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for n, f := range tc.files {
				put(t, dir, n, f.b, f.ago)
			}
			var log strings.Builder
			r, err := open(dir, noon, fresh(), slog.New(slog.NewTextHandler(&log, nil)))
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.keys, names(r.Keys()...)); diff != "" {
				t.Errorf("%s: keys: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, heldIn(t, dir, noon())); diff != "" {
				t.Errorf("%s: files: -want, +got:\n%s", tc.reason, diff)
			}
			if !strings.Contains(log.String(), tc.says) || tc.says == "" && log.Len() > 0 {
				t.Errorf("%s: want the log to say %q, got:\n%s", tc.reason, tc.says, log.String())
			}
			again, err := open(dir, noon, fresh(), slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(r.Keys(), again.Keys()); diff != "" {
				t.Errorf("%s: a restart has others: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestTurn follows a bootd that runs, by its clock.
func TestTurn(t *testing.T) {
	t.Parallel()
	type look struct {
		// at is what the clock says then, after the key was made.
		at   time.Duration
		keys string
		age  time.Duration
	}
	cases := map[string]struct {
		reason string
		began  time.Duration
		looks  []look
	}{
		"Weeks": {
			"each week has its key, and the one of the week before is known", time.Hour,
			[]look{{life - time.Second, "a", life - time.Second}, {life, "na", 0}, {2*life - time.Second, "na", life - time.Second}, {2 * life, "on", 0}, {3*life + time.Hour, "po", 0}},
		},
		"Away": {"one that was away for long makes one new key, not all that it has missed", 9 * life, []look{{9 * life, "na", 0}, {10 * life, "on", 0}}},
		"ClockSet": {
			"a clock that's set a moment after the start is no week", -30 * life,
			[]look{{-30*life + time.Minute, "a", -30*life + time.Minute}, {time.Hour, "a", time.Hour}, {life, "na", 0}},
		},
		"ClockStays": {
			"one that goes on says how late it is: a key isn't immortal since it was made by another", -30 * life,
			[]look{{-30*life + sure, "a", 0}, {-29*life + sure, "na", 0}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			put(t, dir, current, key('a'), 0)
			now := noon().Add(tc.began)
			r, err := open(dir, func() time.Time { return now }, fresh(), slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range tc.looks {
				now = noon().Add(l.at)
				r.turn()
				got := heldIn(t, dir, now)
				if diff := cmp.Diff(look{l.at, l.keys, l.age}, look{l.at, names(r.Keys()...), got.Age}, cmp.AllowUnexported(look{})); diff != "" {
					t.Errorf("%s: after %s: -want, +got:\n%s", tc.reason, l.at, diff)
				}
			}
		})
	}
}

// TestTokensOutliveTheirKey holds that a token is good for all of its time, whenever in the life of its key it was made.
func TestTokensOutliveTheirKey(t *testing.T) {
	t.Parallel()
	const longest = 48 * time.Hour
	dir := t.TempDir()
	now := noon()
	r, err := open(dir, func() time.Time { return now }, fresh(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(life - time.Second)
	r.turn()
	token, err := boot.Mint(r.Keys()[0], boot.Claims{Kind: boot.TokenBoot, Nonce: "00000000000000a1", Expires: now.Add(longest)})
	if err != nil {
		t.Fatal(err)
	}
	for end := now.Add(longest); now.Before(end); now = now.Add(every) {
		r.turn()
		if _, err := boot.Verify(r.Keys(), token, now); err != nil {
			t.Fatalf("after %s: %v", now.Sub(noon()), err)
		}
	}
	if names(r.Keys()...) != "on" {
		t.Errorf("nothing was turned meanwhile: %s", names(r.Keys()...))
	}
}
