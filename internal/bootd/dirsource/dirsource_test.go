package dirsource

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/keyring"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

const network = `
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootNetwork
metadata: {namespace: lab, name: rack}
spec:
  subnets: [{cidr: 10.77.0.0/24}]
`

const entry = `
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootEntry
metadata: {namespace: lab, name: m1, uid: u1}
status:
  atProvider:
    plan:
      entryUID: u1
      macs: ["52:54:00:00:00:01"]
      network: {namespace: lab, name: rack, address: 10.77.0.11/24}
      mode: Live
`

func TestParse(t *testing.T) {
	list := "kind: List\nitems:\n- " + strings.ReplaceAll(strings.TrimSpace(network), "\n", "\n  ") +
		"\n- " + strings.ReplaceAll(strings.TrimSpace(entry), "\n", "\n  ") + "\n"
	cases := map[string]struct {
		reason, text    string
		segments, plans int
		says            string
	}{
		"Documents": {reason: "several to a file", text: network + "---" + entry, segments: 1, plans: 1},
		"List":      {reason: "as kubectl prints them", text: list, segments: 1, plans: 1},
		"Empty":     {reason: "nothing", text: "---\n# nothing\n---\n"},
		"NoPlan":    {reason: "an entry without a plan isn't served", text: strings.Split(entry, "status:")[0]},
		"Kind":      {reason: "a typo isn't passed over", text: "kind: BootNetwrk\n", says: `kind "BootNetwrk"`},
		"InList":    {reason: "nor in a list", text: "kind: List\nitems: [{kind: Pod}]\n", says: `kind "Pod"`},
		"YAML":      {reason: "no YAML", text: "\tx", says: "cannot"},
		"Address":   {reason: "a bad plan names its entry", text: strings.Replace(entry, "/24", "", 1), says: `"lab/m1"`},
		"Subnet":    {reason: "a bad network names itself", text: strings.Replace(network, "/24", "", 1), says: `"lab/rack"`},
		"Type":      {reason: "a wrong type", text: "kind: BootEntry\nmetadata: 3\n", says: "cannot decode a BootEntry"},
		"NetType":   {reason: "a wrong type", text: "kind: BootNetwork\nmetadata: 3\n", says: "cannot decode a BootNetwork"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			g, p, err := Parse([]byte(tc.text), nil)
			if tc.says != "" {
				if err == nil || !strings.Contains(err.Error(), tc.says) {
					t.Errorf("%s: %v, want %q", tc.reason, err, tc.says)
				}
				return
			}
			if err != nil || len(g) != tc.segments || len(p) != tc.plans {
				t.Errorf("%s: %d segments, %d plans, %v", tc.reason, len(g), len(p), err)
			}
		})
	}
}

func ring(t *testing.T, dir string) *keyring.Ring {
	t.Helper()
	r, err := keyring.Open(dir, time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func newSource(t *testing.T, dir string) *Source {
	t.Helper()
	return New(dir, ring(t, t.TempDir()), nil, slog.New(slog.DiscardHandler), nil)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFollowsTheFolder(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.yaml"), network)
	write(t, filepath.Join(dir, "README"), "not ours")
	s := newSource(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	await(t, "the network", func() bool { return s.Ready() && len(s.State().Segments) == 1 })
	write(t, filepath.Join(dir, "b.yaml"), entry)
	await(t, "the entry", func() bool { return len(s.State().Plans()) == 1 })
	write(t, filepath.Join(dir, "b.yaml"), "kind: Nonsense")
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := s.look(); err == nil && s.last == "" || len(s.State().Plans()) != 1 {
		t.Errorf("what can't be read leaves what was served: %v", err)
	}
	if err := newSource(t, filepath.Join(dir, "none")).look(); err == nil {
		t.Error("a missing folder is an error")
	}
}

func TestNothingIsInstalled(t *testing.T) {
	s := newSource(t, t.TempDir())
	if s.Synced(nil) || s.Lag() != 0 {
		t.Error("no grants without sessions")
	}
	if d, err := s.Data(t.Context(), "x"); err != nil || len(d) != 0 {
		t.Errorf("%v %v", d, err)
	}
	if _, err := (NoSessions{}).Get(t.Context(), boot.Name{}); !errors.Is(err, session.ErrNotFound) {
		t.Error(err)
	}
	if _, err := (NoSessions{}).Update(t.Context(), session.Record{}); !errors.Is(err, session.ErrConflict) {
		t.Error(err)
	}
}

func TestKeySurvives(t *testing.T) {
	dir := t.TempDir()
	var keys [][][]byte
	for range 2 {
		keys = append(keys, New(dir, ring(t, dir), nil, slog.New(slog.DiscardHandler), nil).Keys())
	}
	if diff := cmp.Diff(keys[0], keys[1]); diff != "" || len(keys[0]) != 1 {
		t.Errorf("a restart turns nobody away:\n%s", diff)
	}
}

// TestKeysTurn: a source that runs makes a new key once the one that it has is a week old.
func TestKeysTurn(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		first := ring(t, dir).Keys()[0]
		made := time.Now().Add(-7*24*time.Hour + time.Minute)
		if err := os.Chtimes(filepath.Join(dir, "token.key"), made, made); err != nil {
			t.Fatal(err)
		}
		s := New(dir, ring(t, dir), nil, slog.New(slog.DiscardHandler), nil)
		if got := s.Keys(); len(got) != 1 {
			t.Fatalf("%d keys before it's due", len(got))
		}
		go func() { _ = s.Run(t.Context()) }()
		time.Sleep(time.Hour)
		if got := s.Keys(); len(got) != 2 || bytes.Equal(got[0], first) || !bytes.Equal(got[1], first) {
			t.Errorf("%d keys, want a new one, and the first behind it", len(got))
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(network + "---" + entry))
	f.Add([]byte("kind: List\nitems: [{kind: List, items: []}]"))
	f.Fuzz(func(_ *testing.T, b []byte) { _, _, _ = Parse(b, nil) })
}

func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}
