package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

const (
	// readyTimeout is how long the machines may take until they are Ready: many times what they need.
	readyTimeout = 3 * time.Minute
	// stepTimeout is how long any other step may take.
	stepTimeout = time.Minute
	// look is how often the machines are looked at.
	look = 100 * time.Millisecond
)

// A demo is one run.
type demo struct {
	place  place
	screen *screen
	start  time.Time
	// step is what is being done, for the sentence about its failure.
	step string
	lab  *lab.Lab
}

func newDemo(p place, out *os.File) *demo {
	return &demo{place: p, screen: newScreen(out), start: time.Now()}
}

// run goes through all steps.
func (d *demo) run(ctx context.Context, keep bool) error {
	if err := d.up(ctx); err != nil {
		return err
	}
	stories, took, err := d.claims(ctx)
	if err != nil {
		return err
	}
	if err := d.release(ctx, stories[0]); err != nil {
		return err
	}
	d.screen.sayf("demo: %d/%d machines Ready in %.1f s", len(stories), len(stories), took.Seconds())
	if keep {
		d.screen.sayf("%s", d.invitation())
	}
	return nil
}

func (d *demo) stop() {
	if d.lab != nil {
		d.lab.Stop()
	}
}

// begin names the next step and shows it.
func (d *demo) begin(step string) {
	d.step = step
	d.say(step)
}

func (d *demo) say(s string) { d.screen.sayf("%6.1fs %s", time.Since(d.start).Seconds(), s) }

// up starts everything and fills the rack.
func (d *demo) up(ctx context.Context) error {
	d.begin("start the local control plane, the emulators and the components")
	l, err := lab.Start(ctx, lab.Options{StateDir: d.place.state, Say: d.say})
	if err != nil {
		return err
	}
	d.lab = l
	if l.Firmware.StandIn {
		d.say("no iPXE is installed and none could be had without root: the simulated machines load a stand-in")
	}
	d.begin("fill the rack: four emulated BMCs with a machine each, off; one RackPool")
	return l.FillRack(ctx)
}

// claims applies those of both tenants and shows their machines until all are Ready. It returns how long that took.
func (d *demo) claims(ctx context.Context) ([]*story, time.Duration, error) {
	d.begin("apply four claims of two tenants")
	objects, err := d.lab.Example("demo/50-claims-team-a.yaml", "demo/51-claims-team-b.yaml")
	if err != nil {
		return nil, 0, err
	}
	start := time.Now()
	if err := d.lab.Plane.Apply(ctx, objects...); err != nil {
		return nil, 0, err
	}
	stories := storiesOf(objects)
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for left := len(stories); left > 0; {
		left = 0
		for _, s := range stories {
			f := d.look(ctx, s)
			d.screen.show(stories, s, s.take(f, time.Since(start)))
			if !s.done() {
				left++
			}
		}
		if err := d.pause(ctx); err != nil {
			return nil, 0, fmt.Errorf("%d of %d machines aren't Ready: %w\n%s", left, len(stories), err, d.lab.Describe(""))
		}
	}
	return stories, time.Since(start), nil
}

// pause waits until it's time for another look. A component that has ended won't be waited for.
func (d *demo) pause(ctx context.Context) error {
	if err := d.lab.Failed(); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(look):
		return nil
	}
}

func storiesOf(objects []*unstructured.Unstructured) []*story {
	var out []*story
	for _, u := range objects {
		if u.GetKind() != "BareMetalNode" {
			continue
		}
		host := lab.StringOf(u, "spec", "host", "ref", "name")
		out = append(out, &story{claim: u.GetNamespace() + "/" + u.GetName(), host: host})
	}
	return out
}

// look finds out how far a machine is. What can't be read isn't known yet.
func (d *demo) look(ctx context.Context, s *story) facts {
	namespace, name, _ := strings.Cut(s.claim, "/")
	var f facts
	if claim, err := d.lab.Get(ctx, lab.Node(namespace, name)); err == nil {
		f.reason, f.message = lab.StringOf(claim, "status", "reason"), lab.StringOf(claim, "status", "message")
		f.reached[atReady] = lab.Is("Ready", "True")(claim)
	}
	if entry, err := d.lab.Get(ctx, lab.Kind("BootEntry", namespace, name)); err == nil {
		f.reached[atPlan] = lab.StringOf(entry, "status", "atProvider", "plan", "digest") != ""
	}
	if ip, err := d.lab.Get(ctx, lab.Kind("NetBoxIPAddress", namespace, name+"-boot-ipv4")); err == nil {
		f.address = lab.StringOf(ip, "status", "atProvider", "address")
		f.reached[atAddress] = f.address != ""
	}
	if h := d.lab.Host(s.host); h != nil {
		m := h.Machine.Status()
		f.reached[atPower] = m.PowerOns > 0
		f.reached[atDHCP] = m.DHCP["pxe"] > 0
		f.reached[atIPXE] = m.DHCP["ipxe"] > 0
		f.reached[atKernel] = m.Kernels > 0
		f.reached[atInstalled] = m.Installs > 0
	}
	return f
}

// release deletes one claim and shows that its machine is off and its address is gone from NetBox.
func (d *demo) release(ctx context.Context, s *story) error {
	namespace, name, _ := strings.Cut(s.claim, "/")
	d.begin("delete the claim " + s.claim)
	if err := d.lab.Delete(ctx, lab.Node(namespace, name)); err != nil {
		return err
	}
	if err := d.lab.AwaitGone(ctx, lab.Node(namespace, name), stepTimeout); err != nil {
		return err
	}
	if d.lab.Host(s.host).Machine.Powered() {
		return fmt.Errorf("machine %s is still on\n%s", s.host, d.lab.Describe(namespace))
	}
	address, _, _ := strings.Cut(s.facts.address, "/")
	for _, a := range d.lab.NetBox.Addresses() {
		if a.Address.Addr().String() == address {
			return fmt.Errorf("address %s is still in NetBox\n%s", address, d.lab.Describe(namespace))
		}
	}
	if address == "" {
		return errors.New("the machine was Ready without an address")
	}
	d.say(fmt.Sprintf("%s is gone: machine %s is off, address %s is released in NetBox", s.claim, s.host, address))
	return nil
}

// invitation says what to try while everything runs.
func (d *demo) invitation() string {
	bin := filepath.Dir(d.lab.Plane.Kubectl())
	lines := []string{
		"It goes on running; \"make demo-down\" ends it. Its logs are in " + d.lab.LogDir() + ". Five commands worth trying:",
		"",
		"  export KUBECONFIG=" + d.lab.Plane.Kubeconfig() + " PATH=" + bin + ":$PATH",
		"  kubectl get baremetalnodes -A -o wide",
		"  kubectl get redfishhosts,bootentries,netboxipaddresses -A",
		"  kubectl apply -f examples/demo/50-claims-team-a.yaml   # also brings back the claim that was deleted",
		"  kubectl -n team-b patch baremetalnode db-1 --type=merge -p '{\"spec\":{\"installGeneration\":2}}'   # one more install",
		"  kubectl -n team-b delete baremetalnode db-2   # its machine goes off, its address back",
	}
	return strings.Join(lines, "\n")
}
