package config

import (
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// waiting is how many configs may wait to be woken. One more waits for its next event, or resync: its version is remembered.
const waiting = 256

// SawNetBox notes the version that the NetBox of a config says it is. The config's own reconciler, the only writer of its status,
// puts it there.
func (r *Resolver) SawNetBox(id Identity, version string) {
	r.mu.Lock()
	known := r.versions[id.UID] == version
	r.versions[id.UID] = version
	r.mu.Unlock()
	if known {
		return
	}
	r.wake(id.Ref)
}

// wake has the reconciler of a config look at it.
func (r *Resolver) wake(of Ref) {
	o := newConfig(of.Kind).object()
	o.SetNamespace(of.Namespace)
	o.SetName(of.Name)
	select {
	case r.seen[of.Kind] <- event.GenericEvent{Object: o}:
	default:
	}
}

// facts are what is known of the NetBox of a config: what was seen, else what its status says already.
func (r *Resolver) facts(c config) *v1alpha1.NetBoxFacts {
	if c.spec().NetBox == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	facts := v1alpha1.NetBoxFacts{}
	if c.status().NetBox != nil {
		facts = *c.status().NetBox
	}
	if p, ok := r.findings[c.object().GetUID()]; ok {
		facts = p.finding.Facts
	}
	if v := r.versions[c.object().GetUID()]; v != "" {
		facts.Version = v
	}
	if facts == (v1alpha1.NetBoxFacts{}) {
		return nil
	}
	return &facts
}
