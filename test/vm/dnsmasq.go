package vm

import (
	"context"
	"path/filepath"
	"strings"
)

const (
	// siteForeign is the address of the other DHCP server on a site's segment, and siteLeased what those begin with that it gives.
	siteForeign = "10.88.0.2"
	siteLeased  = "10.88.0.1"
)

// foreign starts dnsmasq on the site's segment, in a network of its own, as an office's DHCP server: it gives addresses, and names no boot
// file. It's ready when it says that it serves.
func foreign(ctx context.Context, s *Site, dir, _ string) error {
	const at = "dns1"
	p, err := neighbour{
		name: "dnsmasq", log: filepath.Join(dir, "dnsmasq.log"),
		cables:  []cable{{s.segment, "dns0", at, []string{siteForeign + "/24"}}},
		program: dnsmasq(dir, at, "-"),
	}.start(ctx)
	if err != nil {
		return err
	}
	s.others = append(s.others, p)
	return says(ctx, p, "DHCP, IP range")
}

// dnsmasq is its command line.
func dnsmasq(dir, at, log string) []string {
	return []string{
		"dnsmasq", "--keep-in-foreground", "--log-facility=" + log, "--log-dhcp", "--conf-file=/dev/null", "--port=0", "--user=root", "--group=root", "--pid-file=", "--no-ping",
		"--interface=" + at, "--bind-interfaces", "--dhcp-authoritative", "--dhcp-range=" + siteLeased + "00," + siteLeased + "50,255.255.255.0,1h",
		"--dhcp-leasefile=" + filepath.Join(dir, "leases"),
	}
}

// binl has dnsmasq run on bootd's own host, have port 67, and tell firmware to ask for its boot at port 4011.
func binl(dir string) string {
	return "{ " + strings.Join(append(dnsmasq(dir, "boot1", filepath.Join(dir, "dnsmasq.log")), "--dhcp-option-force=60,PXEClient"), " ") + " & }"
}
