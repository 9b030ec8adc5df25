package netbox_test

import (
	"regexp"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

const (
	// soakOutstanding is how long a POST without an answer may be carried out: in fact it's done 2*soakTimeout after it was sent, at the
	// latest, on a machine that has the time. Annotations, by which it's counted, have whole seconds.
	soakOutstanding = time.Second + 8*soakTimeout + soakLag
	// soakAsking is how long a Create takes at most: a POST, and a look for what came of it.
	soakAsking = 3 * soakTimeout
	// One in soakEarly looks at a resource that waits for a record comes in the middle of that.
	soakEarly = 8
)

var lookedFor = regexp.MustCompile(`it is looked for until (\S+Z),`)

// waitsUntil is when a resource that is being deleted goes, as its condition says; zero where it waits for no record that may come late.
func waitsUntil(mg *v1alpha1.NetBoxIPAddress) time.Time {
	said := lookedFor.FindStringSubmatch(mg.GetCondition(xpv2.TypeSynced).Message)
	if mg.DeletionTimestamp == nil || said == nil {
		return time.Time{}
	}
	until, err := time.Parse(time.RFC3339, said[1])
	if err != nil {
		return time.Time{}
	}
	return until
}

// park has a resource looked at when nothing can come any more, and now and then before. Meanwhile another one has its place: this one
// holds no address that is known of.
func (k *soak) park(name string, l *life, until time.Time) {
	k.mu.Lock()
	first := !l.parked
	if l.parked = true; first {
		k.parked++
	}
	k.mu.Unlock()
	left := max(time.Until(until)+soakOutstanding%time.Second+soakTicks, 20*soakTicks) // Fractions of a second aren't said.
	if k.chaos.pick(soakEarly) == 0 {
		left /= 3
	}
	time.AfterFunc(left, func() { k.jobs <- name })
	if first {
		k.make()
	}
}
