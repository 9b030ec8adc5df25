package vm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/proc"
)

const (
	// siteForeign is the address of the other DHCP server on a site's segment, and siteLeased what those begin with that it gives.
	siteForeign = "10.88.0.2"
	siteLeased  = "10.88.0.1"
	// The two ends of its cable.
	bridgeEnd, foreignEnd = "dns0", "dns1"
	// cableTimeout is how long a network of its own may take to be there.
	cableTimeout = 20 * time.Second
)

// foreign starts dnsmasq on the site's segment, in a network of its own, as an office's DHCP server: it gives addresses, and names no boot
// file. It's ready when it says that it serves.
func (s *Site) foreign(ctx context.Context, dir string) error {
	script := strings.Join([]string{
		"ip link set lo up", "until ip link show " + foreignEnd + " >/dev/null 2>&1; do sleep 0.05; done",
		"ip addr add " + siteForeign + "/24 dev " + foreignEnd, "ip link set " + foreignEnd + " up",
		"exec dnsmasq --keep-in-foreground --log-facility=- --log-dhcp --conf-file=/dev/null --port=0 --user=root --group=root --pid-file= --no-ping" +
			" --interface=" + foreignEnd + " --bind-interfaces --dhcp-authoritative --dhcp-range=" + siteLeased + "00," + siteLeased + "50,255.255.255.0,1h" +
			" --dhcp-leasefile=" + filepath.Join(dir, "leases"),
	}, " && ")
	log := filepath.Join(dir, "dnsmasq.log")
	var err error
	s.other, err = proc.Start(proc.Command{Name: "dnsmasq", Path: "/usr/bin/unshare", Args: []string{"--net", "sh", "-c", script}, Env: os.Environ(), Log: log})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, cableTimeout)
	defer cancel()
	if err := s.other.Await(ctx, func(context.Context) error { return apart(s.other.PID()) }); err != nil {
		return err
	}
	if err := s.segment.Cable(bridgeEnd, foreignEnd, s.other.PID()); err != nil {
		return err
	}
	return s.other.Await(ctx, func(context.Context) error {
		if b, err := os.ReadFile(log); err != nil || !strings.Contains(string(b), "DHCP, IP range") {
			return fmt.Errorf("dnsmasq doesn't serve yet: %w", err)
		}
		return nil
	})
}

// apart says whether a process has a network of its own by now.
func apart(pid int) error {
	its, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", pid))
	if err != nil {
		return fmt.Errorf("cannot read which network a process has: %w", err)
	}
	ours, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		return fmt.Errorf("cannot read which network this process has: %w", err)
	}
	if its == ours {
		return fmt.Errorf("process %d has the network of this one still", pid)
	}
	return nil
}
