// Command bootd answers the machines of a boot segment: DHCP, TFTP, HTTP, and the callbacks of their installs.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"github.com/crossplane-contrib/provider-baremetal/internal/bootd"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/artifacts"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/logging"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/specdir"
	"github.com/crossplane-contrib/provider-baremetal/internal/heap"
)

// version is set by the linker.
var version = "dev"

// misused is the error of flags that can't be meant: its exit code says that trying again is of no use.
type misused struct{ error }

// ExitCode is what kong ends the process with.
func (misused) ExitCode() int { return 2 }

// crashed is the exit code of a process that a failpoint ended: that of one killed by SIGKILL.
const crashed = 137

// program is what bootd can be told to do.
type program struct {
	Serve   cli              `cmd:"" default:"withargs" help:"Serve machines; what bootd does when it's told nothing else."`
	Confirm confirm          `cmd:"" help:"Answer NeedsConfirmation of a bootd with --source dir: the machine is the one that is meant, and is kept as it runs."`
	Explain explain          `cmd:"" help:"What the bootd of this host would answer a machine by DHCP, TFTP and HTTP, and why."`
	Trace   packets          `cmd:"" help:"The last packets of a machine, as a pcap."`
	Render  render           `cmd:"" help:"Print the script that a machine would get by specs in files; no bootd has to run."`
	Version kong.VersionFlag `help:"Print the version."`
}

// confirm holds the flags of a confirmation.
type confirm struct {
	Entry    string `arg:"" help:"NAMESPACE/NAME of the BootEntry."`
	MAC      string `help:"A MAC address of the machine, as on its label." name:"mac" required:""`
	StateDir string `default:"/var/lib/bootd" help:"State folder of the bootd that asks." type:"path"`
}

// patience is how long a bootd may take to answer a confirmation.
const patience = 15 * time.Second

// Run hands the confirmation over.
func (c *confirm) Run() error {
	if err := wrongMAC(c.MAC); err != nil {
		return err
	}
	answer, err := specdir.Confirm(c.StateDir, c.Entry, c.MAC, patience)
	switch {
	case errors.Is(err, specdir.ErrNoEntry):
		return misused{err}
	case err != nil:
		return err //nolint:wrapcheck // It says what failed.
	}
	fmt.Println(answer)
	return nil
}

