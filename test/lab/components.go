package lab

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
	"github.com/crossplane-contrib/provider-baremetal/cluster/local/proc"
)

// Names of the components: of their programs, processes and ServiceAccounts.
const (
	ProviderName = "provider-baremetal"
	FunctionName = "function-baremetal"
	BootdName    = "bootd"
)

// readyTimeout is how long one component may take until it's ready, on a busy machine.
const readyTimeout = 3 * time.Minute

// A Bootd is one boot server with a loopback address of its own.
type Bootd struct {
	*proc.Process

	// Name of its BootServer.
	Name string
	// Address that it serves at, DHCP where it hears relays, and DHCP6 those of IPv6.
	Address     netip.Addr
	DHCP, DHCP6 netip.AddrPort
	// Health is where /healthz, /readyz and /metrics are.
	Health string
	// State is its state folder.
	State string

	// command is how it's started.
	command proc.Command
}

// portsOfBootd are the same for every bootd, since each has an address of its own.
type portsOfBootd struct{ dhcp, tftp, http, health int }

// bootdAddress of the i-th bootd: Linux answers for all of 127.0.0.0/8.
func bootdAddress(i int) netip.Addr { return netip.AddrFrom4([4]byte{127, 0, 0, byte(i + 1)}) } //nolint:gosec // There are two at most.

// build makes the three programs from this checkout.
func (l *Lab) build(ctx context.Context) error {
	if err := os.MkdirAll(l.bin, 0o750); err != nil {
		return fmt.Errorf("cannot make the folder of the programs: %w", err)
	}
	for _, args := range [][]string{{"./cmd/provider", "./cmd/function"}, {"-tags=bootd", "./cmd/bootd"}} {
		cmd := exec.CommandContext(ctx, "go", append([]string{"build", "-o", l.bin + string(filepath.Separator)}, args...)...) //nolint:gosec // Our own folder.
		cmd.Dir = l.root
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("cannot build %s: %w\n%s", strings.Join(args, ", "), err, strings.TrimSpace(string(out)))
		}
	}
	return nil
}

func (l *Lab) startComponents(ctx context.Context) error {
	if err := l.startFunction(ctx); err != nil {
		return err
	}
	if err := l.startProvider(ctx); err != nil {
		return err
	}
	for i := range l.opts.Bootds {
		if err := l.startBootd(ctx, i); err != nil {
			return err
		}
	}
	return l.Ready(ctx)
}

// Ready waits until every component says that it's ready.
func (l *Lab) Ready(ctx context.Context) error {
	if err := l.awaitHTTP(ctx, l.Provider, l.providerHealth); err != nil {
		return err
	}
	for _, b := range l.Bootds {
		if err := l.awaitHTTP(ctx, b.Process, b.Health); err != nil {
			return err
		}
	}
	return nil
}

func (l *Lab) startFunction(ctx context.Context) error {
	port, err := l.ports.Next()
	if err != nil {
		return err
	}
	certs := filepath.Join(l.opts.StateDir, "function")
	if err := l.Plane.FunctionCertificate(ctx, certs); err != nil {
		return err
	}
	address := "127.0.0.1:" + strconv.Itoa(port)
	l.Function, err = l.run(FunctionName, "function", nil, "--debug", "--address="+address, "--metrics-address=", "--tls-certs-dir="+certs)
	if err != nil {
		return err
	}
	return l.Plane.RegisterFunction(ctx, FunctionName, address)
}

