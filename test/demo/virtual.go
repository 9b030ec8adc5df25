package main

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/vm"
)

// virtual machines have real firmware. Their demo runs in namespaces of its own.
type virtual struct {
	rack  *vm.Rack
	state string
}

func (c *virtual) script() script {
	return script{
		rack:     "two emulated BMCs with a virtual machine each, off, one with BIOS and one with UEFI; one RackPool",
		claims:   []string{vm.Claims},
		patience: 8 * time.Minute,
		last:     "tail -F " + filepath.Join(c.state, "machines", "r7-uefi", "serial.log") + "   # what the machine prints while it installs",
	}
}

func (c *virtual) start(ctx context.Context, state string, say func(string)) (*lab.Lab, error) {
	c.state = state
	r, err := vm.New(ctx, vm.Options{StateDir: state, Say: say})
	if err != nil {
		return nil, err
	}
	c.rack = r
	return r.Lab, nil
}

func (c *virtual) fill(ctx context.Context) error { return c.rack.Fill(ctx) }

// see takes bootd's word for what firmware did, and for the rest what the machine prints.
func (c *virtual) see(ctx context.Context, s *story, f *facts) {
	h := c.rack.Host(s.host)
	if h == nil {
		return
	}
	f.reached[atPower] = h.Machine.Starts() > 0
	namespace, name, _ := strings.Cut(s.claim, "/")
	if session, err := c.rack.Get(ctx, lab.Kind("BootSession", namespace, name)); err == nil {
		sighted(session, f)
	}
	printed(h.Machine.Serial(), f)
}

// sighted adds what bootd has seen of a boot.
func sighted(session *unstructured.Unstructured, f *facts) {
	f.reached[atDHCP] = lab.StringOf(session, "status", "timeline", "dhcp") != ""
	f.reached[atIPXE] = lab.StringOf(session, "status", "timeline", "script") != ""
}

// printed adds what a machine has said on its serial port.
func printed(serial string, f *facts) {
	f.reached[atKernel] = strings.Contains(serial, "GUEST hello ")
	f.reached[atInstalled] = strings.Contains(serial, "GUEST installed\n")
}

func (c *virtual) powered(host string) bool { return c.rack.Host(host).Machine.Powered() }

func (c *virtual) clues() string {
	if c.rack == nil {
		return ""
	}
	return c.rack.SerialPorts()
}

// open forwards a port of the user's own network to the API server, and writes the access by that port.
func (c *virtual) open() (string, error) {
	cfg := c.rack.Plane.Config()
	address, err := forwarded(strings.TrimPrefix(cfg.Host, "https://"))
	if err != nil {
		return "", err
	}
	cfg.Host = "https://" + address
	path := filepath.Join(c.state, "kubeconfig")
	return path, local.WriteKubeconfig(path, cfg)
}

func (c *virtual) stop() {
	if c.rack != nil {
		c.rack.Stop()
	}
}
