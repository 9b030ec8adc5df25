package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

const (
	figureSteady  = "netbox_steady_requests"
	figureRSS     = "netbox_rss_10000"
	figureCPU     = "netbox_cpu_10000"
	figureRestart = "netbox_restart_requests"

	steadyAddresses = 10_000
	poll            = 10 * time.Minute
	// watched is how long the steady state is watched.
	watched = 5 * time.Minute
	// restarted is how long all may take to be looked at after a start: a reconcile each, at --max-reconcile-rate.
	restarted = 2 * time.Minute
	// ticks a second, in which the kernel counts a process's time (proc(5)).
	ticks = 100
)

// steady measures what ten thousand addresses cost that nobody touches.
func steady(ctx context.Context, l *lab.Lab) (map[string]float64, error) {
	s, err := slowNetBox(ctx, l, netbox.Options{}, "10.96.0.0/16")
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }() // Nobody talks to it any more.
	if err := comesToBe(ctx, l, "steady", steadyAddresses, "10.96.0.0/16"); err != nil {
		return nil, err
	}
	out := map[string]float64{}
	before := len(s.Requests())
	if err := l.HealProvider(ctx); err != nil {
		return nil, err
	}
	if err := pass(ctx, restarted); err != nil {
		return nil, err
	}
	again := s.Requests()[before:]
	out[figureRestart] = float64(len(again))
	for _, r := range again {
		if r.Writes() {
			return nil, fmt.Errorf("a provider that started again wrote to NetBox: %s %s", r.Method, r.Path)
		}
	}
	before = len(s.Requests())
	busy, err := cpu(l.Provider.PID())
	if err != nil {
		return nil, err
	}
	if err := pass(ctx, watched); err != nil {
		return nil, err
	}
	then, cpuErr := cpu(l.Provider.PID())
	memory, rssErr := rss(l.Provider.PID())
	out[figureSteady] = float64(len(s.Requests())-before) * float64(poll) / float64(watched) / steadyAddresses
	out[figureRSS], out[figureCPU] = memory, (then-busy)/watched.Seconds()
	return out, errors.Join(cpuErr, rssErr)
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
