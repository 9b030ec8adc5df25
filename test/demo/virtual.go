package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
	"github.com/crossplane-contrib/provider-baremetal/cluster/node/inside"
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

// open forwards the listener that was opened outside, where the user is, to the API server inside.
func (c *virtual) open() (string, error) {
	unix.CloseOnExec(apiFD)
	f := os.NewFile(apiFD, "api")
	l, err := net.FileListener(f)
	if err != nil {
		return "", fmt.Errorf("cannot serve the API server to the outside: %w", err)
	}
	_ = f.Close() // The listener has its own.
	cfg := c.rack.Plane.Config()
	go forward(l, strings.TrimPrefix(cfg.Host, "https://"))
	cfg.Host = "https://" + l.Addr().String()
	path := filepath.Join(c.state, "kubeconfig")
	return path, local.WriteKubeconfig(path, cfg)
}

// forward connects whoever comes to an address in this network, until the process ends.
func forward(l net.Listener, address string) {
	for {
		outer, err := l.Accept()
		if err != nil {
			time.Sleep(look) // There are too many connections, and some will end.
			continue
		}
		go func() {
			defer outer.Close() // All that was copied has been sent.
			inner, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", address)
			if err != nil {
				return // A closed connection says as much as a refused one.
			}
			defer inner.Close() // All that was copied has been sent.
			inside.Splice(outer, outer, inner)
		}()
	}
}

func (c *virtual) stop() {
	if c.rack != nil {
		c.rack.Stop()
	}
}
