package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

const (
	figureSteady  = "netbox_steady_requests"
	figureRSS     = "netbox_rss_10000"
	figureCPU     = "netbox_cpu_10000"
	figureRestart = "netbox_restart_requests"

	steadyAddresses = 10_000
	steadyPoll      = 10 * time.Minute
	// seatedPart of the addresses are the primary ones of a device each, and steadyFrom is where all are from.
	seatedPart = 5
	steadyFrom = "10.96.0.0/16"
	// changed are those that a person changes while the provider is down.
	changed = 10
	// seenTimeout is how long all may take to be looked at after a start, on a busy machine: a look each, at --max-reconcile-rate.
	seenTimeout = 10 * time.Minute
	// lookEvery is between looks at the metrics of a provider that starts, and quiet how many of them show nothing new when all has been
	// done; scrapeEvery is between those while its time is taken, as often as people have Prometheus do it.
	lookEvery, quiet, scrapeEvery = 2 * time.Second, 5, 15 * time.Second
	// ticks a second, in which the kernel counts a process's time (proc(5)).
	ticks = 100
)

// A calm is so many addresses that nobody touches, and how often each is looked at.
type calm struct {
	addresses int
	poll      time.Duration
}

// measure is what they cost.
func (c calm) measure(ctx context.Context, l *lab.Lab) (map[string]float64, error) {
	s, err := slowNetBox(ctx, l, benchConfig, netbox.Options{}, steadyFrom)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }() // Nobody talks to it any more.
	if err := errors.Join(comesToBe(ctx, l, "steady", c.addresses-c.seated(), steadyFrom, nil), comesToBe(ctx, l, "seated", c.seated(), steadyFrom, seats(s, c.seated()))); err != nil {
		return nil, err
	}
	s.Slow(latency, hold)
	whole := func() error {
		want, err := given(ctx, l, "steady", "seated")
		if err == nil && len(want) != c.addresses {
			err = fmt.Errorf("there are %d addresses", len(want))
		}
		return errors.Join(err, leaks(s.Addresses(), want, 0, bareFrom), primaries(s, c.seated()))
	}
	if err := whole(); err != nil {
		return nil, fmt.Errorf("after all were made: %w", err)
	}
	out := map[string]float64{}
	if out[figureRestart], err = c.restart(ctx, l, s); err != nil {
		return nil, fmt.Errorf("after the provider's start: %w", err)
	}
	if err := recorded(ctx, l, c.addresses); err != nil {
		return nil, err
	}
	if err := c.watch(ctx, l, s, out); err != nil {
		return nil, fmt.Errorf("in the poll that was watched: %w", err)
	}
	return out, whole()
}

// recorded waits until the use of its provider config is recorded of each address, which the provider does at leisure.
func recorded(ctx context.Context, l *lab.Lab, n int) error {
	return l.Until(ctx, "the usages of provider configs", 3*addressTimeout, func(ctx context.Context) error {
		all := &metav1.PartialObjectMetadataList{}
		all.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.ProviderConfigUsageKind + "List"))
		if err := l.Client().List(ctx, all, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: "0"}}); err != nil {
			return fmt.Errorf("cannot list usages: %w", err)
		}
		if got := len(all.Items); got < n {
			return errors.Join(pass(ctx, 5*time.Second), fmt.Errorf("%d of %d are recorded", got, n))
		}
		return nil
	})
}

// seated are how many of the addresses are the primary ones of devices.
func (c calm) seated() int { return c.addresses / seatedPart }

// seats makes so many devices with an interface, and returns the part of an address's manifest that makes it the primary one of the device with
// its number.
func seats(s *netbox.Server, n int) func(i int) string {
	site := s.AddSite(netbox.Named{Name: "Bench", Slug: "bench"})
	for i := range n {
		s.AddInterface(netbox.Interface{Machine: s.AddMachine(netbox.Machine{Name: deviceName(i), Site: site}), Name: "eth0"})
	}
	return func(i int) string {
		return fmt.Sprintf(", assignTo: {device: {name: %s}, interface: {name: eth0}, use: Primary}", deviceName(i))
	}
}

func deviceName(i int) string { return fmt.Sprintf("node-%05d", i) }

// primaries holds that so many devices have their own address as their primary one, each another one.
func primaries(s *netbox.Server, want int) error {
	seen := map[int64]bool{}
	for _, m := range s.Machines() {
		if m.Primary4 != 0 {
			seen[m.Primary4] = true
		}
	}
	if len(seen) != want {
		return fmt.Errorf("%d addresses are primary ones of devices, want %d", len(seen), want)
	}
	return nil
}

