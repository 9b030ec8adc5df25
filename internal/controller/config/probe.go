package config

import (
	"context"
	"fmt"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

const (
	// probeEvery is between looks at a NetBox that can be used, probeAgain between those at one that can't, and probeSoon where its
	// marker field is yet to be made: the first address makes it any time.
	probeEvery = 10 * time.Minute
	probeSoon  = 2 * time.Minute
	probeAgain = 30 * time.Second
)

// A Finding is what a look at a NetBox showed.
type Finding struct {
	// Facts as far as they were seen. LastChecked is left out.
	Facts v1alpha1.NetBoxFacts
	// Reason why it can't be used; "" where it can.
	Reason xpv2.ConditionReason
	// Message for the config's owner; "" where there's nothing to say.
	Message string
	// Clock says whether its clock and ours agree; nil where it isn't known.
	Clock *xpv2.Condition
}

// A ProbeFn looks at the NetBox of a config, until that has answered or the context ends.
type ProbeFn func(ctx context.Context, n NetBox) Finding

// A probed is a finding, when it was made, and for what.
type probed struct {
	finding Finding
	at      time.Time
	// ref of the config, its generation, and version of its Secret.
	ref        Ref
	generation int64
	secret     string
	// doubted says that the NetBox has refused the token since, and confirmed that it was so of the finding before, and nothing was found.
	doubted, confirmed bool
}

// ProbeNetBox has the NetBoxes of configs looked at: when they or their Secrets change, and every ten minutes. Without it, a config is
// as good as its credentials are complete. It must be called before the manager starts.
func (r *Resolver) ProbeNetBox(fn ProbeFn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.probe = fn
}

// probed returns what is known of the NetBox of a config with these credentials, nil where nothing is yet, and after which time it's to be asked
// for again. Where a look is due, it's begun, and its end wakes the config's reconciler. looks is false where nobody looks.
func (r *reconciler) probed(ctx context.Context, c config, s secret) (f *Finding, again time.Duration, looks bool) {
	n, probe := netBoxOf(c, s), r.prober()
	if n == nil || probe == nil {
		return nil, 0, false
	}
	r.mu.Lock()
	last, known := r.findings[n.UID]
	r.mu.Unlock()
	same := known && last.generation == n.Generation && last.secret == n.SecretVersion
	if same {
		f = &last.finding
		if left := last.due().Sub(r.now()); left > 0 {
			return f, left, true
		}
	}
	r.look(ctx, *n, probe, last, same && last.finding.Reason == v1alpha1.ReasonUnreachable, c.status().NetBox)
	return f, probeAgain, true
}

// look at the NetBox of a config, of which last was found before. slow says that it didn't answer then, and was is what its status says.
func (r *reconciler) look(ctx context.Context, n NetBox, fn ProbeFn, last probed, slow bool, was *v1alpha1.NetBoxFacts) {
	was = was.DeepCopy()
	r.looks.begin(ctx, &probe{
		of: n.UID, owner: n.Namespace, version: fmt.Sprintf("%d/%s", n.Generation, n.SecretVersion),
		look: func(ctx context.Context) Finding { return fn(ctx, n) },
		tell: func(f Finding, broken bool) {
			next := probed{finding: f, at: r.now(), ref: n.Ref, generation: n.Generation, secret: n.SecretVersion, confirmed: last.doubted}
			if broken { // That it isn't quick is no news of one that answered before.
				next.finding = Finding{Reason: v1alpha1.ReasonUnreachable, Message: fmt.Sprintf("%s hasn't answered within %s: it's asked again, with more time", n.String(), quickFor)}
			}
			next.finding.Facts = remembered(next.finding, was, r.now())
			if r.learn(n.UID, next, broken) {
				r.wake(n.Ref)
			}
		},
	}, slow)
}

// learn what was found. unsure says that it's said only where nothing else is known; then it isn't due again, as the look goes on.
func (r *Resolver) learn(of types.UID, p probed, unsure bool) (news bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if was, known := r.findings[of]; unsure && known && was.generation == p.generation && was.secret == p.secret {
		return false
	}
	r.findings[of] = p
	if v := p.finding.Facts.Version; v != "" {
		r.versions[of] = v
	}
	return true
}

func (r *Resolver) prober() ProbeFn {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.probe
}

// due is when to look again.
func (p probed) due() time.Time {
	switch {
	case p.finding.Reason != "":
		return p.at.Add(probeAgain)
	case p.doubted && !p.confirmed:
		return p.at
	case p.doubted, p.finding.Facts.MarkerField == v1alpha1.MarkerFieldMissing:
		return p.at.Add(probeSoon)
	}
	return p.at.Add(probeEvery)
}

// Doubt has the NetBox of a config looked at soon that was found to be usable: it has just refused the token, which may have been withdrawn,
// or have lost a right. What is refused again and again though nothing is found, such as by a constraint of a permission, makes a look
// every two minutes. It never waits for anybody.
func (r *Resolver) Doubt(of Ref) {
	r.mu.Lock()
	heard := false
	for uid, p := range r.findings {
		if p.ref == of && p.finding.Reason == "" && !p.doubted {
			p.doubted, heard = true, true
			r.findings[uid] = p
		}
	}
	r.mu.Unlock()
	if heard {
		r.wake(of)
	}
}

// remembered completes facts: a NetBox that doesn't answer is what it last was.
func remembered(f Finding, was *v1alpha1.NetBoxFacts, now time.Time) v1alpha1.NetBoxFacts {
	facts := f.Facts
	if facts.Version == "" {
		if was == nil {
			return v1alpha1.NetBoxFacts{}
		}
		return *was
	}
	at := metav1.NewTime(now.Truncate(time.Minute))
	facts.LastChecked = &at
	return facts
}

// netBoxOf is a config for a NetBox with its token; nil of any other.
func netBoxOf(c config, s secret) *NetBox {
	if c.spec().NetBox == nil {
		return nil
	}
	o := c.object()
	return &NetBox{
		Identity:      Identity{Ref: refTo(c), UID: o.GetUID(), Generation: o.GetGeneration()},
		Config:        *c.spec().NetBox,
		Token:         tokenOf(*c.spec(), s),
		SecretVersion: s.version,
	}
}

// forgetProbe forgets a config that is gone.
func (r *Resolver) forgetProbe(uid types.UID) {
	r.looks.forget(uid)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.findings, uid)
	delete(r.versions, uid)
}
