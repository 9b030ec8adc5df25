// Command peers measures bootd beside the boot servers that people have today, by a harness that isn't part of the project: a folder
// with load generators and one plug a server. It prints one line a figure, "figure NAME VALUE UNIT": what was measured of each, and the
// ratios that count. Only ratios within one run do: the same machine differs by a quarter from one to the next.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

func main() {
	o := options{}
	flag.StringVar(&o.harness, "harness", "", "folder of the harness; it's copied, since a run leaves its programs beside itself")
	flag.StringVar(&o.scratch, "scratch", "", "folder for the copy, which stays: peers are downloaded into it once")
	flag.StringVar(&o.servers, "servers", "test/bench/peers/servers", "folder with the plugs of ours")
	flag.StringVar(&o.programs, "programs", "", "folder with our programs bootd and nethttp")
	suites := flag.String("suites", "dhcp,tftp,http", "which to run")
	flag.IntVar(&o.reps, "reps", 3, "how often each is run; medians are taken")
	flag.StringVar(&o.duration, "duration", "3s", "how long each load lasts")
	flag.StringVar(&o.sizes, "sizes", "10000 100000", "numbers of reservations")
	a := asker{}
	flag.StringVar(&a.out, "urls", "", "ask a bootd for the scripts of machines, and write their paths to this file; nothing is measured")
	flag.StringVar(&a.server, "server", "", "of -urls: the bootd's address of DHCP")
	flag.StringVar(&a.relay, "relay", "", "of -urls: an address of this host that bootd takes for a relay's")
	flag.IntVar(&a.machines, "machines", httpMachines, "of -urls: how many machines")
	flag.Parse()
	o.suites = strings.Split(*suites, ",")
	run := o.run
	if a.out != "" {
		run = a.run
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench-peers:", err)
		os.Exit(1)
	}
}

type options struct {
	harness, scratch, servers, programs string
	suites                              []string
	reps                                int
	duration, sizes                     string
}

// peersOf are the servers of a suite: ours, the ceilings, and who is to be beaten.
func peersOf(suite string) []string {
	return map[string][]string{
		"dhcp": {ours, "libdhcp", "kea", "dnsmasq-ro"},
		"tftp": {ours, "dnsmasq", "pintftp"},
		"http": {"nethttp", "nginx"}, // And ours, by a way of its own.
	}[suite]
}

func (o options) run() error {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if os.Getuid() != 0 {
		return errors.New("it needs root, for network namespaces of its own")
	}
	if o.harness == "" || o.scratch == "" || o.programs == "" {
		return errors.New("-harness, -scratch and -programs must be given")
	}
	for _, f := range []*string{&o.harness, &o.scratch, &o.servers, &o.programs} {
		abs, err := filepath.Abs(*f)
		if err != nil {
			return fmt.Errorf("cannot find %s: %w", *f, err)
		}
		*f = abs
	}
	if _, err := os.Stat(filepath.Join(o.harness, "run.sh")); err != nil {
		return fmt.Errorf("there's no harness in %s, which isn't part of the project: name its folder with HARNESS=DIR", o.harness)
	}
	if err := o.prepare(ctx); err != nil {
		return err
	}
	for _, suite := range o.suites {
		servers := peersOf(suite)
		if servers == nil {
			return fmt.Errorf("there's no suite %q: dhcp, tftp and http are", suite)
		}
		if err := o.measure(ctx, suite, servers); err != nil {
			return err
		}
	}
	rows, err := o.rows()
	if err != nil {
		return err
	}
	for _, line := range append(figures(rows), table(rows)...) {
		fmt.Println(line)
	}
	if names := missing(rows, o.suites); len(names) > 0 {
		return fmt.Errorf("not measured: %s; what the servers said is in %s", strings.Join(names, ", "), filepath.Join(o.scratch, "out"))
	}
	return nil
}

// rows are all results.
func (o options) rows() ([]row, error) {
	var all []row
	for _, name := range []string{o.results(), o.own()} {
		f, err := os.Open(name)
		if errors.Is(err, os.ErrNotExist) {
			continue // Not all suites have both.
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read the results: %w", err)
		}
		rows, err := read(f)
		_ = f.Close()
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

// measure runs one suite.
func (o options) measure(ctx context.Context, suite string, servers []string) error {
	if suite == "http" {
		return o.http(ctx, servers)
	}
	if err := o.script(ctx, "./run.sh", append([]string{suite}, servers...)...); err != nil {
		return err
	}
	if suite != "dhcp" {
		return nil
	}
	o.sizes = "1000" // Of ours alone: what a small site takes.
	return o.script(ctx, "./run.sh", suite, ours)
}
