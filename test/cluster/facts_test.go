package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
	"github.com/crossplane-contrib/provider-baremetal/test/cluster/stage"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// facts are what an upgrade mustn't change.
type facts struct {
	Outside outside
	// Records by kind and name.
	Records map[string]record
}

// outside is what is no object: machines, BMCs, NetBox.
type outside struct {
	// Machines by name.
	Machines map[string]machine
	// Addresses with their ids and when they were last written.
	Addresses []netbox.Address
}

// A machine is what was done to one since it was made.
type machine struct {
	Powered bool
	// Starts of a virtual machine, Boots of the one that does nothing.
	Starts int
	Boots  []bmc.BootTarget
	// Said on its serial port.
	Said []string
	// Writes that its BMC was asked for, and Resets among them, by their kinds.
	Writes int
	Resets map[string]int
}

func (u *update) look(t *testing.T, s *stage.Stage) facts {
	t.Helper()
	return facts{Outside: u.outside(), Records: records(t, s)}
}

func (u *update) outside() outside {
	o := outside{Machines: map[string]machine{}, Addresses: u.netbox.Addresses()}
	o.Machines[idleName] = at(u.idle.bmc, machine{Powered: u.idle.machine.Powered(), Boots: u.idle.machine.Boots()})
	for _, h := range u.guests() {
		m := machine{Powered: h.Powered(), Starts: h.Starts()}
		for line := range strings.Lines(h.Machine.Serial()) {
			if strings.Contains(line, "GUEST ") {
				m.Said = append(m.Said, line)
			}
		}
		o.Machines[h.Name] = at(h.BMC, m)
	}
	return o
}

// at adds what a machine's BMC was asked for.
func at(b *bmc.Server, m machine) machine {
	c := b.Counters()
	m.Writes, m.Resets = c.Writes, c.Resets
	return m
}

// guests are the virtual machines that were claimed, the one of this checkout's packages first.
func (u *update) guests() []*stage.Host {
	if u.older == nil {
		return []*stage.Host{u.kept}
	}
	return []*stage.Host{u.kept, u.older}
}

// unharmed holds that nothing was done to machines or addresses, and nothing about them was forgotten.
func (u *update) unharmed(t *testing.T, s *stage.Stage, before facts) {
	t.Helper()
	for _, h := range u.guests() {
		installedOnce(t, h)
	}
	now := u.look(t, s)
	for name, r := range now.Records {
		// A version that is the first to write down which machine a host is does so for those that it finds.
		if _, had := before.Records[name].Annotations[v1alpha1.AnnotationIdentity]; !had {
			delete(r.Annotations, v1alpha1.AnnotationIdentity)
		}
	}
	if diff := cmp.Diff(before, now, addressesByValue()); diff != "" {
		t.Errorf("what no change of versions may touch, -before, +after:\n%s", diff)
	}
}

// addressesByValue says how addresses are compared.
func addressesByValue() cmp.Option { return cmpopts.EquateComparable(netip.Prefix{}) }

// settle waits until packages are Healthy and the provider of theirs has looked at BMCs and at NetBox. It returns how long none worked.
func (u *update) settle(t *testing.T, s *stage.Stage, p stage.Packages, took func() (time.Duration, time.Time)) time.Duration {
	t.Helper()
	must(t, s.AwaitHealthy(t.Context(), p, stage.ConfigurationPackage))
	gap, since := took()
	must(t, s.Until(t.Context(), "the provider to look at BMCs and NetBox", patience, func(context.Context) error {
		servers := []*bmc.Server{u.idle.bmc}
		for _, h := range u.guests() {
			servers = append(servers, h.BMC)
		}
		for _, b := range servers {
			if all := b.Requests(); len(all) == 0 || !all[len(all)-1].At.After(since) {
				return errors.New("a BMC wasn't asked")
			}
		}
		if all := u.netbox.Requests(); len(all) == 0 || !all[len(all)-1].At.After(since) {
			return errors.New("NetBox wasn't asked")
		}
		return nil
	}))
	return gap
}

// watch looks at something again and again until the function that it returns is called.
func watch(t *testing.T, look func(context.Context)) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() {
		for ctx.Err() == nil {
			look(ctx)
			time.Sleep(200 * time.Millisecond)
		}
	})
	return func() { cancel(); done.Wait() }
}

// watchReady watches claims until the function that it returns is called: they're Ready then, and it's said when they weren't meanwhile.
func watchReady(t *testing.T, s *stage.Stage, names ...string) func() {
	t.Helper()
	not := map[string]int{}
	stop := watch(t, func(ctx context.Context) {
		for _, name := range names {
			o, err := s.Get(ctx, lab.Node(tenant, name))
			if err != nil {
				continue // An API server that doesn't answer says nothing about a claim.
			}
			if c := lab.ConditionOf(o, "Ready"); c.Status != "True" {
				not[fmt.Sprintf("%s %s: %s", name, c.Reason, c.Message)]++
			}
		}
	})
	return func() {
		stop()
		for what, times := range not {
			t.Logf("for about %.1f s a claim wasn't Ready: %s", 0.2*float64(times), what)
		}
		for _, name := range names {
			_, err := s.Await(t.Context(), lab.Node(tenant, name), "Ready", patience, lab.Is("Ready", "True"))
			must(t, err)
		}
	}
}

// leaseName is that of the provider's leader election.
const leaseName = "crossplane-leader-election-provider-baremetal"

func leaseRef() lab.Ref {
	return lab.Ref{APIVersion: "coordination.k8s.io/v1", Kind: "Lease", Namespace: local.CrossplaneNamespace, Name: leaseName}
}

// watchLease watches who works until the function that it returns is called. That waits for another one than now, and returns for how
// long nobody worked, and since when the other one does. The one before is to give the lease back, not to be waited for.
func watchLease(t *testing.T, s *stage.Stage) func() (time.Duration, time.Time) {
	t.Helper()
	r := leaseRef()
	first, err := s.Get(t.Context(), r)
	must(t, err)
	at := func(o *unstructured.Unstructured, field string) time.Time {
		when, _ := time.Parse(time.RFC3339Nano, lab.StringOf(o, "spec", field)) // Who holds it says when.
		return when
	}
	holder, last := lab.StringOf(first, "spec", "holderIdentity"), at(first, "renewTime")
	given, taken := false, make(chan time.Time, 1)
	stop := watch(t, func(ctx context.Context) {
		o, err := s.Get(ctx, r)
		if err != nil || len(taken) > 0 {
			return
		}
		switch lab.StringOf(o, "spec", "holderIdentity") {
		case holder:
			last = at(o, "renewTime")
		case "":
			given = true
		default:
			taken <- at(o, "acquireTime")
		}
	})
	return func() (time.Duration, time.Time) {
		defer stop()
		select {
		case since := <-taken:
			if !given {
				t.Errorf("%s didn't give its lease back", holder)
			}
			return since.Sub(last), since
		case <-time.After(patience):
			t.Fatalf("nobody else than %s is the leader", holder)
			return 0, time.Time{}
		}
	}
}