func (l *Lab) startProvider(ctx context.Context) error {
	kubeconfig, err := l.kubeconfigOf(ctx, local.CrossplaneNamespace, ProviderName)
	if err != nil {
		return err
	}
	port, err := l.ports.Next()
	if err != nil {
		return err
	}
	address := "127.0.0.1:" + strconv.Itoa(port)
	l.providerHealth = "http://" + address
	if port, err = l.ports.Next(); err != nil {
		return err
	}
	metrics := "127.0.0.1:" + strconv.Itoa(port)
	l.ProviderMetrics = "http://" + metrics + "/metrics"
	l.providerCommand = proc.Command{
		Name: ProviderName,
		Path: filepath.Join(l.bin, "provider"),
		Args: append(providerArgs(address, metrics), l.opts.ProviderArgs...),
		Env:  append([]string{"KUBECONFIG=" + kubeconfig, "POD_NAMESPACE=" + local.CrossplaneNamespace}, l.opts.ProviderEnv...),
		Log:  filepath.Join(l.LogDir(), ProviderName+".log"),
	}
	l.Provider, err = proc.Start(l.providerCommand)
	return err
}

func providerArgs(health, metrics string) []string {
	return []string{"--debug", "--health-probe-bind-address=" + health, "--metrics-bind-address=" + metrics, "--allow-loopback-targets"}
}

// FailProvider starts the provider anew so that it dies, as by kill -9, at a failpoint. Whoever asks for that waits for
// Provider.Done, and then for HealProvider.
func (l *Lab) FailProvider(failpoint string) error {
	l.Provider.Kill()
	var err error
	l.Provider, err = proc.Start(failing(l.providerCommand, failpoint))
	return err
}

// HealProvider starts the provider without a failpoint, after kill -9 where it still runs, and waits until it's ready.
func (l *Lab) HealProvider(ctx context.Context) error {
	l.Provider.Kill()
	var err error
	if l.Provider, err = proc.Start(l.providerCommand); err != nil {
		return err
	}
	return l.awaitHTTP(ctx, l.Provider, l.providerHealth)
}

// ProviderWith starts the provider anew, after kill -9 where it still runs, with arguments and environment entries beside its own, and waits
// until it's ready. HealProvider ends that.
func (l *Lab) ProviderWith(ctx context.Context, args, env []string) error {
	l.Provider.Kill()
	c := l.providerCommand
	c.Args, c.Env = slices.Concat(c.Args, args), slices.Concat(c.Env, env)
	var err error
	if l.Provider, err = proc.Start(c); err != nil {
		return err
	}
	return l.awaitHTTP(ctx, l.Provider, l.providerHealth)
}

// OtherProvider starts a second provider beside the first, with other arguments, and waits until it's ready. Both need --leader-election. Whoever
// asks for it ends it.
func (l *Lab) OtherProvider(ctx context.Context, args ...string) (*proc.Process, error) {
	health, err := l.ports.Next()
	if err != nil {
		return nil, err
	}
	metrics, err := l.ports.Next()
	if err != nil {
		return nil, err
	}
	address := "127.0.0.1:" + strconv.Itoa(health)
	c := l.providerCommand
	c.Name = ProviderName + "-other"
	c.Args = append(providerArgs(address, "127.0.0.1:"+strconv.Itoa(metrics)), args...)
	c.Log = filepath.Join(l.LogDir(), c.Name+".log")
	p, err := proc.Start(c)
	if err != nil {
		return nil, err
	}
	return p, l.awaitHTTP(ctx, p, "http://"+address)
}

// Port returns one of 127.0.0.1 that nobody else is given as long as the lab runs.
func (l *Lab) Port() (int, error) { return l.ports.Next() }

