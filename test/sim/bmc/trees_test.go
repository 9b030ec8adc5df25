package bmc_test

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// captures are trees of real BMCs, kept outside the repository; more may be
// named by REDFISH_TREES.
const captures = "../../../../shared/testdata/redfish"

// captured lists the trees by the names of their folders, and skips where there
// are none.
func captured(t *testing.T) map[string]string {
	t.Helper()
	dirs, err := bmc.FindTrees(append([]string{captures}, filepath.SplitList(os.Getenv("REDFISH_TREES"))...)...)
	if err != nil {
		t.Fatal(err)
	}
	if len(dirs) == 0 {
		t.Skipf("no captures of real BMCs at %s: skipped", captures)
	}
	out := map[string]string{}
	for _, d := range dirs {
		out[filepath.Base(d)] = d
	}

	return out
}

// rig is one captured tree behind an emulated BMC, with machines behind it.
type rig struct {
	*bmc.Server

	machines map[string]*bmc.Idle
	now      time.Time
}

// trees are those that were loaded, by their folders: they don't change.
var trees sync.Map

func load(t *testing.T, dir string) *bmc.Tree {
	t.Helper()
	if tree, ok := trees.Load(dir); ok {
		return tree.(*bmc.Tree)
	}
	tree, err := bmc.LoadTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	trees.Store(dir, tree)

	return tree
}

// serve puts a captured tree behind a server.
func serve(t *testing.T, dir string) *rig {
	t.Helper()
	tree := load(t, dir)

	return serveTree(t, tree)
}

// serveTree does so with one that is loaded; its BMC may be made to behave
// otherwise than its vendor's.
func serveTree(t *testing.T, tree *bmc.Tree, otherwise ...func(*bmc.Behaviour)) *rig {
	t.Helper()
	r := &rig{machines: map[string]*bmc.Idle{}, now: time.Now()}
	row := bmc.BehaviourOf(tree)
	for _, change := range otherwise {
		change(&row)
	}
	cfg := bmc.Config{Tree: tree, Behaviour: &row, Now: func() time.Time { return r.now }}
	for _, id := range bmc.New(cfg).Systems() {
		r.machines[id] = &bmc.Idle{}
		_ = r.machines[id].On(bmc.BootNormal)
		cfg.Systems = append(cfg.Systems, bmc.SystemConfig{ID: id, Machine: r.machines[id]})
	}
	var err error
	if r.Server, err = bmc.NewServer(cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })

	return r
}

// later lets a BMC that refuses one act so soon after another take the next.
func (r *rig) later() { r.now = r.now.Add(time.Minute) }

// TestTreesAreServed walks every tree from its service root: what a link leads
// to is answered, or missing in the capture.
func TestTreesAreServed(t *testing.T) {
	for name, dir := range captured(t) {
		t.Run(name, func(t *testing.T) {
			tree := load(t, dir)
			b := bmc.New(bmc.Config{Tree: tree})
			seen, found := map[string]bool{}, 0
			var visit func(uri string)
			visit = func(uri string) {
				key := strings.ToLower(strings.TrimRight(uri, "/"))
				if seen[key] || !strings.HasPrefix(key, "/redfish") || strings.ContainsAny(key, "#?") {
					return
				}
				seen[key] = true
				status, body := ask(t, b, http.MethodGet, uri, nil, nil)
				switch status {
				case http.StatusOK:
					found++
					links(body, visit)
				case http.StatusNotFound, http.StatusPermanentRedirect, http.StatusMethodNotAllowed:
				default:
					t.Errorf("GET %s: status %d", uri, status)
				}
			}
			visit("/redfish/v1")
			if found < 3 {
				t.Errorf("%d resources are reached from the service root", found)
			}
			if w := b.FullWrites(); len(w) != 0 {
				t.Errorf("reading wrote %v", w)
			}
		})
	}
}

// TestTreesAreTold says whose BMC each captured tree is of.
func TestTreesAreTold(t *testing.T) {
	want := map[string]string{
		"dell-13g-idrac8-partial": "Dell iDRAC8", "dell-r750-idrac9-6.00.30": "Dell iDRAC9", "gigabyte-h262z63-ami-12.84": "AMI",
		"hpe-dl360gen10plus-ilo5-3.11": "HPE iLO", "hpe-dl380agen11-ilo6-1.66": "HPE iLO", "hpe-dl385gen10plusv2-ilo5-2.72": "HPE iLO",
		"hpecray-ex235n-nc-2node": "HPE Cray", "huawei-v5-ibmc-partial": "Huawei iBMC", "lenovo-sr670v2-xcc-2.83": "Lenovo XCC",
		"nvidia-bluefield3-dpubmc-24.10": "NVIDIA BlueField", "nvidia-gb200nvl-openbmc-24.12": "OpenBMC", "nvidia-gh200-openbmc-24.05": "OpenBMC",
		"nvidia-nvswitchtray-n5110-openbmc": "OpenBMC", "openbmc-stock-2.15": "OpenBMC", "supermicro-sys510t-x12-partial": "Supermicro",
		"supermicro-sys821ge-x13-11.01.01": "Supermicro", "supermicro-x10sdv-4.0": "Supermicro X10",
	}
	for name, dir := range captured(t) {
		tree := load(t, dir)
		got := bmc.BehaviourOf(tree).Name
		if w, known := want[name]; known && got != w {
			t.Errorf("%s: got behaviour %q, want %q", name, got, w)
		}
		t.Logf("%s behaves as %q", name, got)
	}
}

