// Command bench measures what the project promises, on a lab of its own, and prints one line a figure:
// "figure NAME VALUE UNIT".
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

func main() {
	only := flag.String("only", "", "measure only the figures whose name matches this regular expression")
	flag.Parse()
	if err := run(*only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// A figure is one thing that is measured.
type figure struct {
	name, unit string
	// what is run, for a person.
	what string
	// limit that the figure must stay below.
	limit   float64
	measure func(context.Context, *lab.Lab) (float64, error)
}

func figures() []figure {
	return []figure{
		{
			name: "claim_to_dhcp_ready", unit: "s", limit: 3, measure: claimToDHCPReady,
			what: fmt.Sprintf("median over %d claims, one after another, from applied to served by a bootd that waits for the first DISCOVER; emulators without delay", claims),
		},
		{
			name: "demo_claims_to_ready", unit: "s", limit: 20, measure: demoClaimsToReady,
			what: "four claims of examples/demo, applied at once, until all are Ready",
		},
		{
			name: "provider_rss_1000", unit: "MB", limit: 120, measure: providerRSS,
			what: fmt.Sprintf("memory of the provider's process with %d BootEntries, all planned and with their session, %s after the last of them", manyEntries, settle),
		},
	}
}

func run(only string) error {
	match, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("cannot understand -only: %w", err)
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	var errs []error
	ran := 0
	for _, f := range figures() {
		if !match.MatchString(f.name) {
			continue
		}
		ran++
		errs = append(errs, f.run(ctx))
	}
	if ran == 0 {
		return fmt.Errorf("no figure matches %q", only)
	}
	return errors.Join(errs...)
}

// run measures one figure on a lab of its own, so that none disturbs another.
func (f figure) run(ctx context.Context) error {
	cache, err := programs.Cache()
	if err != nil {
		return err
	}
	say := func(s string) { fmt.Fprintf(os.Stderr, "bench: %s: %s\n", f.name, s) }
	l, err := lab.Start(ctx, lab.Options{StateDir: filepath.Join(cache, "bench"), Say: say})
	if err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	defer l.Stop()
	if err := l.FillRack(ctx); err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	fmt.Printf("ran %s: %s\n", f.name, f.what)
	value, err := f.measure(ctx, l)
	if err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	fmt.Printf("figure %s %.2f %s\n", f.name, value, f.unit)
	if value >= f.limit {
		return fmt.Errorf("%s is %.2f %s, which is not below %g", f.name, value, f.unit, f.limit)
	}
	return nil
}