// cli holds the flags.
type cli struct {
	Kubeconfig             string            `help:"Kubeconfig of the cluster; default: that of the pod, $KUBECONFIG, or ~/.kube/config." type:"path"`
	Source                 string            `default:"kubernetes" help:"Where machines are described: kubernetes, or dir:PATH for a folder of the same YAML specs, without any cluster."`
	NoInstall              bool              `help:"With --source dir: serve addresses and boots from disk, and install nothing: for a second bootd beside the one that does." name:"no-install"`
	NewSite                bool              `help:"With --source dir, at the first start alone, which notes it and installs nothing: the folder can't be written, and nothing was installed from it yet."`
	Peer                   []string          `help:"With --source dir: address of another DHCP server that is meant to answer the same machines, such as a second bootd, or duid: and the DUID of one of DHCPv6; repeatable. Where one that isn't named here does, its machine isn't installed."`
	PlansDir               string            `help:"Take plans from the YAML files in this folder, and talk to no cluster: for labs. Nothing is installed so." type:"path"`
	Name                   string            `default:"${hostname}" env:"NODE_NAME" help:"Name of this bootd's BootServer."`
	Namespace              string            `default:"baremetal-boot" env:"POD_NAMESPACE" help:"Namespace of BootServers, token keys, and what machines are given."`
	NodeLabel              map[string]string `help:"Labels of this node (KEY=VALUE), which a BootNetwork's serveOn selects by."`
	StateDir               string            `default:"/var/lib/bootd" help:"Folder of the log of consumed grants, which must survive restarts, the snapshot and the artifact cache." type:"path"`
	DHCPListen             string            `default:"0.0.0.0:67" help:"Address to hear DHCP on; one address alone hears only relays. Empty: don't." name:"dhcp-listen" aliases:"dhcp"`
	ProxyListen            string            `help:"Address to hear proxyDHCP on while a BootNetwork of mode Proxy is served; default: port 4011 of --dhcp-listen's. With an empty --dhcp-listen this is all that's heard: for a host whose port 67 is another DHCP server's." name:"proxy-listen" aliases:"pxe"`
	DHCP6Listen            string            `default:"[::]:547" help:"Address to hear DHCPv6 on while a BootNetwork with an IPv6 subnet is served, on the interfaces of its segment. TFTP is then served over IPv6 as well, where it's bound to no one address, as HTTP is anyway. Empty: don't serve IPv6." name:"dhcp6-listen"`
	DHCPInterface          []string          `help:"Hear DHCP on these interfaces alone; repeatable." name:"dhcp-interface"`
	TFTPListen             string            `default:"0.0.0.0:69" help:"Address to serve TFTP on. Empty: don't." name:"tftp-listen" aliases:"tftp"`
	HTTPListen             string            `default:"0.0.0.0:8480" help:"Address to serve machines on by HTTP. Empty: don't, and send no machine anywhere: it gets an address, and nothing to boot." name:"http-listen" aliases:"http"`
	HTTPSListen            string            `help:"Address to serve machines on by HTTPS, beside HTTP. Empty: don't." name:"https-listen"`
	TLSCert                string            `help:"File of the TLS certificate for HTTPS, with those between it and its issuer, in PEM; read again when it changes." name:"tls-cert" type:"path"`
	TLSKey                 string            `help:"File of its key." name:"tls-key" type:"path"`
	TLSHost                string            `help:"The host that the certificate names; default: the address that machines are told." name:"tls-host"`
	TLSFor                 []string          `help:"Who is told URLs by HTTPS: firmware (UEFI HTTP Boot), ipxe (one that trusts the certificate: not Debian's), installer (what runs after: callbacks, user data, images); repeatable." name:"tls-for"`
	HealthListen           string            `default:":8481" help:"Address to serve /healthz, /readyz and /metrics on. Empty: on that of HTTP."`
	AdvertiseAddress       string            `help:"Address that machines are told; default: the one that they asked."`
	TFTPDir                string            `default:"/usr/lib/ipxe" help:"Folder of iPXE's files, as in Debian's package ipxe." name:"tftp-dir" type:"path"`
	SignedDir              string            `default:"/usr/lib" help:"Folder of Debian's signed shim (shim/) and grub (grub/ARCH-efi-signed/), for machines with Secure Boot." type:"path"`
	TFTPMTU                int               `default:"1500" help:"MTU of this node's links, in bytes (at least 576): no TFTP packet is longer." name:"tftp-mtu"`
	TFTPSinglePort         bool              `help:"Answer TFTP from the port that was asked, for NAT and shared addresses." name:"tftp-single-port"`
	ArtifactRange          []string          `help:"Let kernels and images come from this private range (CIDR), such as the rack's mirror; repeatable."`
	AllowLoopbackArtifacts bool              `help:"Let kernels and images come from loopback and all private addresses. For demos and tests: never in production."`
	MaxArtifactBytes       int64             `default:"68719476736" help:"The largest kernel or image, in bytes; 0: 64 GiB."`
	CacheBytes             int64             `default:"0" help:"What all kernels and images together may take on the disk, in bytes. 0: half of that disk, or what lies there already where that's more."`
	TraceBytes             int               `default:"4194304" help:"Memory for the machines' last packets (bootd trace), 8 KiB a machine; 0: none are kept."`
	Drain                  time.Duration     `default:"60s" help:"How long a bootd that is told to stop goes on for the boots that run, at most; where another one is known to be live it begins none. 0: it ends at once."`
	LogLevel               level             `default:"info" help:"debug, info, warn or error."`
}

// Run runs bootd until the process is told to stop.
func (c *cli) Run() error {
	cfg, err := c.config()
	if err != nil {
		return misused{err}
	}
	if h, ok := cfg.Logger.Handler().(*logging.Handler); ok {
		defer h.Flush()
	}
	heap.Spare(heap.OfBootd)
	if cfg.Crowded() {
		heap.Huge(heap.OfHall)
	}
	signal.Ignore(syscall.SIGHUP) // Other DHCP servers read their files anew upon it; here that's done anyway, and it must end no boot.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // Who says it twice means it.
	go heap.Pace(ctx, heap.OfBootd)
	return bootd.Run(ctx, cfg) //nolint:wrapcheck // It says what failed.
}