func (l *Lab) startBootd(ctx context.Context, i int) error {
	kubeconfig, err := l.kubeconfigOf(ctx, BootNamespace, BootdName)
	if err != nil {
		return err
	}
	b := &Bootd{Name: BootdName + "-" + strconv.Itoa(i+1), Address: bootdAddress(i)}
	six, err := l.ports.Next() // There's one loopback address of IPv6 for all of them.
	if err != nil {
		return err
	}
	b.DHCP = netip.AddrPortFrom(b.Address, uint16(l.bootdPorts.dhcp)) //nolint:gosec // A port.
	b.DHCP6 = netip.AddrPortFrom(netip.IPv6Loopback(), uint16(six))   //nolint:gosec // A port.
	b.State = filepath.Join(l.opts.StateDir, b.Name)
	b.Health = "http://" + netip.AddrPortFrom(b.Address, uint16(l.bootdPorts.health)).String() //nolint:gosec // A port.
	b.command = proc.Command{
		Name: b.Name,
		Path: filepath.Join(l.bin, BootdName),
		Args: append(bootdArgs(b, l.bootdPorts, l.Firmware.Dir, b.State), l.opts.BootdArgs...),
		Env:  []string{"KUBECONFIG=" + kubeconfig},
		Log:  filepath.Join(l.LogDir(), b.Name+".log"),
	}
	b.Process, err = proc.Start(b.command)
	if err != nil {
		return err
	}
	l.Bootds = append(l.Bootds, b)
	return nil
}

func bootdArgs(b *Bootd, p portsOfBootd, firmware, state string) []string {
	at := func(port int) string { return netip.AddrPortFrom(b.Address, uint16(port)).String() } //nolint:gosec // A port.
	return []string{
		"--name=" + b.Name,
		"--state-dir=" + state,
		"--dhcp-listen=" + at(p.dhcp),
		"--dhcp6-listen=" + b.DHCP6.String(),
		"--tftp-listen=" + at(p.tftp),
		"--http-listen=" + at(p.http),
		"--health-listen=" + at(p.health),
		"--advertise-address=" + b.Address.String(),
		"--tftp-dir=" + firmware,
		"--allow-loopback-artifacts",
		"--drain=4s", // It's killed after five.
		"--log-level=debug",
	}
}

// FailBootd starts a bootd anew so that it dies, as by kill -9, at a failpoint; HealBootd ends that.
func (l *Lab) FailBootd(b *Bootd, failpoint string) error {
	b.Kill()
	var err error
	b.Process, err = proc.Start(failing(b.command, failpoint))
	return err
}

// HealBootd starts a bootd without a failpoint, after kill -9 where it still runs, and waits until it's ready.
func (l *Lab) HealBootd(ctx context.Context, b *Bootd) error {
	b.Kill()
	var err error
	if b.Process, err = proc.Start(b.command); err != nil {
		return err
	}
	return l.awaitHTTP(ctx, b.Process, b.Health)
}

// failing is a command that dies at a failpoint.
func failing(c proc.Command, failpoint string) proc.Command {
	c.Env = append(slices.Clone(c.Env), "BAREMETAL_FAILPOINT="+failpoint)
	c.MayEnd = true
	return c
}

// run starts a program of this checkout under a name.
func (l *Lab) run(name, program string, env []string, args ...string) (*proc.Process, error) {
	return proc.Start(proc.Command{
		Name: name,
		Path: filepath.Join(l.bin, program),
		Args: args,
		Env:  env,
		Log:  filepath.Join(l.LogDir(), name+".log"),
	})
}

// kubeconfigOf writes a kubeconfig of a ServiceAccount and returns its path.
func (l *Lab) kubeconfigOf(ctx context.Context, namespace, name string) (string, error) {
	cfg, err := l.Plane.ServiceAccountConfig(ctx, namespace, name)
	if err != nil {
		return "", err
	}
	path := filepath.Join(l.opts.StateDir, "kubeconfigs", name)
	return path, local.WriteKubeconfig(path, cfg)
}

// awaitHTTP waits until a component's /readyz answers 200.
func (l *Lab) awaitHTTP(ctx context.Context, p *proc.Process, base string) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	return p.Await(ctx, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/readyz", http.NoBody)
		if err != nil {
			return fmt.Errorf("cannot ask %q: %w", base, err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return fmt.Errorf("no answer: %w", err)
		}
		_ = res.Body.Close() // Not read.
		if res.StatusCode != http.StatusOK {
			return errors.New(base + "/readyz answers " + res.Status)
		}
		return nil
	})
}
