package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/storm"
)

const (
	// httpMachines have scripts of their own.
	httpMachines = 10000
	// askAtOnce of them take an address at once.
	askAtOnce = 64
	// What the harness' namespaces are: see its netns.sh.
	serverNet, clientNet   = "/run/netns/bs", "/run/netns/bc"
	serverAddr, relayAddr  = "10.99.0.1", "10.64.0.1"
	serverCPU, clientCPU   = "1", "0"
	smallConns, largeConns = "64", "4"
)

// http measures all servers in turn, so that what the machine does meanwhile is everybody's. The harness asks by a pattern of MACs, and a
// script of bootd's has a token in its URL, which DHCP gives: bootd gets the same load from here, by the same program.
func (o options) http(ctx context.Context, servers []string) error {
	reps := o.reps
	o.reps = 1
	for rep := range reps {
		if err := o.script(ctx, "./run.sh", append([]string{"http"}, servers...)...); err != nil {
			return err
		}
		if err := o.httpOfOurs(ctx, rep); err != nil {
			return err
		}
	}
	return nil
}

func (o options) httpOfOurs(ctx context.Context, rep int) error {
	dir := filepath.Join(o.scratch, "state", "bootd-http")
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o750)); err != nil {
		return fmt.Errorf("cannot make a folder: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "hosts.csv"), []byte(hosts(httpMachines)), 0o600); err != nil {
		return fmt.Errorf("cannot write the hosts: %w", err)
	}
	line, err := o.plug(ctx, dir, "sut_gen; sut_cmd")
	if err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(dir, "stdout.log"))
	if err != nil {
		return fmt.Errorf("cannot make a log: %w", err)
	}
	defer func() { _ = log.Close() }()
	cmd := exec.CommandContext(ctx, "nsenter", "--net="+serverNet, "taskset", "-c", serverCPU, "bash", "-c", "exec "+line) //nolint:gosec // Our own program.
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("cannot start bootd: %w", err)
	}
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGKILL)
		_ = cmd.Wait()
	}()
	return o.load(ctx, dir, rep)
}

// plug runs functions of bootd's plug, and gives what they print.
func (o options) plug(ctx context.Context, dir, code string) (string, error) {
	cmd := exec.CommandContext(ctx, "bash", "-ec", ". $BENCH/servers/_lib.sh; . $SERVERS/bootd.sh; "+code) //nolint:gosec // Our own words.
	public := filepath.Join(o.scratch, www)
	cmd.Env = append(os.Environ(), "BENCH="+o.scratch, "SERVERS="+o.servers, "PROGRAMS="+o.programs, "SIP="+serverAddr, "N="+strconv.Itoa(httpMachines), "D="+dir,
		"WWW="+public, "KERNEL="+filepath.Join(public, bigFile))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("bootd's plug: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// hosts are the harness' own: a MAC and an address each.
func hosts(n int) string {
	var b strings.Builder
	for i := range n {
		m, a := macOf(i), 10<<24+64<<16+1<<8+i
		fmt.Fprintf(&b, "%02x:%02x:%02x:%02x:%02x:%02x,%d.%d.%d.%d\n", m[0], m[1], m[2], m[3], m[4], m[5], a>>24, a>>16&255, a>>8&255, a&255)
	}
	return b.String()
}

func macOf(i int) [6]byte { return [6]byte{0x52, 0x54, 0, byte(i >> 16), byte(i >> 8), byte(i)} } //nolint:gosec // Bytes of it.

// load asks for scripts and for a file, and writes what came of it where the harness writes its own.
func (o options) load(ctx context.Context, dir string, rep int) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find this program: %w", err)
	}
	paths, script := filepath.Join(dir, "paths"), filepath.Join(dir, "paths.lua")
	err = command(ctx, dir, os.Environ(), "nsenter", "--net="+clientNet, self, "-urls", paths, "-server", serverAddr+":67", "-relay", relayAddr)
	if err != nil {
		return err
	}
	b, err := os.ReadFile(paths)
	if err != nil {
		return fmt.Errorf("cannot read the paths: %w", err)
	}
	file, _, _ := strings.Cut(string(b), "\n") // Its first line is the file's.
	lua := fmt.Sprintf(`local reqs = {}
function init(args)
  local n = 0
  for l in io.lines(%q) do
    if n > 0 then reqs[n] = wrk.format("GET", l) end
    n = n + 1
  end
  math.randomseed(7)
end
function request() return reqs[math.random(1, #reqs)] end
`, paths)
	if err := os.WriteFile(script, []byte(lua), 0o600); err != nil {
		return fmt.Errorf("cannot write the load: %w", err)
	}
	base := "http://" + serverAddr + ":8080"
	for kind, args := range map[string][]string{"small": {"-c", smallConns, "-s", script, base}, "big": {"-c", largeConns, base + file}} {
		r, err := o.wrk(ctx, args)
		if err != nil {
			return err
		}
		r.Suite, r.Server, r.Kind, r.Rep = "http", ours, kind, rep
		if err := o.note(r); err != nil {
			return err
		}
	}
	return nil
}