// restart is how many requests a provider makes that starts again, until it has looked at all, beside those about what was changed
// meanwhile: these it must have corrected, and nothing else.
func (c calm) restart(ctx context.Context, l *lab.Lab, s *netbox.Server) (float64, error) {
	l.Provider.Kill()
	edited, err := edit(s)
	if err != nil {
		return 0, err
	}
	before := len(s.Requests())
	if err := l.HealProvider(ctx); err != nil {
		return 0, err
	}
	seen, err := settles(ctx, l, float64(c.addresses))
	if err != nil {
		return 0, err
	}
	requests := s.Requests()[before:]
	n, err := others(requests, edited)
	if err != nil {
		return 0, err
	}
	for _, a := range s.Addresses() {
		if edited[a.ID] && a.Status != statusGiven {
			return 0, fmt.Errorf("what a person had made of %s wasn't corrected", a.Address)
		}
	}
	if least := c.addresses / lookPage; n < least {
		return 0, fmt.Errorf("%d requests can't have shown all records: %d pages are the least", n, least)
	}
	fmt.Fprintf(os.Stderr, "bench: after the start %.0f looks and %d requests, of which %d are about what was changed\n", seen, len(requests), len(requests)-n)
	return float64(n), nil
}

const (
	// statusGiven is what an address is given by default, and statusEdited what a person makes of it.
	statusGiven, statusEdited = "active", "reserved"
	// lookPage is how many records a request shows.
	lookPage = 1000
)

// edit has a person change some records that are assigned to nothing, far apart.
func edit(s *netbox.Server) (map[int64]bool, error) {
	edited := map[int64]bool{}
	all := slices.DeleteFunc(s.Addresses(), func(a netbox.Address) bool { return a.Assigned.ID != 0 })
	for i := range changed {
		id := all[i*(len(all)-1)/(changed-1)].ID
		if !s.ChangeAddressAs("alice", id, func(a *netbox.Address) { a.Status = statusEdited }) {
			return nil, fmt.Errorf("record %d isn't there to be changed", id)
		}
		edited[id] = true
	}
	return edited, nil
}

// others counts the requests that aren't about one of some records. Each of these must have been written once, and nothing else.
func others(requests []netbox.Request, about map[int64]bool) (int, error) {
	n, writes := 0, 0
	for _, r := range requests {
		query, _ := url.ParseQuery(r.Query)
		id, _ := strconv.ParseInt(strings.Trim(strings.TrimPrefix(r.Path, "/api/ipam/ip-addresses/"), "/"), 10, 64)
		subject, _ := strconv.ParseInt(query.Get("changed_object_id"), 10, 64)
		switch mine := about[id] || about[subject]; {
		case r.Writes() && (!about[id] || r.Method != http.MethodPatch):
			return 0, fmt.Errorf("the provider wrote to what nobody had changed: %s %s", r.Method, r.Path)
		case r.Writes():
			writes++
		case !mine:
			n++
		}
	}
	if writes != len(about) {
		return 0, fmt.Errorf("%d changes were corrected by %d writes", len(about), writes)
	}
	return n, nil
}

// watch measures a whole poll: from now, when all were just looked at, until all were looked at again by themselves. That's some more than
// a poll interval, and counted as one.
func (c calm) watch(ctx context.Context, l *lab.Lab, s *netbox.Server, out map[string]float64) error {
	before := len(s.Requests())
	first, err := looks(ctx, l)
	if err != nil {
		return err
	}
	busy, err := cpu(l.Provider.PID())
	if err != nil {
		return err
	}
	began := time.Now()
	for all := false; !all; {
		if err := pass(ctx, scrapeEvery); err != nil {
			return err
		}
		now, err := looks(ctx, l)
		if err != nil {
			return err
		}
		n := now[foundUpToDate] - first[foundUpToDate]
		if more := now.all() - first.all() - n; more != 0 {
			return fmt.Errorf("%.0f looks found something to do: %v, before %v", more, now, first)
		}
		if all = n >= float64(c.addresses) && time.Since(began) >= c.poll; !all && time.Since(began) > c.poll*5/4+seenTimeout {
			return fmt.Errorf("%.0f of %d were looked at in %s", n, c.addresses, time.Since(began).Round(time.Second))
		}
	}
	took := time.Since(began)
	then, cpuErr := cpu(l.Provider.PID())
	memory, rssErr := rss(l.Provider.PID())
	requests := s.Requests()[before:]
	if _, err := others(requests, nil); err != nil {
		return err
	}
	out[figureSteady] = float64(len(requests)) / float64(c.addresses)
	out[figureRSS], out[figureCPU] = memory, (then-busy)/c.poll.Seconds()
	fmt.Fprintf(os.Stderr, "bench: in %s the provider was busy for %.2f s and made %d requests\n", took.Round(time.Second), then-busy, len(requests))
	return errors.Join(cpuErr, rssErr)
}

func pass(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// cpu is how many seconds a process has run (proc(5): utime and stime of /proc/PID/stat, the 14th and 15th field).
func cpu(pid int) (float64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("cannot read a process's time: %w", err)
	}
	_, rest, _ := strings.Cut(string(b), ") ") // The name before may hold spaces.
	const utime, stime = 14 - 3, 15 - 3
	fields := strings.Fields(rest)
	if len(fields) <= stime {
		return 0, fmt.Errorf("the system doesn't say how long process %d has run", pid)
	}
	u, uErr := strconv.ParseFloat(fields[utime], 64)
	s, sErr := strconv.ParseFloat(fields[stime], 64)
	return (u + s) / ticks, errors.Join(uErr, sErr)
}
