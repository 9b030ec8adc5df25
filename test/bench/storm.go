package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/storm"
)

const (
	figureStorm    = "storm_10k_ratio"
	figureStormRSS = "storm_10k_rss"

	// stormMachines boot at once, each with a kernel of stormKernel bytes; every stormCompared-th compares what came with the kernel's digest.
	stormMachines = 10000
	stormKernel   = 8 << 20
	stormCompared = 100
	// stormTimeout is many times what it takes on two cores.
	stormTimeout = 30 * time.Minute
)

// hall is how large a storm is.
type hall struct{ machines int }

func (h hall) bench() bench {
	return bench{
		figures: []figure{{name: figureStorm, unit: "of the median", limit: 3}, {name: figureStormRSS, unit: "MB", limit: 400}},
		bare:    h.measure,
		what: fmt.Sprintf("%d simulated machines that ask at once, each from its DISCOVER by its script to the last octet of a kernel of %d MiB, on one host with their bootd: the "+
			"slowest boot against the median, and the most memory that bootd's process had", h.machines, stormKernel>>20), //nolint:mnd // MiB.
	}
}

// measure runs a bootd of its own.
func (h hall) measure(ctx context.Context) (map[string]float64, error) {
	dir, err := os.MkdirTemp("", "bench-storm-")
	if err != nil {
		return nil, fmt.Errorf("cannot make a folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program := filepath.Join(dir, "bootd")
	if out, err := exec.CommandContext(ctx, "go", "build", "-tags=bootd", "-o", program, "github.com/crossplane-contrib/provider-baremetal/cmd/bootd").CombinedOutput(); err != nil { //nolint:gosec // Our own program.
		return nil, fmt.Errorf("cannot build bootd: %w\n%s", err, strings.TrimSpace(string(out)))
	}
	s, err := startHall(ctx, h, program, dir)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	return s.storm(ctx)
}

// hallOf is a bootd of many machines, and what they load.
type hallOf struct {
	hall

	site   storm.Site
	relay  *storm.Relay
	origin *httptest.Server
	cmd    *exec.Cmd
	ended  chan struct{}
	http   string
	log    string
}

func startHall(ctx context.Context, h hall, program, dir string) (*hallOf, error) {
	kernel := make([]byte, stormKernel)
	_, _ = rand.NewChaCha8([32]byte{}).Read(kernel) // It never fails.
	sum := sha256.Sum256(kernel)
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(kernel) }))
	s := &hallOf{hall: h, origin: origin, site: storm.Site{Machines: h.machines, URL: origin.URL + "/vmlinuz", Digest: "sha256:" + hex.EncodeToString(sum[:])}, log: filepath.Join(dir, "log")}
	if err := s.start(ctx, program, dir); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

func (s *hallOf) start(ctx context.Context, program, dir string) error {
	specs := filepath.Join(dir, "specs")
	err := errors.Join(os.Mkdir(specs, 0o700), os.WriteFile(filepath.Join(specs, "hall.yaml"), []byte(s.site.Specs()), 0o600))
	if err != nil {
		return fmt.Errorf("cannot write the specs: %w", err)
	}
	dhcp, err := freeUDP()
	if err != nil {
		return err
	}
	if s.http, err = freeTCP(); err != nil {
		return err
	}
	out, err := os.Create(s.log)
	if err != nil {
		return fmt.Errorf("cannot make the log: %w", err)
	}
	defer func() { _ = out.Close() }()
	s.cmd = exec.CommandContext(ctx, program, "--source=dir:"+specs, "--state-dir="+filepath.Join(dir, "state"), "--dhcp-listen="+dhcp.String(), "--tftp-listen=", //nolint:gosec // Our own program.
		"--http-listen="+s.http, "--health-listen=", "--advertise-address=127.0.0.1", "--allow-loopback-artifacts", "--tftp-dir="+dir, "--log-level=warn")
	s.cmd.Stderr = out
	if err := s.cmd.Start(); err != nil {
		return fmt.Errorf("cannot start bootd: %w", err)
	}
	s.ended = make(chan struct{})
	go func() {
		defer close(s.ended)
		_ = s.cmd.Wait()
	}()
	if s.relay, err = storm.NewRelay(netip.MustParseAddr("127.0.0.1"), storm.Link(), dhcp); err != nil {
		return err
	}
	return s.ready(ctx)
}

