// Package bootd composes the boot daemon: sources of plans, the records of boots, and the listeners that
// machines talk to.
package bootd

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"time"

	"k8s.io/client-go/rest"

	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/artifacts"
)

// Config of a boot daemon.
type Config struct {
	// Name of this bootd's BootServer, unique in its cluster.
	Name string
	// Namespace of its BootServer, of the token keys and of the machines' data.
	Namespace string
	// Version of the program, for its heartbeat.
	Version string
	// Kube is the access to the API. Nil: plans come from SpecDir or PlansDir.
	Kube *rest.Config
	// SpecDir is a folder of BootNetworks, BootProfiles, BootEntries and Secrets, of which plans are resolved and grants issued here.
	SpecDir string
	// NoInstall serves SpecDir, and installs nothing: for a second bootd of a segment.
	NoInstall bool
	// NewSite agrees to a single record of grants where SpecDir can't be written, while StateDir is empty.
	NewSite bool
	// PlansDir is a folder of BootNetworks and BootEntries, where there is no API.
	PlansDir string
	// Peers are other servers of SpecDir's segments that are meant to answer its machines, by the address in their option 54.
	Peers []netip.Addr
	// PeerIDs are such servers of DHCPv6, by their DUIDs; those of bootds follow from Peers.
	PeerIDs [][]byte
	// NodeLabels are what BootNetworks' serveOn selects by.
	NodeLabels map[string]string
	// StateDir holds the log of consumptions, which must survive, the snapshot and the artifact cache.
	StateDir string

	// DHCPListen, TFTPListen and HTTPListen are addresses with ports; empty: not served. Bound to
	// 0.0.0.0 DHCP hears broadcasts, bound to one address only relays.
	DHCPListen, TFTPListen, HTTPListen string
	// ProxyListen is where proxyDHCP is heard while a segment of mode Proxy is known; empty: at port 4011 of DHCPListen's address. Given
	// without DHCPListen it's all that's heard of DHCP, and port 67 is another program's.
	ProxyListen string
	// DHCP6Listen is where DHCPv6 is heard while a segment with a subnet of IPv6 is known; empty: it isn't. TFTP is then
	// served over IPv6, too, where it's bound to no one address, as HTTP is anyway.
	DHCP6Listen string
	// DHCPInterfaces, where given, get a DHCP socket each that hears nothing else. It takes CAP_NET_RAW.
	DHCPInterfaces []string
	// TLS serves HTTPS beside HTTP, where it has an address.
	TLS TLS
	// HealthListen serves /healthz, /readyz and /metrics; empty: HTTPListen does.
	HealthListen string
	// Advertise is the address that machines are told; invalid: the one that they asked.
	Advertise netip.Addr
	// TFTPDir holds the first stages, as Debian's package ipxe installs them.
	TFTPDir string
	// SignedDir holds shim and grub for machines with Secure Boot, below it as Debian's signed packages have them.
	SignedDir string
	// TFTPMTU is that of this node's links, in bytes; 0: 1500. TFTPSinglePort answers from the port that was asked.
	TFTPMTU        int
	TFTPSinglePort bool
	// TraceBytes is the memory for the machines' last packets; less than one machine takes (8 KiB): none are kept.
	TraceBytes int
	// Drain is how long a bootd that is told to stop goes on for the boots that run, at most; 0: it ends at once.
	Drain time.Duration
	calm  time.Duration // how long nobody must have asked for anything by then; 0: calmAfter
	// Artifacts says where kernels and images may be fetched from.
	Artifacts artifacts.Guard
	// MaxArtifactBytes of one file; 0: 64 GiB. CacheBytes of all files together; 0: half of the disk that they're on, or as
	// many as lie there.
	MaxArtifactBytes, CacheBytes int64

	Logger *slog.Logger
	// Now is the clock; nil: time.Now.
	Now func() time.Time
	// Crash is called at the points where a test may want the process to die; nil: nowhere.
	Crash func(point string)
}

// leastMTU is what each host must take (RFC 791).
const leastMTU = 576

func (c Config) complete() (Config, error) {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.calm == 0 {
		c.calm = calmAfter
	}
	switch {
	case c.Name == "":
		return c, errors.New("bootd needs a name")
	case c.StateDir == "":
		return c, errors.New("bootd needs a state folder: what it consumed must survive a restart")
	case c.Kube == nil && c.PlansDir == "" && c.SpecDir == "":
		return c, errors.New("bootd needs access to a Kubernetes API, or a folder of plans")
	case c.TFTPMTU != 0 && c.TFTPMTU < leastMTU:
		return c, fmt.Errorf("an MTU of %d bytes is less than any link has (%d)", c.TFTPMTU, leastMTU)
	case c.Kube != nil && c.PlansDir+c.SpecDir != "", c.PlansDir != "" && c.SpecDir != "":
		return c, errors.New("bootd takes plans from a Kubernetes API or from a folder, not from both")
	case c.SpecDir == "" && (c.NoInstall || c.NewSite):
		return c, errors.New("--no-install and --new-site go with --source dir:PATH")
	}
	if c.ProxyListen == "" && c.DHCPListen != "" {
		host, _, err := net.SplitHostPort(c.DHCPListen)
		if err != nil {
			return c, fmt.Errorf("cannot listen for DHCP on %q: %w", c.DHCPListen, err)
		}
		c.ProxyListen = net.JoinHostPort(host, "4011")
	}
	if err := c.TLS.check(c.HTTPListen); err != nil {
		return c, err
	}
	if err := os.MkdirAll(c.StateDir, 0o700); err != nil {
		return c, advised(c.StateDir, fmt.Errorf("cannot make the state folder: %w", err))
	}
	return c, nil
}
