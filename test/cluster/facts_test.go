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
	"sigs.k8s.io/controller-runtime/pkg/client"

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
	IdlePowered, GuestPowered bool
	IdleBoots                 []bmc.BootTarget
	GuestStarts               int
	// Guest is what the machine said on its serial port since it was made.
	Guest []string
	// BMCWrites are of both, and Resets too.
	BMCWrites int
	Resets    []map[string]int
	// Addresses with their ids and when they were last written.
	Addresses []netbox.Address
}

// A record is what an object remembers of a machine.
type record struct {
	UID         string
	Annotations map[string]string
	// Fields are those that a tenant or a machine goes by.
	Fields map[string]any
}

// remembered fields, by kind. Others may be said in another way by another version.
func remembered() map[string][][]string {
	return map[string][][]string{
		"BareMetalNode": {{"status", "phase"}, {"status", "host", "name"}, {"status", "addresses"}, {"status", "installed"}},
		"HostClaim":     {{"spec", "bound"}}, "RedfishHost": {{"spec", "claimRef"}, {"spec", "power"}}, "BootSession": {{"spec", "grant"}},
		"BootEntry": {{"status", "installed"}}, "NetBoxIPAddress": {{"status", "atProvider", "address"}},
	}
}

func (u *update) look(t *testing.T, s *stage.Stage) facts {
	t.Helper()
	f := facts{Outside: u.outside(), Records: map[string]record{}}
	for kind, fields := range remembered() {
		all := &unstructured.UnstructuredList{}
		all.SetAPIVersion(lab.Baremetal)
		if kind == "BareMetalNode" {
			all.SetAPIVersion(lab.Platform)
		}
		all.SetKind(kind + "List")
		must(t, s.Client().List(t.Context(), all))
		for i := range all.Items {
			o := &all.Items[i]
			f.Records[kind+" "+client.ObjectKeyFromObject(o).String()] = recordOf(o, fields)
		}
	}
	return f
}

func (u *update) outside() outside {
	o := outside{IdlePowered: u.idle.machine.Powered(), IdleBoots: u.idle.machine.Boots(), Addresses: u.netbox.Addresses()}
	bmcs := []*bmc.Server{u.idle.bmc}
	if u.guest != nil {
		bmcs = append(bmcs, u.guest.BMC)
		o.GuestPowered, o.GuestStarts = u.guest.Powered(), u.guest.Starts()
		for line := range strings.Lines(u.guest.Machine.Serial()) {
			if strings.Contains(line, "GUEST ") {
				o.Guest = append(o.Guest, line)
			}
		}
	}
	for _, b := range bmcs {
		c := b.Counters()
		o.BMCWrites += c.Writes
		o.Resets = append(o.Resets, c.Resets)
	}
	return o
}

func recordOf(o *unstructured.Unstructured, fields [][]string) record {
	r := record{UID: string(o.GetUID()), Annotations: map[string]string{}, Fields: map[string]any{}}
	for k, v := range o.GetAnnotations() {
		if strings.HasPrefix(k, "baremetal.m.crossplane.io/") || k == "crossplane.io/external-name" {
			r.Annotations[k] = v
		}
	}
	for _, path := range fields {
		v, found, err := unstructured.NestedFieldCopy(o.Object, path...)
		if found && err == nil {
			r.Fields[strings.Join(path, ".")] = v
		}
	}
	return r
}

// unharmed holds that nothing was done to machines or addresses, and nothing about them was forgotten.
func (u *update) unharmed(t *testing.T, s *stage.Stage, before facts) {
	t.Helper()
	if diff := cmp.Diff(before, u.look(t, s), addressesByValue()); diff != "" {
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
		if u.guest != nil {
			servers = append(servers, u.guest.BMC)
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

// watchLease watches who works until the function that it returns is called. That waits for another one than now, and returns for how
// long nobody worked, and since when the other one does. The one before is to give the lease back, not to be waited for.
func watchLease(t *testing.T, s *stage.Stage) func() (time.Duration, time.Time) {
	t.Helper()
	r := lab.Ref{APIVersion: "coordination.k8s.io/v1", Kind: "Lease", Namespace: local.CrossplaneNamespace, Name: "crossplane-leader-election-provider-baremetal"}
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