// ready waits until bootd knows all machines, and has their kernel.
func (s *hallOf) ready(ctx context.Context) error {
	want := []string{fmt.Sprintf("bootd_machines %d\n", s.machines), "bootd_artifacts 1\n"}
	if s.machines >= 1e6 { //nolint:mnd // From there on Prometheus writes an exponent.
		return errors.New("so many machines weren't meant")
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		text, err := s.metrics(ctx)
		if err == nil && strings.Contains(text, want[0]) && strings.Contains(text, want[1]) {
			return nil
		}
		select {
		case <-s.ended:
			return fmt.Errorf("bootd has ended: %s", s.said())
		default:
		}
		if time.Now().After(end) {
			return fmt.Errorf("bootd doesn't get ready: %w: %s", err, s.said())
		}
	}
}

func (s *hallOf) metrics(ctx context.Context) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.http+"/metrics", http.NoBody)
	if err != nil {
		return "", fmt.Errorf("cannot ask for metrics: %w", err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", fmt.Errorf("cannot ask for metrics: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", fmt.Errorf("cannot read metrics: %w", err)
	}
	return string(b), nil
}

// said is the end of what bootd has said.
func (s *hallOf) said() string {
	const enough = 2000
	b, err := os.ReadFile(s.log)
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-enough):])
}

func (s *hallOf) stop() {
	if s.ended != nil {
		_ = s.cmd.Process.Signal(syscall.SIGKILL)
		<-s.ended
	}
	if s.relay != nil {
		s.relay.Close()
	}
	s.origin.Close()
}

// numbers in the reasons of failures differ from machine to machine.
var numbers = regexp.MustCompile(`\d[\d.:]*`)

// storm has all machines boot at once.
func (s *hallOf) storm(ctx context.Context) (map[string]float64, error) {
	ctx, cancel := context.WithTimeout(ctx, stormTimeout)
	defer cancel()
	most := s.watchMemory(ctx)
	took, errs := make([]float64, s.machines), make([]error, s.machines)
	var mu sync.Mutex
	again := map[string]int{}
	var all sync.WaitGroup
	for i := range s.machines {
		m := &storm.Machine{MAC: storm.MAC(i), Relay: s.relay, Compare: i%stormCompared == 0}
		all.Go(func() {
			b, err := m.Boot(ctx)
			if err == nil {
				err = s.site.Check(i, stormKernel, b)
			}
			mu.Lock()
			for _, why := range b.Failures {
				again[numbers.ReplaceAllString(why, "N")]++
			}
			mu.Unlock()
			took[i], errs[i] = b.Took.Seconds(), err
		})
	}
	all.Wait()
	rss := most()
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("machines are lost: %w: %s", err, s.said())
	}
	mid, slowest := median(took), 0.0
	for _, t := range took {
		slowest = math.Max(slowest, t)
	}
	fmt.Printf("ran %s: the median took %.1f s, the slowest %.1f s, and %.0f MB/s came in all; tries that were repeated: %v\n",
		figureStorm, mid, slowest, float64(s.machines)*stormKernel/1e6/slowest, again)
	if len(again) > 0 {
		s.explain(ctx)
	}
	return map[string]float64{figureStorm: slowest / mid, figureStormRSS: rss}, nil
}

// explain prints what bootd has counted of DHCP: what it didn't answer, and why.
func (s *hallOf) explain(ctx context.Context) {
	text, err := s.metrics(ctx)
	if err != nil {
		text = err.Error()
	}
	for l := range strings.Lines(text) {
		if strings.HasPrefix(l, "bootd_dhcp_") {
			fmt.Fprint(os.Stderr, l)
		}
	}
}

// watchMemory looks at the memory of bootd's process until it's asked for the most that there was, in MB.
func (s *hallOf) watchMemory(ctx context.Context) (most func() float64) {
	ctx, cancel := context.WithCancel(ctx)
	out := make(chan float64, 1)
	go func() {
		t := time.NewTicker(50 * time.Millisecond)
		defer t.Stop()
		top := 0.0
		for {
			if mb, err := rss(s.cmd.Process.Pid); err == nil {
				top = math.Max(top, mb)
			}
			select {
			case <-ctx.Done():
				out <- top
				return
			case <-t.C:
			}
		}
	}()
	return func() float64 {
		cancel()
		return <-out
	}
}

func freeUDP() (netip.AddrPort, error) {
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("cannot find a free port: %w", err)
	}
	defer func() { _ = c.Close() }()
	return netip.ParseAddrPort(c.LocalAddr().String()) //nolint:wrapcheck // It's an address.
}

func freeTCP() (string, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0") //nolint:noctx // It's closed at once.
	if err != nil {
		return "", fmt.Errorf("cannot find a free port: %w", err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String(), nil
}
