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
	// stepTimeout is how long a step may take for which a cast has no time of its own.
	stepTimeout = 2 * time.Minute
	// look is how often the machines are looked at.
	look = 100 * time.Millisecond
)

// A demo is one run.
type demo struct {
	place  place
	cast   cast
	screen *screen
	start  time.Time
	// step is what is being done, for the sentence about its failure.
	step string
	lab  *lab.Lab
}

func newDemo(p place, c cast, out *os.File) *demo {
	return &demo{place: p, cast: c, screen: newScreen(out), start: started()}
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
	if !keep {
		return nil
	}
	d.step = "leave everything running"
	kubeconfig, err := d.cast.open()
	if err != nil {
		return err
	}
	kubectl, err := d.lab.Plane.Kubectl(ctx)
	if err != nil {
		return err
	}
	d.screen.sayf("%s", d.invitation(kubeconfig, kubectl))
	return nil
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
	var err error
	if d.lab, err = d.cast.start(ctx, d.place.state, d.say); err != nil {
		return err
	}
	d.begin("fill the rack: " + d.cast.script().rack)
	return d.cast.fill(ctx)
}

// claims applies those of both tenants and shows their machines until all are Ready. It returns how long that took.
func (d *demo) claims(ctx context.Context) ([]*story, time.Duration, error) {
	script := d.cast.script()
	objects, err := d.lab.Example(script.claims...)
	if err != nil {
		return nil, 0, err
	}
	stories := storiesOf(objects)
	d.begin(fmt.Sprintf("apply %d claims of two tenants", len(stories)))
	start := time.Now()
	if err := d.lab.Plane.Apply(ctx, objects...); err != nil {
		return nil, 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, script.patience)
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
	d.cast.see(ctx, s, &f)
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
	address, _, _ := strings.Cut(s.facts.address, "/")
	if address == "" {
		return errors.New("the machine was Ready without an address")
	}
	// What was made for a claim may outlive it on a cluster this young, whose garbage collector learns of new kinds every 30 seconds.
	if err := d.lab.Until(ctx, "what was made for "+s.claim+" to be given back", stepTimeout, func(context.Context) error {
		if d.cast.powered(s.host) {
			return fmt.Errorf("machine %s is still on", s.host)
		}
		for _, a := range d.lab.NetBox.Addresses() {
			if a.Address.Addr().String() == address {
				return fmt.Errorf("address %s is still in NetBox", address)
			}
		}
		return nil
	}); err != nil {
		return err
	}
	d.say(fmt.Sprintf("%s is gone: machine %s is off, address %s is released in NetBox", s.claim, s.host, address))
	return nil
}

// invitation says what to try while everything runs.
func (d *demo) invitation(kubeconfig, kubectl string) string {
	lines := []string{
		"It goes on running; \"make demo-down\" ends it. Its logs are in " + d.lab.LogDir() + ". Five commands worth trying:",
		"",
		"  export KUBECONFIG=" + kubeconfig + " PATH=" + filepath.Dir(kubectl) + ":$PATH",
		"  kubectl get baremetalnodes -A -o wide",
		"  kubectl get redfishhosts,bootentries,netboxipaddresses -A",
		"  kubectl apply -f examples/" + d.cast.script().claims[0] + "   # brings back the claim that was deleted; its warnings say only that the demo applied them in another way",
		"  kubectl -n team-b patch baremetalnode db-1 --type=merge -p '{\"spec\":{\"installGeneration\":2}}'   # one more install",
		"  " + d.cast.script().last,
	}
	return strings.Join(lines, "\n")
}
