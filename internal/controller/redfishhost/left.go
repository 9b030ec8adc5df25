package redfishhost

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// reasonLeft is of events about what isn't taken back any more.
const reasonLeft event.Reason = "LeftOnMachine"

// named is what it is on the machine, in words.
func (m moved) named() string {
	if m.byOEM() {
		return fmt.Sprintf("the vendor's own boot setting for %s in %s", m.First, bounded(m.Resource, 256))
	}

	return fmt.Sprintf("boot option %q at the front of the boot order", m.First)
}

// left is what a journal has of ours that is on the machine, or may come, in words.
func (j *journal) left() []string {
	if j == nil {
		return nil
	}
	var out []string
	if a := j.Act; j.pending() && isReset(a.Action) {
		out = append(out, "a reset that is under way")
	}
	target := j.Override
	if a := j.Act; target == "" && j.pending() && a.Action == actSetBootOnce && a.Rung == "" {
		target = a.Target
	}
	if target != "" {
		out = append(out, "the boot override "+target)
	}
	if l := j.Boot.Lasting; l != nil {
		out = append(out, "the boot source "+l.Target+" for every boot")
	}
	if m := j.Boot.Moved; m != nil {
		out = append(out, m.named())
	}
	for _, m := range j.Boot.Late {
		if was := j.Boot.Moved; was == nil || !was.same(m) {
			out = append(out, m.named()+", which may come yet")
		}
	}
	if j.Push.ID != "" {
		out = append(out, "a subscription to its events "+j.Push.URI)
	}
	for _, drive := range slices.Sorted(maps.Keys(j.Media)) {
		out = append(out, "an image in the "+drive+" drive")
	}

	return out
}

// tellLeft tells what stays on the machine of a host that goes: since its BMC doesn't
// let us take it back, or since nobody knows whether it comes.
func (e *external) tellLeft(host *v1alpha1.RedfishHost) {
	if outdated(host) {
		e.abandon(host)

		return
	}
	left := parseJournal(host.GetAnnotations()[v1alpha1.AnnotationJournal]).left()
	if len(left) == 0 {
		return
	}
	const most = 768 // Of a message's 1024 bytes.
	what := bounded(strings.Join(left, "; "), most)
	e.connector.Recorder.Event(host, event.Warning(reasonLeft, errors.Errorf("this host is deleted, and on the machine behind BMC %q may be left: %s", e.inputs.address, what)))
	e.connector.Log.Info("A host is deleted, and something may be left on its machine", "host", nameOfHost(host).String(), "address", e.inputs.address, "left", what)
}

// crowdedOut is what a journal doesn't wait for any more that the one before did, since
// there are as many newer ones as it has room for.
func crowdedOut(before, after *journal) []moved {
	if before == nil || after == nil || len(before.Boot.Late) < maxLate || len(after.Boot.Late) < maxLate {
		return nil
	}
	if newest := after.Boot.Late[maxLate-1]; slices.ContainsFunc(before.Boot.Late, newest.same) {
		return nil
	}

	return slices.DeleteFunc(slices.Clone(before.Boot.Late), func(m moved) bool { return slices.ContainsFunc(after.Boot.Late, m.same) })
}

// tellCrowdedOut tells of those.
func (e *external) tellCrowdedOut(host *v1alpha1.RedfishHost, before, after *journal) {
	for _, m := range crowdedOut(before, after) {
		e.connector.Recorder.Event(host, event.Warning(reasonLeft, errors.Errorf("%s, of a boot for once that the BMC at %q was told without effect, isn't waited for any more, since %d newer ones are: where it comes with a later boot, set it back on the machine", m.named(), e.inputs.address, maxLate)))
	}
}