// TestTreesAreObserved reads every tree with the client, which finds the host,
// or says in its own words why it doesn't, and writes nothing.
func TestTreesAreObserved(t *testing.T) {
	// Trees that name no host: the client must refuse.
	refused := map[string]redfish.Kind{"hpecray-ex235n-nc-2node": redfish.Ambiguous}
	// MACs that the captures have at least, by the places where firmware lists them.
	atLeast := map[string]int{
		"dell-13g-idrac8-partial": 4, "dell-r750-idrac9-6.00.30": 7, "gigabyte-h262z63-ami-12.84": 2, "hpe-dl360gen10plus-ilo5-3.11": 8,
		"hpe-dl380agen11-ilo6-1.66": 2, "hpe-dl385gen10plusv2-ilo5-2.72": 9, "hpecray-ex235n-nc-2node": 4, "lenovo-sr670v2-xcc-2.83": 4,
		"nvidia-bluefield3-dpubmc-24.10": 3, "nvidia-gb200nvl-openbmc-24.12": 2, "nvidia-gh200-openbmc-24.05": 6,
		"supermicro-sys821ge-x13-11.01.01": 11, "supermicro-x10sdv-4.0": 4,
	}
	typed := []redfish.Kind{redfish.Ambiguous, redfish.NoSystem, redfish.NotFound}
	for name, dir := range captured(t) {
		t.Run(name, func(t *testing.T) {
			r := serve(t, dir)
			c := connect(t, settings(r.Server))
			_, err := c.System(t.Context(), redfish.Selector{})
			kind, known := refused[name]
			switch {
			case err != nil && !slices.Contains(typed, redfish.KindOf(err)):
				t.Fatalf("System(...): %v, want a System or a refusal of a kind of %v", err, typed)
			case known && redfish.KindOf(err) != kind:
				t.Fatalf("System(...): got %v, want kind %q", err, kind)
			case err != nil:
				t.Logf("refused: %v", err)
			}
			for _, id := range r.Systems() {
				if err != nil && redfish.IsNotFound(err) {
					break
				}
				s, err := c.System(t.Context(), redfish.Selector{ID: id})
				if err != nil {
					t.Fatalf("System(%q): %v", id, err)
				}
				inv, err := c.Inventory(t.Context(), s)
				if err != nil {
					t.Fatalf("Inventory(%q): %v", id, err)
				}
				if len(inv.MACs) < atLeast[name] {
					t.Errorf("System %q has %d MACs, want at least %d", id, len(inv.MACs), atLeast[name])
				}
				if !s.CanReset || s.Power != redfish.PowerOn {
					t.Errorf("System %q: canReset %v, power %q", id, s.CanReset, s.Power)
				}
			}
			if w := r.FullWrites(); len(w) != 0 {
				t.Errorf("looking wrote %v", w)
			}
			if n := r.Counters().FailedLogins; n != 0 {
				t.Errorf("%d failed logins", n)
			}
		})
	}
}

// TestTreesAreShared: a tree without machines has idle ones in the state that
// was captured, and BMCs that share a tree don't share what is written.
func TestTreesAreShared(t *testing.T) {
	tree := made(t, nil)
	one, two := bmc.New(bmc.Config{Tree: tree}), bmc.New(bmc.Config{Tree: tree})
	status, _ := ask(t, one, http.MethodPost, "/redfish/v1/Systems/1/Actions/ComputerSystem.Reset", map[string]string{"ResetType": "ForceOff"}, nil)
	states := []any{status}
	for _, b := range []*bmc.BMC{one, two} {
		_, body := ask(t, b, http.MethodGet, "/redfish/v1/systems/1/", nil, nil)
		states = append(states, body["PowerState"], body["@odata.etag"])
	}
	if diff := cmp.Diff([]any{204, "Off", `W/"A-1"`, "On", `W/"A"`}, states); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if _, err := bmc.LoadTree(t.TempDir()); err == nil {
		t.Error("LoadTree of a folder without a tree: want an error")
	}
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
