package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

const (
	figurePoll     = "redfish_poll_requests"
	figurePower    = "redfish_power_requests"
	figureOn       = "redfish_power_requests_on"
	figureAsked    = "redfish_power_requests_off_asked"
	figureWaited   = "redfish_power_requests_off_waited"
	figureForced   = "redfish_power_requests_off_forced"
	figureReset    = "redfish_power_requests_reset"
	figureRead     = "redfish_inventory_requests"
	figureReads    = "redfish_inventory_requests_median"
	figureReady    = "redfish_2000_ready"
	figureHostRSS  = "redfish_2000_rss"
	figureHostCPU  = "redfish_2000_cpu"
	figureReaction = "redfish_healthy_p99_ratio"

	fleetHosts = 2000
	fleetPoll  = time.Minute
	// answerTime is how long an emulated BMC takes for a request.
	answerTime = 50 * time.Millisecond
	// powerLimit is how many requests switching a machine may take, and readLimit an inventory: its bound.
	powerLimit, readLimit = 8, 400
	// switched is how many machines are switched on to count requests.
	switched = 5
	// hostTimeout is how long all hosts may take to be known, on a busy machine.
	hostTimeout = 15 * time.Minute
	redfishHost = "RedfishHost"
)

// A fleet is so many machines with a BMC each, how often each is looked at, what
// the BMCs answer with, and where recorded trees are whose inventories are counted.
type fleet struct {
	hosts       int
	poll        time.Duration
	tree, trees string
}

func (f fleet) bench() bench {
	return bench{
		figures: []figure{
			{name: figureReady, unit: "s", limit: 60}, {name: figurePoll, unit: "requests per host and poll", limit: 2},
			{name: figureHostRSS, unit: "MB", limit: 300}, {name: figureHostCPU, unit: "cores", limit: 0.25},
			{name: figurePower, unit: unitBeyond, limit: powerLimit}, {name: figureOn, unit: unitBeyond, limit: powerLimit},
			{name: figureAsked, unit: unitBeyond, limit: powerLimit}, {name: figureWaited, unit: unitBeyond, limit: powerLimit},
			{name: figureForced, unit: unitBeyond, limit: powerLimit}, {name: figureReset, unit: unitBeyond, limit: powerLimit},
			{name: figureRead, unit: "requests", limit: readLimit}, {name: figureReads, unit: "requests", limit: readLimit},
			{name: figureReaction, unit: "of 1", limit: 1.5},
		},
		measure: f.measure, provider: []string{"--poll=" + f.poll.String(), "--debug=false"},
		what: fmt.Sprintf("%d RedfishHosts with a BMC each, that takes %s for a request, poll %s: from the provider's start until all are Ready; a poll of which nothing comes, "+
			"after all MACs were read; %d machines switched on, off (the system obeys at once, after %s, never: grace %s), and reset, the requests beside the looks, the mean of each and the "+
			"greatest; the inventory of each model and recorded tree, the greatest and the median; and how long after somebody says so a healthy machine is switched on, one percent of them later: with a tenth of "+
			"the BMCs hanging and a tenth refusing connections, from the moment on when they begin to, as against before", f.hosts, answerTime, f.poll, switched, slowEnd, shortGrace),
	}
}

