package stage

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/crossplane-contrib/provider-baremetal/cluster/node"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// A NetBox beside the cluster, which pods reach.
type NetBox struct {
	*netbox.Server

	// Address is its URL in the cluster.
	Address string
}

// NetBox starts an emulated NetBox that knows the node's segment, and takes lab.NetBoxToken.
func (s *Stage) NetBox() (*NetBox, error) {
	segment, err := netip.ParsePrefix(node.SegmentPrefix)
	if err != nil {
		return nil, fmt.Errorf("cannot understand the segment's prefix: %w", err)
	}
	gateway, err := netip.ParseAddr(node.SegmentAddress)
	if err != nil {
		return nil, fmt.Errorf("cannot understand the segment's address: %w", err)
	}
	n := &NetBox{Server: netbox.New(netbox.Options{})}
	n.AddToken(netbox.Token{Name: "provider", Secret: lab.NetBoxToken})
	n.AddCIDR(node.SegmentPrefix)
	n.AddAddress(netbox.Address{Address: netip.PrefixFrom(gateway, segment.Bits()), Status: "active", Description: "the node"})
	n.Address, err = s.serve(n.Server)
	return n, err
}

// Front puts a NetBox behind a proxy too, through which alone it's at https://HOST/PATH/, and returns the proxy's URL.
func (s *Stage) Front(n *NetBox, host, path string) (f *netbox.Front, proxy string, err error) {
	if f, err = netbox.NewFront(n.Server, host, path); err != nil {
		return nil, "", err
	}
	s.keep(f)
	proxy, err = s.serve(f)
	return f, strings.TrimSuffix(proxy, "/"), err
}

// Files serves a folder's files to the cluster, and returns the URL of the folder.
func (s *Stage) Files(dir string) (string, error) { return s.serve(http.FileServer(http.Dir(dir))) }

// BMC starts one at a host and port of the node, which takes lab.BMCUser and lab.BMCPassword, until the stage ends.
func (s *Stage) BMC(address string, system bmc.SystemConfig) (*bmc.Server, error) {
	var b *bmc.Server
	err := s.Inside(func() (err error) {
		b, err = bmc.NewServerAt(address, bmc.Config{Username: lab.BMCUser, Password: lab.BMCPassword, Systems: []bmc.SystemConfig{system}})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("cannot make a BMC at %s: %w", address, err)
	}
	s.keep(b)
	return b, nil
}

// Answer gives the node more addresses on its segment, each with the length of its prefix.
func (s *Stage) Answer(addresses ...netip.Prefix) error {
	err := s.Inside(func() error {
		segment, err := netlink.LinkByName(node.SegmentLink)
		if err != nil {
			return fmt.Errorf("cannot find the segment: %w", err)
		}
		for _, a := range addresses {
			ip := &net.IPNet{IP: a.Addr().AsSlice(), Mask: net.CIDRMask(a.Bits(), a.Addr().BitLen())}
			if err := netlink.AddrAdd(segment, &netlink.Addr{IPNet: ip}); err != nil {
				return fmt.Errorf("cannot add %s: %w", a, err)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("the node can't have more addresses: %w", err)
	}
	return nil
}

// serve answers pods at a port of the node's address, until the stage ends.
func (s *Stage) serve(h http.Handler) (string, error) {
	l, err := s.Listen(node.Address + ":0")
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(l) }() // Ends with the stage.
	s.keep(closer(func() error {
		if err := server.Close(); err != nil && !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("cannot end an emulator: %w", err)
		}
		return nil
	}))
	return "http://" + l.Addr().String() + "/", nil
}

// closer is a func that closes something.
type closer func() error

// Close calls it.
func (c closer) Close() error { return c() }