func (c *cli) config() (bootd.Config, error) {
	log := slog.New(logging.New(os.Stderr, slog.Level(c.LogLevel)))
	klog.SetLogger(logr.FromSlogHandler(log.Handler()))
	cfg := bootd.Config{
		Name: c.Name, Namespace: c.Namespace, Version: version, PlansDir: c.PlansDir, NodeLabels: c.NodeLabel, StateDir: c.StateDir,
		DHCPListen: c.DHCPListen, ProxyListen: c.ProxyListen, DHCP6Listen: c.DHCP6Listen, DHCPInterfaces: c.DHCPInterface, TFTPListen: c.TFTPListen, HTTPListen: c.HTTPListen,
		TLS:          bootd.TLS{Listen: c.HTTPSListen, Cert: c.TLSCert, Key: c.TLSKey, Host: c.TLSHost, For: c.TLSFor},
		HealthListen: c.HealthListen, TFTPDir: c.TFTPDir, SignedDir: c.SignedDir, TFTPMTU: c.TFTPMTU, TFTPSinglePort: c.TFTPSinglePort,
		MaxArtifactBytes: c.MaxArtifactBytes, CacheBytes: c.CacheBytes, TraceBytes: c.TraceBytes, Drain: c.Drain,
		Artifacts: artifacts.Guard{Local: c.AllowLoopbackArtifacts}, Logger: log,
		Crash: failpoint(os.Getenv("BAREMETAL_FAILPOINT"), os.Exit),
	}
	err := c.wrong()
	if err != nil {
		return cfg, err
	}
	if c.AdvertiseAddress != "" {
		if cfg.Advertise, err = advertised(c.AdvertiseAddress); err != nil {
			return cfg, err
		}
	}
	for _, r := range c.ArtifactRange {
		p, err := netip.ParsePrefix(r)
		if err != nil {
			return cfg, fmt.Errorf("--artifact-range %q isn't a CIDR", r)
		}
		cfg.Artifacts.Allowed = append(cfg.Artifacts.Allowed, p)
	}
	if err := c.peers(&cfg); err != nil {
		return cfg, err
	}
	dir, isDir := strings.CutPrefix(c.Source, "dir:")
	switch {
	case isDir && dir != "":
		cfg.SpecDir, cfg.NoInstall, cfg.NewSite = dir, c.NoInstall, c.NewSite
		err = apart(c.StateDir, dir)
	case c.Source != "kubernetes":
		return cfg, fmt.Errorf("--source is kubernetes or dir:PATH, not %q", c.Source)
	case c.NoInstall || c.NewSite:
		return cfg, errors.New("--no-install and --new-site go with --source dir:PATH")
	case c.PlansDir == "":
		cfg.Kube, err = c.kube()
	}
	return cfg, err
}

// kube gives the access to the cluster: by the file that was named, by $KUBECONFIG, as a pod, or by ~/.kube/config.
func (c *cli) kube() (*rest.Config, error) {
	if c.Kubeconfig == "" && os.Getenv(clientcmd.RecommendedConfigPathEnvVar) == "" {
		if pod, err := rest.InClusterConfig(); err == nil {
			return pod, nil
		}
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = c.Kubeconfig
	kube, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{}).ClientConfig()
	switch {
	case err != nil && c.Kubeconfig != "":
		return nil, fmt.Errorf("cannot use kubeconfig %q: %w", c.Kubeconfig, err)
	case err != nil:
		return nil, fmt.Errorf("there's no access to a cluster in --kubeconfig, $KUBECONFIG, this pod or ~/.kube/config: %w", err)
	}
	return kube, nil
}

// failpoint ends the process at the named points, comma-separated, as kill -9 would. Nil where none is named.
func failpoint(names string, exit func(code int)) func(name string) {
	if names == "" {
		return nil
	}
	points := strings.Split(names, ",")
	return func(name string) {
		if slices.Contains(points, name) {
			exit(crashed)
		}
	}
}

func main() {
	hostname, err := os.Hostname()
	if err != nil {
		hostname = "bootd"
	}
	parser := kong.Must(&program{},
		kong.Description("The boot plane: DHCP, TFTP and HTTP for machines that boot from the network."),
		kong.Vars{"version": version, "hostname": strings.ToLower(hostname)})
	ctx, err := told(parser, os.Args[1:])
	parser.FatalIfErrorf(err)
	ctx.FatalIfErrorf(ctx.Run())
}

// told reads what bootd is told. Whatever is wrong with a flag, it ends alike.
func told(parser *kong.Kong, args []string) (*kong.Context, error) {
	ctx, err := parser.Parse(args)
	if err != nil {
		return nil, misused{err}
	}
	return ctx, nil
}
