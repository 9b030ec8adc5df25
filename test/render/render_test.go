// Package render_test renders every composition with the reconciler that Crossplane runs, and compares with golden files.
package render_test

import (
	"bytes"
	"context"
	"flag"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
	"github.com/crossplane-contrib/provider-baremetal/internal/composition"
)

var update = flag.Bool("update", false, "write the golden files anew")

// root is the repository's root as seen from this folder.
const root = "../.."

// A flavour is one way to offer a kind: its composition and its XRD.
type flavour struct {
	composition, definition string
}

var (
	nodeClaims = flavour{"package/configuration/composition-baremetalnode.yaml", "package/configuration/zz_xbaremetalnodes.yaml"}
	nodes      = flavour{"package/configuration-v2/composition-baremetalnode.yaml", "package/configuration-v2/zz_baremetalnodes.yaml"}
	poolClaims = flavour{"package/configuration/composition-rackpool.yaml", "package/configuration/zz_xrackpools.yaml"}
	pools      = flavour{"package/configuration-v2/composition-rackpool.yaml", "package/configuration-v2/zz_rackpools.yaml"}
)

// TestRender compares each case's output with its golden file. A case is a folder: composite.yaml, and where there are any,
// observed.yaml and required.yaml.
func TestRender(t *testing.T) {
	crossplane := binary(t)
	address := serve(t)
	for name, f := range map[string]flavour{
		"node-new":                nodeClaims,
		"node-new-v2":             nodes,
		"node-ready":              nodeClaims,
		"node-bond":               nodes,
		"node-from-netbox":        nodes,
		"node-both":               nodes,
		"node-both-ready":         nodeClaims,
		"node-own-bmc":            nodeClaims,
		"node-network-forbidden":  nodeClaims,
		"node-network-taken-away": nodeClaims,
		"pool-new":                poolClaims,
		"pool-both":               poolClaims,
		"pool-new-v2":             pools,
		"pool-held":               poolClaims,
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join("testdata", name)
			in := input{
				composite:   one(t, filepath.Join(dir, "composite.yaml")),
				composition: one(t, filepath.Join(root, f.composition)),
				definition:  one(t, filepath.Join(root, f.definition)),
				observed:    optional(t, filepath.Join(dir, "observed.yaml")),
				required:    optional(t, filepath.Join(dir, "required.yaml")),
				function:    address,
			}
			got := golden(t, run(t, crossplane, in))
			path := filepath.Join(dir, "golden.yaml")
			if *update {
				if err := os.WriteFile(path, got, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("output differs from %s (-want +got); -update writes it anew:\n%s", path, diff)
			}
		})
	}
}

// TestRenderNothingOfTheLifecycle proves that the function renders nothing of what the lifecycle controllers write to a host, though
// the observed hosts hold all of it: a rendered field would be taken back at the next pass.
func TestRenderNothingOfTheLifecycle(t *testing.T) {
	crossplane := binary(t)
	address := serve(t)
	for name, f := range map[string]flavour{"pool-held": poolClaims, "node-own-bmc": nodeClaims} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join("testdata", name)
			held := 0
			for _, o := range optional(t, filepath.Join(dir, "observed.yaml")) {
				if len(lifecycle(o)) == 5 {
					held++
				}
			}
			if held == 0 {
				t.Fatal("no observed host holds power, powerOff, boot, resetGeneration and claimRef: this test would prove nothing")
			}
			out := run(t, crossplane, input{
				composite:   one(t, filepath.Join(dir, "composite.yaml")),
				composition: one(t, filepath.Join(root, f.composition)),
				definition:  one(t, filepath.Join(root, f.definition)),
				observed:    optional(t, filepath.Join(dir, "observed.yaml")),
				required:    optional(t, filepath.Join(dir, "required.yaml")),
				function:    address,
			})
			hosts := 0
			for _, c := range out.composed {
				if c["kind"] != "RedfishHost" {
					continue
				}
				hosts++
				if got := lifecycle(c); len(got) > 0 {
					t.Errorf("a rendered host has %v", got)
				}
			}
			if hosts == 0 {
				t.Error("no host was rendered")
			}
		})
	}
}

// lifecycle lists the fields of a host that belong to the lifecycle controllers.
func lifecycle(host map[string]any) []string {
	var out []string
	spec, _ := host["spec"].(map[string]any)
	if _, ok := spec["claimRef"]; ok {
		out = append(out, "claimRef")
	}
	params, _ := spec["forProvider"].(map[string]any)
	for _, f := range []string{"power", "powerOff", "boot", "resetGeneration"} {
		if _, ok := params[f]; ok {
			out = append(out, f)
		}
	}
	return out
}

// binary finds Crossplane, or builds it as the local control plane does.
func binary(t *testing.T) string {
	t.Helper()
	finder, err := programs.Default(func(line string) { t.Log(line) })
	if err != nil {
		t.Fatal(err)
	}
	set, err := finder.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return set.Path[programs.Crossplane]
}

// serve runs the function on loopback until the test ends.
func serve(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := grpc.NewServer()
	fnv1.RegisterFunctionRunnerServiceServer(srv, composition.New(logging.NewNopLogger()))
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(srv.Stop)
	return l.Addr().String()
}

// run renders with Crossplane's own reconciler.
func run(t *testing.T, crossplane string, in input) output {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, crossplane, "internal", "render")
	stdout, stderr := &bytes.Buffer{}, &bytes.Buffer{}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in.encode(t)), stdout, stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s internal render: %v\n%s", crossplane, err, stderr)
	}
	return decodeOutput(t, stdout.Bytes())
}
