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
	// last is what was told last of each.
	last map[telling]string
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
	of := telling{mg.GetName(), string(v.Reason), e.process}
	e.all.all[of]++
	e.all.last[of] = v.Message
}

// WithAnnotations implements event.Recorder.
func (e ear) WithAnnotations(...string) event.Recorder { return e }

// checkTold holds that each life was told of once, when it was given an address and when it gave that up. One that died may have told of what it
// didn't live to write down, and of two at once each may.
func (k *soak) checkTold() {
	k.t.Helper()
	told, twice := map[string]map[string]int{"Allocated": {}, "Released": {}}, map[string]int{}
	alive, lost := map[string]bool{}, map[string]bool{}
	for of, n := range k.told.all {
		if k.toldOfStroke(of) {
			lost[of.name] = lost[of.name] || of.reason == "Lost"
			continue
		}
		if told[of.reason] == nil {
			k.t.Errorf("%s: %s, which nobody had a reason to tell: %s", of.name, of.reason, k.told.last[of])
			k.story(of.name)
			continue
		}
		again := of.reason == "Allocated" && k.lives[of.name].stroke.restores
		if n > 1 && !again {
			k.t.Errorf("%s: %s %d times by one process", of.name, of.reason, n)
			k.story(of.name)
		}
		told[of.reason][of.name]++
		if told[of.reason][of.name] == 2 {
			twice[of.reason]++
		}
		if again || of.by.dead.Load() || k.lives[of.name].shared {
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
		if l.stroke.over && !l.stroke.restores && !lost[name] {
			k.t.Errorf("%s has lost its record, and nobody was told", name)
		}
	}
	k.t.Logf("told by several processes, of which one died or both ran: %v", twice)
}

// toldOfStroke says that a telling is of a record that somebody deleted, and judges it: that one is lost is said of no other resource, nor that another one
// has its address since. One that is made again is told of as any that is made, or as adopted where it was set aside.
func (k *soak) toldOfStroke(of telling) bool {
	was := k.lives[of.name].stroke.record != 0
	switch of.reason {
	case "SetAside":
		return true
	case "Lost", "Adopted", "Moved":
		if !was {
			k.t.Errorf("%s: %s, and nobody deleted its record: %s", of.name, of.reason, k.told.last[of])
			k.story(of.name)
		}
		return true
	}
	return false
}
