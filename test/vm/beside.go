package vm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
	"github.com/crossplane-contrib/provider-baremetal/test/guest"
)

const (
	// siteRouter is the address of a router on a site's segment, farBridge the segment behind it, and farPrefix what addresses there begin with.
	siteRouter = "10.88.0.4"
	farBridge  = "br2"
	farPrefix  = "10.89.0."
	// siteSecond is the address of a second bootd.
	siteSecond = "10.88.0.5"
)

// relayIn is where the relay of ISC is unpacked: installed it would start by itself.
func relayIn(cache string) string { return filepath.Join(cache, "isc-dhcp-relay") }

// fetchRelay downloads it, unless it's there.
func fetchRelay(ctx context.Context, cache string) error {
	if _, err := os.Stat(relayIn(cache)); err == nil {
		return nil
	}
	return guest.Debian{Arch: guest.AMD64}.Unpack(ctx, relayIn(cache), "isc-dhcp-relay")
}

// relay starts a router between a site's segment and that of its machines, which relays DHCP and says by option 82 whence it came.
func relay(ctx context.Context, s *Site, dir, _ string) error {
	cache, err := programs.Cache()
	if err != nil {
		return err
	}
	program := filepath.Join(relayIn(cache), "usr", "sbin", "dhcrelay")
	if _, err := os.Stat(program); err != nil {
		return fmt.Errorf("there is no relay: %w", err)
	}
	p, err := neighbour{
		name: "dhcrelay", log: filepath.Join(dir, "dhcrelay.log"),
		cables: []cable{
			{s.segment, "up0", "up1", []string{siteRouter + "/24"}},
			{s.far, "down0", "down1", []string{farPrefix + "1/24"}},
		},
		first:   []string{"echo 1 >/proc/sys/net/ipv4/ip_forward"},
		program: []string{program, "-4", "-d", "--no-pid", "-a", "-id", "down1", "-iu", "up1", siteAddress},
	}.start(ctx)
	if err != nil {
		return err
	}
	s.others = append(s.others, p)
	if err := s.segment.Route(farPrefix+"0/24", siteRouter); err != nil {
		return err
	}
	return says(ctx, p, "Listening on LPF/down1")
}

// second starts another bootd of the same folder, which installs nothing.
func second(ctx context.Context, s *Site, dir, bootd string) error {
	p, err := neighbour{
		name: "bootd-2", log: filepath.Join(dir, "bootd-2.log"), cables: []cable{{s.segment, "second0", "second1", []string{siteSecond + "/24"}}},
		program: []string{
			bootd, "--source=dir:" + s.Specs, "--no-install", "--state-dir=" + filepath.Join(dir, "state-2"), "--dhcp-interface=second1", "--health-listen=",
			"--artifact-range=" + siteAddress + "/32", "--peer=" + siteAddress,
		},
	}.start(ctx)
	if err != nil {
		return err
	}
	s.others, s.second = append(s.others, p), p
	return ready(ctx, p, siteSecond)
}

// Kill ends a site's first bootd as kill -9 does.
func (s *Site) Kill() { s.bootd.Kill() }

// Pause has the first bootd say nothing any more, and end nothing, as one whose host has lost its power.
func (s *Site) Pause() { s.bootd.Pause() }

// SecondLog is what the second one has written.
func (s *Site) SecondLog() string {
	b, err := os.ReadFile(s.second.Log())
	if err != nil {
		return err.Error()
	}
	return string(b)
}
