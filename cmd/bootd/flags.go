package main

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/bootd"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp6"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/specdir"
)

// wrong says which flag can't be meant as it's written, by itself or beside another; nil: none. What can't be had here and now, such as a port
// that another program has, is found when it's asked for.
func (c *cli) wrong() error {
	return cmp.Or(c.wrongListeners(), c.wrongNumbers())
}

// A level of the log, as people write it.
type level slog.Level

// UnmarshalText reads one.
func (l *level) UnmarshalText(text []byte) error {
	if err := (*slog.Level)(l).UnmarshalText(text); err != nil {
		return fmt.Errorf("%q is no level: debug, info, warn or error", text)
	}
	return nil
}

// A listener is a flag that names an address and a port.
type listener struct {
	flag, network, at string
}

func (c *cli) wrongListeners() error {
	all := []listener{
		{"--dhcp-listen", "udp", c.DHCPListen}, {"--proxy-listen", "udp", c.ProxyListen}, {"--tftp-listen", "udp", c.TFTPListen}, {"--dhcp6-listen", "udp", c.DHCP6Listen},
		{"--http-listen", "tcp", c.HTTPListen}, {"--https-listen", "tcp", c.HTTPSListen}, {"--health-listen", "tcp", c.HealthListen},
	}
	all = slices.DeleteFunc(all, func(l listener) bool { return l.at == "" })
	for i, l := range all {
		if err := l.wrong(); err != nil {
			return err
		}
		for _, other := range all[:i] {
			if _, port, _ := net.SplitHostPort(l.at); other.network == l.network && other.at == l.at && port != "0" {
				return fmt.Errorf("%s and %s are both %s; give each a port of its own", other.flag, l.flag, l.at)
			}
		}
	}
	if !slices.ContainsFunc(all, func(l listener) bool { return l.flag != "--health-listen" }) {
		return errors.New("there's nothing to serve: --dhcp-listen, --proxy-listen, --dhcp6-listen, --tftp-listen, --http-listen and --https-listen are all empty")
	}
	return nil
}

// wrong says so of one that is no address and port.
func (l listener) wrong() error {
	host, port, err := net.SplitHostPort(l.at)
	if _, perr := strconv.ParseUint(port, 10, 16); err == nil {
		err = perr
	}
	if host != "" && err == nil {
		_, err = netip.ParseAddr(host)
	}
	if err != nil {
		return fmt.Errorf("%s %q isn't an address and a port, such as 0.0.0.0:67 or [::]:547", l.flag, l.at)
	}
	return nil
}

func (c *cli) wrongNumbers() error {
	for flag, n := range map[string]int64{
		"--max-artifact-bytes": c.MaxArtifactBytes, "--cache-bytes": c.CacheBytes, "--trace-bytes": int64(c.TraceBytes), "--drain": int64(c.Drain),
	} {
		if n < 0 {
			return fmt.Errorf("%s must not be negative", flag)
		}
	}
	return nil
}

// advertised reads the address that machines are told.
func advertised(s string) (netip.Addr, error) {
	a, err := netip.ParseAddr(s)
	switch {
	case err != nil:
		return a, fmt.Errorf("--advertise-address %q isn't an address", s)
	case a.IsUnspecified() || a.IsMulticast() || a == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		return a, fmt.Errorf("--advertise-address %s is no machine's: name the address by which machines reach this bootd", a)
	}
	return a, nil
}

// apart says so where the state folder is the folder of specs, by whatever path: what bootd writes there would be read as specs, and wrong ones
// keep installs from every machine. So it does where it's the other half of the records: two that are one say nothing. nil: they're two, or one of
// them isn't there yet.
func apart(state, specs string) error {
	record := filepath.Join(specs, specdir.RecordFolder)
	if samePlace(state, record) {
		return fmt.Errorf("--state-dir %s is where --source dir:%s keeps the other half of its records: each is there for the loss of the other; give bootd a state folder of its own", state, specs)
	}
	a, err := os.Stat(state)
	if err != nil {
		return nil //nolint:nilerr // Whoever opens it says so.
	}
	if b, err := os.Stat(specs); err == nil && os.SameFile(a, b) {
		return fmt.Errorf("--state-dir %s is the folder of --source dir:%s: bootd would read as specs what it writes there; give it a state folder of its own", state, specs)
	}
	return nil
}

// samePlace says whether two paths are of one folder, be it one that isn't there yet.
func samePlace(a, b string) bool {
	if x, err := os.Stat(a); err == nil {
		y, err := os.Stat(b)
		return err == nil && os.SameFile(x, y)
	}
	x, err := os.Stat(filepath.Dir(filepath.Clean(a)))
	y, also := os.Stat(filepath.Dir(filepath.Clean(b)))
	return err == nil && also == nil && os.SameFile(x, y) && filepath.Base(a) == filepath.Base(b)
}

// peers reads the other servers that are meant to answer.
func (c *cli) peers(cfg *bootd.Config) error {
	for _, p := range c.Peer {
		if digits, ok := strings.CutPrefix(p, "duid:"); ok {
			const least = 1 // RFC 8415 §11.1 has three at least; one that breaks that is named all the same.
			id, err := hex.DecodeString(digits)
			if err != nil || len(id) < least || len(id) > dhcp6.MaxDUID {
				return fmt.Errorf("--peer %q isn't a DUID: duid: is followed by its octets in hexadecimal digits, without separators", p)
			}
			cfg.PeerIDs = append(cfg.PeerIDs, id)
			continue
		}
		a, err := netip.ParseAddr(p)
		if err != nil || a.Unmap().IsUnspecified() {
			return fmt.Errorf("--peer %q isn't a server's address", p)
		}
		cfg.Peers = append(cfg.Peers, a.Unmap())
	}
	return nil
}