// wrk is the harness' generator of HTTP requests.
func (o options) wrk(ctx context.Context, args []string) (row, error) {
	root := filepath.Join(o.scratch, "root")
	all := append([]string{"--net=" + clientNet, "taskset", "-c", clientCPU, "env", "LD_LIBRARY_PATH=" + filepath.Join(root, "usr", "lib", "x86_64-linux-gnu"),
		filepath.Join(root, "usr", "bin", "wrk"), "-t1", "-d", o.duration, "--latency", "--timeout", "5s"}, args...)
	cmd := exec.CommandContext(ctx, "nsenter", all...) //nolint:gosec // The harness' own program.
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return row{}, fmt.Errorf("wrk: %w", err)
	}
	return told(string(out))
}

var (
	requests  = regexp.MustCompile(`Requests/sec:\s+([\d.]+)`)
	transfers = regexp.MustCompile(`Transfer/sec:\s+([\d.]+)([KMG]?)B`)
	refusals  = regexp.MustCompile(`Non-2xx or 3xx responses: (\d+)`)
)

// told reads what wrk says.
func told(text string) (row, error) {
	if m := refusals.FindStringSubmatch(text); m != nil {
		return row{}, fmt.Errorf("%s requests were refused: what was measured is refusing", m[1])
	}
	req, moved := requests.FindStringSubmatch(text), transfers.FindStringSubmatch(text)
	if req == nil || moved == nil {
		return row{}, fmt.Errorf("cannot understand wrk: %q", text)
	}
	rate, err := strconv.ParseFloat(req[1], 64)
	if err != nil {
		return row{}, fmt.Errorf("cannot understand wrk: %w", err)
	}
	mb, err := strconv.ParseFloat(moved[1], 64)
	if err != nil {
		return row{}, fmt.Errorf("cannot understand wrk: %w", err)
	}
	const k = 1 << 10
	mb *= map[string]float64{"": 1, "K": k, "M": k * k, "G": k * k * k}[moved[2]] / 1e6
	return row{ReqRate: &rate, MBRate: &mb}, nil
}

// note adds a row to our own results.
func (o options) note(r row) error {
	b, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("cannot write a result: %w", err)
	}
	f, err := os.OpenFile(o.own(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("cannot write a result: %w", err)
	}
	_, err = f.Write(append(b, '\n'))
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("cannot write a result: %w", err)
	}
	fmt.Fprintln(os.Stderr, string(b))
	return nil
}

// An asker is this program in the clients' namespace.
type asker struct {
	out, server, relay string
	machines           int
}

// run writes the path of the file that a script names, and those of all machines' scripts.
func (a asker) run() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	server, err := netip.ParseAddrPort(a.server)
	if err != nil {
		return fmt.Errorf("-server: %w", err)
	}
	relay, err := netip.ParseAddr(a.relay)
	if err != nil {
		return fmt.Errorf("-relay: %w", err)
	}
	r, err := storm.NewRelay(relay, relay, server)
	if err != nil {
		return err
	}
	defer r.Close()
	scripts, err := a.scripts(ctx, r)
	if err != nil {
		return err
	}
	kernel, err := storm.Kernel(ctx, scripts[0])
	for ; err != nil && ctx.Err() == nil; kernel, err = storm.Kernel(ctx, scripts[0]) { // It's looked at before it's served.
		time.Sleep(100 * time.Millisecond)
	}
	if err != nil {
		return fmt.Errorf("the script names no kernel: %w", err)
	}
	var b strings.Builder
	for _, s := range append([]string{kernel}, scripts...) {
		u, err := url.Parse(s)
		if err != nil {
			return fmt.Errorf("cannot understand %q: %w", s, err)
		}
		b.WriteString(u.RequestURI() + "\n")
	}
	if err := os.WriteFile(a.out, []byte(b.String()), 0o600); err != nil {
		return fmt.Errorf("cannot write the paths: %w", err)
	}
	return nil
}

// scripts are those of all machines.
func (a asker) scripts(ctx context.Context, r *storm.Relay) ([]string, error) {
	out, errs := make([]string, a.machines), make([]error, a.machines)
	next := make(chan int)
	var all sync.WaitGroup
	for range askAtOnce {
		all.Go(func() {
			for i := range next {
				m := &storm.Machine{MAC: macOf(i), Relay: r}
				_, out[i], errs[i] = m.Lease(ctx)
			}
		})
	}
	for i := range a.machines {
		next <- i
	}
	close(next)
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("not all machines have a script: %w", err)
	}
	return out, nil
}
