package netbox_test

import (
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// A telling is an event of one life, by the process that told it.
type telling struct {
	name, reason string
	by           *process
}

// tellings count what was told.
type tellings struct {
	mu  sync.Mutex
	all map[telling]int
}

// An ear hears the events of a process. What one tells that is dead, nobody hears.
type ear struct {
	process *process
	all     *tellings
}

// Event implements event.Recorder.
func (e ear) Event(o runtime.Object, v event.Event) {
	mg, ok := o.(*v1alpha1.NetBoxIPAddress)
	if !ok || e.process.dead.Load() {
		return
	}
	if v.Reason != "Allocated" && mg.DeletionTimestamp == nil && e.process.past.ends(mg.GetName()) {
		// Its record was deleted, or one of an unanswered POST came late in its place.
		e.process.chaos.happens("a resource that goes, to who hasn't seen that yet")
		return
	}
	e.all.mu.Lock()
	defer e.all.mu.Unlock()
	e.all.all[telling{mg.GetName(), string(v.Reason), e.process}]++
}

// WithAnnotations implements event.Recorder.
func (e ear) WithAnnotations(...string) event.Recorder { return e }

// checkTold holds that each life was told of once, when it was given an address and when it gave that up. One that died may have told of what it
// didn't live to write down, and of two at once each may.
func (k *soak) checkTold() {
	k.t.Helper()
	told, twice := map[string]map[string]int{"Allocated": {}, "Released": {}}, map[string]int{}
	alive := map[string]bool{}
	for of, n := range k.told.all {
		if told[of.reason] == nil {
			k.t.Errorf("%s: %s, which nobody had a reason to tell", of.name, of.reason)
			continue
		}
		if n > 1 {
			k.t.Errorf("%s: %s %d times by one process", of.name, of.reason, n)
		}
		told[of.reason][of.name]++
		if told[of.reason][of.name] == 2 {
			twice[of.reason]++
		}
		if of.by.dead.Load() || k.lives[of.name].shared {
			continue
		}
		if alive[of.reason+of.name] {
			k.t.Errorf("%s: %s by two processes that live", of.name, of.reason)
		}
		alive[of.reason+of.name] = true
	}
	for name, l := range k.lives {
		if l.ready && told["Allocated"][name] == 0 {
			k.t.Errorf("%s was Ready, and nobody was told", name)
		}
		if l.ready && !l.keep && told["Released"][name] == 0 {
			k.t.Errorf("%s was Ready and is gone, and nobody was told", name)
		}
	}
	k.t.Logf("told by several processes, of which one died or both ran: %v", twice)
}
