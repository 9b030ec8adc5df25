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
	"slices"
	"syscall"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

func main() {
	only := flag.String("only", "", "measure only the figures whose name matches this regular expression")
	st := calm{}
	flag.IntVar(&st.addresses, "addresses", steadyAddresses, "of netbox_restart_requests: fewer are a first look, not what is promised")
	flag.DurationVar(&st.poll, "poll", steadyPoll, "of netbox_restart_requests: a shorter one likewise")
	f := fleet{}
	flag.IntVar(&f.hosts, "hosts", fleetHosts, "of the figures about Redfish: fewer are a first look, not what is promised")
	flag.DurationVar(&f.poll, "host-poll", fleetPoll, "of the figures about Redfish: a shorter one likewise")
	flag.StringVar(&f.trees, "trees", "../shared/testdata/redfish", "of the figures about Redfish: a folder of such folders, whose inventories are counted beside the models'")
	flag.StringVar(&f.tree, "tree", "", "of the figures about Redfish: a folder with what a real BMC answered, for all of them; default: an emulated model")
	h := hall{}
	flag.IntVar(&h.machines, "machines", stormMachines, "of the figures storm_10k_…: fewer are a first look, not what is promised")
	flag.Parse()
	if err := run(*only, st, f, h); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// A figure is one thing that is measured.
type figure struct {
	name, unit string
	// limit that the figure must not exceed, or reach where atLeast is set.
	limit   float64
	atLeast bool
}

// A bench measures figures on one lab.
type bench struct {
	figures []figure
	// what is run, for a person.
	what string
	// rack says that the machines of examples/demo are there.
	rack bool
	// provider's command line beside the lab's own.
	provider []string
	measure  func(context.Context, *lab.Lab) (map[string]float64, error)
	// bare measures without a lab, where it's set.
	bare func(context.Context) (map[string]float64, error)
}

func benches(st calm, f fleet, h hall) []bench {
	return []bench{
		{
			figures: []figure{{name: "claim_to_dhcp_ready", unit: "s", limit: 3}}, measure: alone("claim_to_dhcp_ready", claimToDHCPReady), rack: true,
			what: fmt.Sprintf("median over %d claims, one after another, from applied to served by a bootd that waits for the first DISCOVER; emulators without delay", claims),
		},
		{
			figures: []figure{{name: "demo_claims_to_ready", unit: "s", limit: 20}}, measure: alone("demo_claims_to_ready", demoClaimsToReady), rack: true,
			what: "four claims of examples/demo, applied at once, until all are Ready",
		},
		{
			figures: []figure{{name: "provider_rss_1000", unit: "MB", limit: 120}}, measure: alone("provider_rss_1000", providerRSS), rack: true,
			what: fmt.Sprintf("memory of the provider's process with %d BootEntries, all planned and with their session, %s after the last of them", manyEntries, settle),
		},
		{
			figures: []figure{
				{name: figureAlloc, unit: "s", limit: 20}, {name: figureRatio, unit: "of 1", limit: 0.5, atLeast: true},
				{name: figureFair, unit: "s", limit: 3}, {name: figureBusy, unit: "s", limit: 3}, {name: figureRelease, unit: "s", limit: 20},
				{name: figureHanging, unit: "s", limit: 3},
			},
			measure: allocations, provider: []string{"--debug=false"},
			what: fmt.Sprintf("%d NetBoxIPAddresses from one /20, applied at once, until all are Ready, and until all are gone; meanwhile %d others on another prefix, one and "+
				"ten among ten with a tenant that isn't there, then %d of another namespace on the busy one, among as many such; bare POSTs at once before; records and "+
				"resources compared after each; then as many on the other prefix, while another provider config's NetBox, which %d are asked of, answers nothing; the emulator takes %s a request, "+
				"%s of them under its one lock to make one", manyAddresses, fairOnes, busyOnes, hangingOnes, latency, hold),
		},
		{
			figures: []figure{
				{name: figureRestart, unit: "requests", limit: 20}, {name: figureSteady, unit: "requests per object and poll", limit: 0.01},
				{name: figureRSS, unit: "MB", limit: 200}, {name: figureCPU, unit: "cores", limit: 0.05},
			},
			measure: st.measure, provider: []string{"--poll=" + st.poll.String(), "--debug=false"},
			what: fmt.Sprintf("%d NetBoxIPAddresses that are as they should be, one in %d of them a device's primary address, but for %d that a person changes while the provider is down, poll %s: the provider started again until "+
				"all were looked at, with what it asks for beside those few; then until all were looked at once more by themselves, which is a whole poll: its requests, and its time "+
				"as part of one poll; the emulator takes %s a request", st.addresses, seatedPart, changed, st.poll, latency),
		},
		f.bench(),
		h.bench(),
	}
}

// alone is a bench of one figure.
func alone(name string, measure func(context.Context, *lab.Lab) (float64, error)) func(context.Context, *lab.Lab) (map[string]float64, error) {
	return func(ctx context.Context, l *lab.Lab) (map[string]float64, error) {
		v, err := measure(ctx, l)
		return map[string]float64{name: v}, err
	}
}

func run(only string, st calm, f fleet, h hall) error {
	match, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("cannot understand -only: %w", err)
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	var errs []error
	ran := 0
	for _, b := range benches(st, f, h) {
		if !slices.ContainsFunc(b.figures, func(f figure) bool { return match.MatchString(f.name) }) {
			continue
		}
		ran++
		errs = append(errs, b.run(ctx))
	}
	if ran == 0 {
		return fmt.Errorf("no figure matches %q", only)
	}
	return errors.Join(errs...)
}

// run measures on a lab of its own, so that no bench disturbs another.
func (b bench) run(ctx context.Context) error {
	name := b.figures[0].name
	if b.bare != nil {
		fmt.Printf("ran %s: %s\n", name, b.what)
		values, err := b.bare(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return b.judge(values)
	}
	cache, err := programs.Cache()
	if err != nil {
		return err
	}
	say := func(s string) { fmt.Fprintf(os.Stderr, "bench: %s: %s\n", name, s) }
	l, err := lab.Start(ctx, lab.Options{StateDir: filepath.Join(cache, "bench"), Say: say, ProviderArgs: b.provider})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer l.Stop()
	if b.rack {
		if err := l.FillRack(ctx); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	fmt.Printf("ran %s: %s\n", name, b.what)
	values, err := b.measure(ctx, l)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return b.judge(values)
}

func (b bench) judge(values map[string]float64) error {
	var errs []error
	for _, f := range b.figures {
		errs = append(errs, f.judge(values[f.name]))
	}
	return errors.Join(errs...)
}

// judge prints a figure, and says whether it's as it should be.
func (f figure) judge(value float64) error {
	fmt.Printf("figure %s %.4g %s\n", f.name, value, f.unit)
	switch {
	case f.atLeast && value < f.limit:
		return fmt.Errorf("%s is %.4g %s, which is below %g", f.name, value, f.unit, f.limit)
	case !f.atLeast && value > f.limit:
		return fmt.Errorf("%s is %.4g %s, which is above %g", f.name, value, f.unit, f.limit)
	}
	return nil
}