// measure is what a fleet costs.
func (f fleet) measure(ctx context.Context, l *lab.Lab) (map[string]float64, error) {
	rack, err := newRack(f)
	if err != nil {
		return nil, err
	}
	defer rack.close()
	if err := l.Apply(ctx, bmcConfig); err != nil {
		return nil, err
	}
	out := map[string]float64{}
	for _, part := range []struct {
		name    string
		measure func(context.Context, *lab.Lab, *rackOf, map[string]float64) error
	}{{"inventories", f.inventories}, {"start", f.start}, {"steady poll", f.steady}, {"power", f.power}, {"reaction", f.reaction}} {
		fmt.Fprintf(os.Stderr, "bench: %s of %d hosts\n", part.name, f.hosts)
		if err := part.measure(ctx, l, rack, out); err != nil {
			return nil, fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return out, nil
}

// bmcConfig lets the provider talk to them.
const bmcConfig = `
apiVersion: v1
kind: Secret
metadata: {namespace: crossplane-system, name: fleet}
stringData: {username: ` + lab.BMCUser + `, password: ` + lab.BMCPassword + `}
---
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: ClusterProviderConfig
metadata: {name: fleet}
spec:
  allowedNamespaces: {from: All}
  redfish:
    credentials: {source: Secret, secretRef: {namespace: crossplane-system, name: fleet}}
    allowedAddresses: [127.0.0.0/8]
    tls: {verify: TrustOnFirstUse}
`

// start is how long a provider takes to know hosts that it has never seen.
func (f fleet) start(ctx context.Context, l *lab.Lab, rack *rackOf, out map[string]float64) error {
	l.Provider.Kill()
	var all bytes.Buffer
	for _, m := range rack.machines {
		fmt.Fprintf(&all, `
---
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: RedfishHost
metadata: {namespace: %s, name: %s, labels: {bench: fleet}}
spec:
  providerConfigRef: {kind: ClusterProviderConfig, name: fleet}
  forProvider: {address: %q}
`, lab.InfraNamespace, m.name, m.Addr())
	}
	if err := create(ctx, l, all.String()); err != nil {
		return err
	}
	began := time.Now()
	if err := l.HealProvider(ctx); err != nil {
		return err
	}
	var took []time.Duration
	if err := l.Until(ctx, fmt.Sprintf("%d hosts", f.hosts), hostTimeout, func(ctx context.Context) error {
		var err error
		took, err = f.known(ctx, l, began)
		return err
	}); err != nil {
		return err
	}
	busy, err := cpu(l.Provider.PID())
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "bench: half of the hosts were Ready after %.0f s, nine tenths after %.0f s; the provider was busy for %.1f s\n",
		percentile(took, 50).Seconds(), percentile(took, 90).Seconds(), busy)
	out[figureReady] = took[len(took)-1].Seconds()
	return nil
}

// known is how long after a time each host became Ready, sorted; an error while not all are.
func (f fleet) known(ctx context.Context, l *lab.Lab, began time.Time) ([]time.Duration, error) {
	us, err := fleetOf(ctx, l)
	if err != nil {
		return nil, err
	}
	var took []time.Duration
	for i := range us {
		if at, ok := readySince(&us[i]); ok {
			// Conditions are dated in whole seconds, of which the rest is cut off.
			took = append(took, at.Add(time.Second).Sub(began))
		}
	}
	if len(took) < f.hosts {
		return nil, errors.Join(pass(ctx, f.rest()), fmt.Errorf("%d of %d are Ready", len(took), f.hosts))
	}
	slices.Sort(took)
	return took, nil
}

// rest is between two looks at all hosts, which cost the API server as much as the provider needs meanwhile: what they find is dated.
func (f fleet) rest() time.Duration { return time.Duration(f.hosts) * 3 * time.Millisecond }

func readySince(u *unstructured.Unstructured) (time.Time, bool) {
	conditions, _, err := unstructured.NestedSlice(u.Object, "status", "conditions")
	if err != nil {
		return time.Time{}, false
	}
	for _, c := range conditions {
		m, _ := c.(map[string]any)
		if m["type"] == "Ready" && m["status"] == "True" {
			text, _ := m["lastTransitionTime"].(string)
			at, err := time.Parse(time.RFC3339, text)
			return at, err == nil
		}
	}
	return time.Time{}, false
}

// fleetOf lists the hosts, from the API server's cache.
func fleetOf(ctx context.Context, l *lab.Lab) ([]unstructured.Unstructured, error) {
	us := &unstructured.UnstructuredList{}
	us.SetAPIVersion(lab.Baremetal)
	us.SetKind(redfishHost + "List")
	cached := client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: "0"}}
	if err := l.Client().List(ctx, us, &cached, client.MatchingLabels{"bench": "fleet"}); err != nil {
		return nil, fmt.Errorf("cannot list hosts: %w", err)
	}
	return us.Items, nil
}

// steady is what hosts cost to which nothing happens, once their inventories were read.
func (f fleet) steady(ctx context.Context, l *lab.Lab, rack *rackOf, out map[string]float64) error {
	began := time.Now()
	if err := l.Until(ctx, "all MACs", hostTimeout, func(ctx context.Context) error { return f.read(ctx, l) }); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "bench: all MACs were known %s after all hosts were\n", time.Since(began).Round(time.Second))
	if err := pass(ctx, f.poll); err != nil {
		return err
	}
	before, err := looksAt(ctx, l, redfishHost)
	if err != nil {
		return err
	}
	requests := rack.requests()
	busy, err := cpu(l.Provider.PID())
	if err != nil {
		return err
	}
	began = time.Now()
	if err := pass(ctx, f.poll); err != nil {
		return err
	}
	took := time.Since(began)
	then, cpuErr := cpu(l.Provider.PID())
	memory, rssErr := rss(l.Provider.PID())
	after, looksErr := looksAt(ctx, l, redfishHost)
	if err := errors.Join(cpuErr, rssErr, looksErr); err != nil {
		return err
	}
	requests = rack.requests() - requests
	n := after.all() - before.all()
	fmt.Fprintf(os.Stderr, "bench: in %s the provider was busy for %.2f s, made %d requests and %.0f looks: %v, before %v\n", took.Round(time.Second), then-busy, requests, n, after, before)
	if n < float64(f.hosts)/2 {
		return fmt.Errorf("%.0f looks in a poll: it was no steady one", n)
	}
	out[figurePoll], out[figureHostRSS], out[figureHostCPU] = float64(requests)/n, memory, (then-busy)/took.Seconds()
	return nil
}

// read says, by an error, how many hosts don't show what MACs they have.
func (f fleet) read(ctx context.Context, l *lab.Lab) error {
	us, err := fleetOf(ctx, l)
	if err != nil {
		return err
	}
	n := 0
	for i := range us {
		if macs, _, err := unstructured.NestedSlice(us[i].Object, "status", "atProvider", "macs"); err == nil && len(macs) > 0 {
			n++
		}
	}
	if n < f.hosts {
		return errors.Join(pass(ctx, f.rest()), fmt.Errorf("%d of %d have MACs", n, f.hosts))
	}
	return nil
}
