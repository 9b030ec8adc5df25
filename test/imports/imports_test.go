package imports

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const module = "github.com/crossplane-contrib/provider-baremetal/"

// A rule says what the packages below a folder may import of ours, directly or by way of others.
type rule struct {
	why string
	// of are the folders that it holds for, and except those below that it doesn't.
	of, except []string
	// may are the folders that these may import besides their own.
	may []string
	// never are folders that they may not, where may is empty.
	never []string
	// direct says that only what a package imports itself counts: it composes parts that know more than it does.
	direct bool
	// standard says that nothing but the standard library is allowed at all.
	standard bool
}

func rules() map[string]rule {
	shipped := []string{"apis", "cmd", "internal"}
	return map[string]rule{
		"Domain": {
			why: "the domain knows of nothing but itself",
			of:  []string{"internal/boot"}, standard: true,
		},
		"APIs": {
			why: "kinds import nothing of ours but each other",
			of:  []string{"apis"}, may: []string{"apis"},
		},
		"Clients": {
			why: "a client talks to what is outside, and knows at most the domain",
			of:  []string{"internal/clients"}, may: []string{"internal/boot"},
		},
		"BootDaemon": {
			why: "bootd knows the domain; only its sources know Kubernetes' kinds",
			of:  []string{"internal/bootd"}, except: []string{"internal/bootd/kubesource", "internal/bootd/dirsource", "internal/bootd/specdir"},
			may: []string{"internal/bootd", "internal/boot"}, direct: true,
		},
		"BootDaemonSources": {
			why: "a source translates kinds into the domain",
			of:  []string{"internal/bootd/kubesource", "internal/bootd/dirsource", "internal/bootd/specdir"},
			may: []string{"internal/bootd", "internal/boot", "internal/bootspec", "apis"},
		},
		"Translation": {
			why: "the one translation of kinds into the domain knows both, and neither provider nor bootd",
			of:  []string{"internal/bootspec"}, may: []string{"apis", "internal/boot"},
		},
		"Composition": {
			why: "the function is pure: it has no client",
			of:  []string{"internal/composition"}, never: []string{"internal/clients", "internal/controller", "internal/bootd"},
		},
		"Controllers": {
			why: "provider and bootd talk through Kubernetes alone",
			of:  []string{"internal/controller"}, never: []string{"internal/bootd", "internal/composition"},
		},
		"Lifecycle": {
			why: "who decides the order of a boot and a release talks to no BMC and no NetBox",
			of:  []string{"internal/controller/lifecycle", "internal/controller/bootentry"}, never: []string{"internal/clients"},
		},
		"NoTests": {
			why: "what ships knows of neither the tests nor the local control plane",
			of:  shipped, never: []string{"test", "cluster"},
		},
		"Emulator": {
			why: "what the emulator knows of vendors and what the client does mustn't be wrong together",
			of:  []string{"test/sim/bmc"}, never: []string{"internal/clients"},
		},
		"NoPrograms": {
			why: "nobody imports a program",
			of:  []string{"apis", "internal", "test", "cluster"}, never: []string{"cmd"},
		},
	}
}

func TestArrows(t *testing.T) {
	packages := list(t, module+"...")
	for name, r := range rules() {
		t.Run(name, func(t *testing.T) {
			for _, v := range r.violations(packages) {
				t.Errorf("%s: %s", v, r.why)
			}
		})
	}
}

// A pkg is what go list says of one package: its path, what it imports, and all that it depends on.
type pkg struct {
	ImportPath string   `json:"ImportPath"`
	Imports    []string `json:"Imports"`
	Deps       []string `json:"Deps"`
}

// violations of one rule, one sentence each.
func (r rule) violations(packages []pkg) []string {
	var out []string
	for _, p := range packages {
		own, ok := strings.CutPrefix(p.ImportPath, module)
		if !ok || !below(own, r.of) || below(own, r.except) {
			continue
		}
		deps := p.Deps
		if r.direct {
			deps = p.Imports
		}
		for _, d := range deps {
			if r.forbids(own, d) {
				out = append(out, own+" imports "+strings.TrimPrefix(d, module))
			}
		}
	}
	return out
}

func (r rule) forbids(own, dep string) bool {
	target, ours := strings.CutPrefix(dep, module)
	switch {
	case r.standard:
		return !ours && strings.Contains(strings.SplitN(dep, "/", 2)[0], ".") || ours && !below(target, r.of)
	case !ours:
		return false
	case len(r.never) > 0:
		return below(target, r.never)
	default:
		// A program's own folder, or a sibling below the same folder of the rule that own itself is in.
		return !below(target, r.may) && !below(target, r.folderOf(own))
	}
}

// folderOf is the part of the rule's folders that own is below, with one more element: clients may not import each other.
func (r rule) folderOf(own string) []string {
	for _, f := range r.of {
		rest, ok := strings.CutPrefix(own, f+"/")
		if ok {
			first, _, _ := strings.Cut(rest, "/")
			return []string{f + "/" + first}
		}
	}
	return []string{own}
}

func below(path string, folders []string) bool {
	return slices.ContainsFunc(folders, func(f string) bool { return path == f || strings.HasPrefix(path, f+"/") })
}

// list gives packages and all that they depend on. args are flags of go list, and which packages.
func list(t *testing.T, args ...string) []pkg {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-deps", "-json=ImportPath,Imports,Deps"}, args...)...) //nolint:gosec // Our own packages.
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		t.Fatalf("cannot list packages: %v", err)
	}
	var all []pkg
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// TestRulesBite tries each kind of rule on a package that breaks it.
func TestRulesBite(t *testing.T) {
	cases := map[string]struct {
		reason, rule, pkg, dep string
		want                   []string
	}{
		"DomainStandard": {"The standard library is the domain's.", "Domain", "internal/boot", "net/netip", nil},
		"DomainModule":   {"Nothing else is.", "Domain", "internal/boot", "k8s.io/api", []string{"internal/boot imports k8s.io/api"}},
		"DomainOurs":     {"Our kinds aren't either.", "Domain", "internal/boot", module + "apis/v1alpha1", []string{"internal/boot imports apis/v1alpha1"}},
		"ClientSelf":     {"A client may have parts.", "Clients", "internal/clients/a", module + "internal/clients/a/b", nil},
		"ClientOther":    {"A client doesn't know another.", "Clients", "internal/clients/a", module + "internal/clients/b", []string{"internal/clients/a imports internal/clients/b"}},
		"DaemonKinds":    {"bootd doesn't know kinds.", "BootDaemon", "internal/bootd/dhcp", module + "apis/v1alpha1", []string{"internal/bootd/dhcp imports apis/v1alpha1"}},
		"DaemonSource":   {"Its sources do.", "BootDaemon", "internal/bootd/kubesource", module + "apis/v1alpha1", nil},
		"LifecycleClient": {
			"The order is carried out by editing specs.", "Lifecycle", "internal/controller/lifecycle/a", module + "internal/clients/b",
			[]string{"internal/controller/lifecycle/a imports internal/clients/b"},
		},
		"Test": {"A program doesn't know the tests.", "NoTests", "cmd/provider", module + "test/sim/bmc", []string{"cmd/provider imports test/sim/bmc"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := rules()[tc.rule].violations([]pkg{{ImportPath: module + tc.pkg, Imports: []string{tc.dep}, Deps: []string{tc.dep}}})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nviolations: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
