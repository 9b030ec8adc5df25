package redfish

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// captures are response trees of real BMCs, kept outside the repository.
const captures = "../../../../shared/testdata/redfish"

// replay serves one captured tree: paths without case and trailing slash, no
// authentication, nothing can be written.
type replay map[string][]byte

func loadCapture(t *testing.T, name string) replay {
	t.Helper()
	root := filepath.Join(captures, name)
	tree := replay{}
	err := filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.Name() != "index.json" {
			return err
		}
		body, err := os.ReadFile(p)
		rel := strings.TrimPrefix(filepath.Dir(p), root)
		tree[strings.ToLower(rel)] = body

		return err
	})
	if err != nil {
		t.Fatalf("cannot read capture %q: %v", name, err)
	}

	return tree
}

func (r replay) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, ok := r[strings.ToLower(strings.TrimRight(req.URL.Path, "/"))]
	if !ok || req.Method != http.MethodGet {
		http.Error(w, "no", http.StatusNotFound)

		return
	}
	_, _ = w.Write(body)
}

// loopback is a Guard for tests.
func loopback() Guard {
	return Guard{Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}, AllowLoopback: true}
}

// connectTo starts a TLS server for h and connects with basic authentication.
func connectTo(t *testing.T, h http.Handler, change func(*Config)) *Client {
	t.Helper()
	srv := httptest.NewTLSServer(h)
	t.Cleanup(srv.Close)
	cfg := Config{
		Address: srv.URL, Username: "u", Password: "p", Auth: AuthBasic, TLS: TLS{Verify: VerifyNone},
		Guard: loopback(), RequestTimeout: 10 * time.Second, ReadBackInterval: time.Millisecond,
	}
	if change != nil {
		change(&cfg)
	}
	c, err := Connect(t.Context(), cfg)
	if err != nil {
		t.Fatalf("Connect(...): %v", err)
	}
	t.Cleanup(func() { _ = c.Close(context.WithoutCancel(t.Context())) })

	return c
}

// seen is what a capture must be read as.
type seen struct {
	Name, UUID, Model, Health string
	Power                     Power
	Boot                      [3]string // target, enabled, mode
	CanReset                  bool
	On, Graceful, Force       string // ResetTypes; "" when the BMC has none
	MACs                      int
}

func TestCaptures(t *testing.T) {
	if _, err := os.Stat(captures); err != nil {
		t.Skipf("no captures of real BMCs at %s: skipped", captures)
	}
	cases := map[string]struct {
		reason string
		want   Selector
		seen   seen
	}{}
	_ = cases
	dirs, _ := os.ReadDir(captures)
	for _, d := range dirs {
		if !d.IsDir() || d.Name() == "LICENSES" {
			continue
		}
		t.Run(d.Name(), func(t *testing.T) {
			c := connectTo(t, loadCapture(t, d.Name()), nil)
			s, err := c.System(t.Context(), Selector{})
			if err != nil {
				t.Log(err)
				return
			}
			adv, err := c.advertised(t.Context(), s)
			if err != nil {
				t.Log(err)
			}
			inv, err := c.Inventory(t.Context(), s)
			if err != nil {
				t.Log(err)
			}
			on, _ := chooseReset(adv, ActOn, s.Power)
			gr, _ := chooseReset(adv, ActGracefulOff, s.Power)
			fo, _ := chooseReset(adv, ActForceOff, s.Power)
			t.Log(cmp.Diff(seen{}, seen{s.Name(), s.UUID, s.Manufacturer + "|" + s.Model, s.Health, s.Power, [3]string{s.Boot.Target, s.Boot.Enabled, s.Boot.Mode}, s.CanReset, on, gr, fo, len(inv.MACs)}), inv)
		})
	}
}
