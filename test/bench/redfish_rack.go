package main

import (
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// A rackOf is the fleet's machines, all in this process, each behind a port of its own.
type rackOf struct{ machines []*switchable }

// A switchable machine has a BMC and tells when it's switched on.
type switchable struct {
	*bmc.Server
	bmc.Idle

	name string

	mu sync.Mutex
	on chan time.Time
	// ends is how long its operating system takes to shut down.
	ends time.Duration
}

// On implements bmc.Machine.
func (s *switchable) On(target bmc.BootTarget) error {
	s.mu.Lock()
	if s.on != nil {
		s.on <- time.Now()
		s.on = nil
	}
	s.mu.Unlock()
	return s.Idle.On(target)
}

// Off implements bmc.Machine.
func (s *switchable) Off(graceful bool) error {
	s.mu.Lock()
	takes := s.ends
	s.mu.Unlock()
	if !graceful || takes == 0 {
		return s.Idle.Off(graceful)
	}
	time.AfterFunc(takes, func() { _ = s.Idle.Off(true) }) // An idle machine always can.
	return nil
}

// shutsDown says how the operating system takes a shutdown from now on: after some time, or never.
func (s *switchable) shutsDown(takes time.Duration, never bool) {
	s.mu.Lock()
	s.ends = takes
	s.mu.Unlock()
	s.IgnoreGraceful(never)
}

// next is told when the machine is switched on next.
func (s *switchable) next() <-chan time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.on = make(chan time.Time, 1)
	return s.on
}

// newRack starts the BMCs.
func newRack(f fleet) (*rackOf, error) {
	var tree *bmc.Tree
	if f.tree != "" {
		var err error
		if tree, err = bmc.LoadTree(f.tree); err != nil {
			return nil, fmt.Errorf("cannot use -tree: %w", err)
		}
	}
	var systems []string
	if tree != nil {
		like := bmc.New(bmc.Config{Tree: tree})
		for _, id := range like.Systems() {
			systems = append(systems, like.SystemURI(id))
		}
	}
	r := &rackOf{}
	for i := range f.hosts {
		m := &switchable{name: fmt.Sprintf("fleet-%05d", i)}
		s, err := bmc.NewServer(m.config(i, tree, systems))
		if err != nil {
			r.close()
			return nil, fmt.Errorf("cannot start BMC %d: %w", i, err)
		}
		m.Server = s
		r.machines = append(r.machines, m)
		m.heal()
	}
	return r, nil
}

// config of the BMC of the i-th machine. The tree of a real one is shared by all; its systems have another serial number and UUID each.
func (s *switchable) config(i int, tree *bmc.Tree, systems []string) bmc.Config {
	serial, uuid := fmt.Sprintf("FLEET%05d", i), fmt.Sprintf("5eed0000-0000-4000-8000-%012x", i)
	for _, uri := range systems {
		tree = tree.With(uri, func(body map[string]any) { body["SerialNumber"], body["UUID"] = serial, uuid })
	}
	mac := net.HardwareAddr{0x52, 0x54, 2, 0, byte(i >> 8), byte(i)} //nolint:gosec // The last bytes of a number.
	return bmc.Config{
		Username: lab.BMCUser, Password: lab.BMCPassword, Tree: tree,
		Systems: []bmc.SystemConfig{{Serial: serial, UUID: uuid, MACs: []net.HardwareAddr{mac}, Machine: s}},
	}
}

// heal makes a BMC answer, in its time.
func (s *switchable) heal() {
	s.Heal()
	s.Inject(bmc.Fault{Delay: answerTime})
}

// hang makes a BMC take connections, and answer nothing.
func (s *switchable) hang() {
	s.Heal()
	s.Inject(bmc.Fault{Hang: true})
}

// requests that the BMCs have got.
func (r *rackOf) requests() int {
	n := 0
	for _, m := range r.machines {
		n += m.Counters().Requests
	}
	return n
}

func (r *rackOf) close() {
	for _, m := range r.machines {
		_ = m.Close() // Nobody talks to it any more.
	}
}
