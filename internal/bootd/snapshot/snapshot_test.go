package snapshot

import (
	"context"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

func state() *boot.State {
	name := boot.Name{Namespace: "infra", Name: "rack"}
	return boot.NewState(
		[]boot.Segment{{Name: name, Subnets: []netip.Prefix{netip.MustParsePrefix("10.77.0.0/24")}, Mode: boot.SegmentAuthoritative}},
		[]boot.Plan{{
			Entry: boot.Name{Namespace: "team", Name: "web"}, EntryUID: "entry", HostUID: "host", MACs: []boot.MAC{"52:54:00:00:00:01"},
			Network: boot.Network{Name: name, Address: netip.MustParsePrefix("10.77.0.11/24"), Lease: time.Hour}, Mode: boot.ModeInstall,
			Since: time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC), InstallTimeout: time.Minute,
			Artifacts: []boot.Artifacts{{Arch: boot.AMD64, Image: &boot.Image{Artifact: boot.Artifact{URL: "http://x", Digest: "sha256:x"}}}},
		}},
		[]boot.Session{{EntryUID: "entry", Consumed: &boot.Consumption{GrantID: "g", At: time.Date(2026, 8, 1, 10, 0, 0, 1000, time.UTC)}}},
	)
}

func TestRoundTrip(t *testing.T) {
	s := In(t.TempDir())
	if st, keys, err := s.Load(); st != nil || keys != nil || err != nil {
		t.Fatalf("nothing was saved: %v %v %v", st, keys, err)
	}
	want := state()
	s.Offer(want, [][]byte{{1, 2}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // What was offered is written even so.
	if err := s.Run(ctx, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	got, keys, err := s.Load()
	if err != nil {
		t.Fatal(err)
	}
	opts := []cmp.Option{cmp.AllowUnexported(boot.State{}), cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{}), cmpopts.EquateEmpty()}
	if diff := cmp.Diff(want, got, opts...); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff([][]byte{{1, 2}}, keys); diff != "" {
		t.Errorf("keys: %s", diff)
	}
	if i, err := os.Stat(s.path); err != nil || i.Mode().Perm() != 0o600 {
		t.Errorf("it holds keys: %v %v", i.Mode(), err)
	}
	p, _ := want.ByMAC("52:54:00:00:00:01")
	q, _ := got.ByMAC("52:54:00:00:00:01")
	if p.Digest() != q.Digest() {
		t.Error("the plan's digest changed on the disk")
	}
}

func TestDamaged(t *testing.T) {
	for name, text := range map[string]string{"Torn": `{"format":1,"plans":[{`, "Other": `{"format":99}`, "Empty": ""} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, fileName), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if st, _, err := In(dir).Load(); err == nil || st != nil {
				t.Errorf("%v %v", st, err)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"format":1,"segments":[{}],"plans":[{"MACs":["x"]}],"sessions":[{}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		st, _, err := decode(b)
		if (st == nil) == (err == nil) {
			t.Errorf("%v %v", st, err)
		}
	})
}
