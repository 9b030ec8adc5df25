package vm

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/proc"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/qemu"
)

// cableTimeout is how long a network of its own may take to be there.
const cableTimeout = 20 * time.Second

// A neighbour is a program beside machines on a segment, with a network of its own.
type neighbour struct {
	name, log string
	cables    []cable
	// first are a shell's commands before the program begins.
	first   []string
	program []string
}

// A cable leads from a segment to the interface of a neighbour.
type cable struct {
	segment *qemu.Segment
	// here is the end at the segment, there the interface.
	here, there string
	addresses   []string // in CIDR notation
}

// start starts the program once its network is there.
func (n neighbour) start(ctx context.Context) (*proc.Process, error) {
	script := []string{"ip link set lo up"}
	for _, c := range n.cables {
		script = append(script, "until ip link show "+c.there+" >/dev/null 2>&1; do sleep 0.05; done")
		for _, a := range c.addresses {
			if p, err := netip.ParsePrefix(a); err == nil && p.Addr().Is6() {
				a += " nodad" // Nobody else is there.
			}
			script = append(script, "ip addr add "+a+" dev "+c.there)
		}
		script = append(script, "ip link set "+c.there+" up")
	}
	script = append(append(script, n.first...), `exec "$@"`)
	p, err := proc.Start(proc.Command{
		Name: n.name, Path: "/usr/bin/unshare", Log: n.log,
		Args: append([]string{"--net", "sh", "-c", strings.Join(script, " && "), n.name}, n.program...),
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, cableTimeout)
	defer cancel()
	if err := p.Await(ctx, func(context.Context) error { return apart(p.PID()) }); err != nil {
		p.Stop()
		return nil, err
	}
	for _, c := range n.cables {
		if err := c.segment.Cable(c.here, c.there, p.PID()); err != nil {
			p.Stop()
			return nil, err
		}
	}
	return p, nil
}

// says waits until a program has written a line.
func says(ctx context.Context, p *proc.Process, line string) error {
	ctx, cancel := context.WithTimeout(ctx, cableTimeout)
	defer cancel()
	return p.Await(ctx, func(context.Context) error {
		b, err := os.ReadFile(p.Log())
		if err == nil && !strings.Contains(string(b), line) {
			err = fmt.Errorf("%s hasn't said %q yet", p.Name(), line)
		}
		return err
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
