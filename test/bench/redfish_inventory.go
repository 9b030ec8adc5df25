package main

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// readTimeout is how long one request of an inventory may take.
const readTimeout = 30 * time.Second

// inventories counts what reading the inventory of each model and each recorded tree takes: a figure each, the greatest and the median.
func (f fleet) inventories(ctx context.Context, _ *lab.Lab, _ *rackOf, out map[string]float64) error {
	configs := map[string]bmc.Config{}
	for _, m := range bmc.Models() {
		configs[string(m)] = bmc.Config{Systems: []bmc.SystemConfig{{Model: m, Serial: "READ0001", UUID: "5eed0000-0000-4000-8000-000000000001"}}}
	}
	dirs, err := bmc.FindTrees(f.trees)
	if err != nil {
		return fmt.Errorf("cannot use -trees: %w", err)
	}
	for _, dir := range dirs {
		tree, err := bmc.LoadTree(dir)
		if err != nil {
			return fmt.Errorf("cannot use -trees: %w", err)
		}
		configs[filepath.Base(dir)] = bmc.Config{Tree: tree}
	}
	if len(dirs) == 0 {
		fmt.Fprintf(os.Stderr, "bench: no recorded trees in %q: the models' inventories alone are counted\n", f.trees)
	}
	var all []float64
	for _, name := range slices.Sorted(maps.Keys(configs)) {
		counts, err := inventoriesOf(ctx, name, configs[name])
		if err != nil {
			return fmt.Errorf("inventory of %s: %w", name, err)
		}
		all = append(all, counts...)
	}
	out[figureRead], out[figureReads] = slices.Max(all), median(all)
	return nil
}

// inventoriesOf counts the requests for the inventory of each System of a BMC, the first time, and prints them.
func inventoriesOf(ctx context.Context, name string, cfg bmc.Config) ([]float64, error) {
	s, err := bmc.NewServer(cfg)
	if err != nil {
		return nil, fmt.Errorf("cannot start a BMC: %w", err)
	}
	defer func() { _ = s.Close() }() // Nobody talks to it any more.
	c, err := redfish.Connect(ctx, redfish.Config{
		Address: s.URL(), Username: bmc.DefaultUsername, Password: bmc.DefaultPassword, RequestTimeout: readTimeout,
		TLS:   redfish.TLS{Verify: redfish.VerifyPinned, Pins: []string{s.CertificateSHA256()}},
		Guard: redfish.Guard{Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, AllowLoopback: true},
	})
	if err != nil {
		return nil, fmt.Errorf("cannot log in: %w", err)
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }() // It ends anyway.
	var out []float64
	ids := s.Systems()
	for _, id := range ids {
		system, err := c.System(ctx, redfish.Selector{ID: id})
		if err != nil {
			return nil, fmt.Errorf("cannot find System %q: %w", id, err)
		}
		memory := &redfish.Memory{}
		first, err := readOnce(ctx, c, system, memory)
		if err != nil {
			return nil, err
		}
		again, err := readOnce(ctx, c, system, memory)
		if err != nil {
			return nil, err
		}
		figure := figureRead + "_" + worded(name)
		if len(ids) > 1 {
			figure += "_" + worded(id)
		}
		fmt.Printf("figure %s %d requests\n", figure, first.Requests)
		fmt.Fprintf(os.Stderr, "bench: %s: read again by %d requests, of which %d are answered by not modified\n", name, again.Requests, again.Unchanged)
		out = append(out, float64(first.Requests))
	}
	return out, nil
}

// readOnce reads one inventory.
func readOnce(ctx context.Context, c *redfish.Client, s redfish.System, m *redfish.Memory) (redfish.Inventory, error) {
	w := redfish.NewWalk(s, m)
	for {
		done, err := c.Walk(ctx, w, readLimit)
		if err != nil {
			return redfish.Inventory{}, fmt.Errorf("cannot read the inventory: %w", err)
		}
		if done {
			return w.Inventory(), nil
		}
	}
}

// worded is a name in the letters of a figure's.
func worded(name string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToLower(name)), "_")
}
