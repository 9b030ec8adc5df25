package redfishhost

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// A journal may need a newer version than this one: then its machine is looked at as
// ever, and nothing is written to it, nor to the journal. Whoever reads less of it than
// there is would take one thing for another.

// outdated says whether a host's journal needs a newer version.
func outdated(host *v1alpha1.RedfishHost) bool {
	return parseJournal(host.GetAnnotations()[v1alpha1.AnnotationJournal]).newer()
}

// outdatedTrouble says what to do about it.
func outdatedTrouble(in inputs) trouble { return sentence(errNewerJournal, in) }

// outdatedConditions are what facets show of a host that this version does nothing to:
// what is as it's wanted, and of all else, and of boot sources in any case, why it
// isn't brought about.
func outdatedConditions(shown []xpv2.Condition, of []xpv2.ConditionType, in inputs) []xpv2.Condition {
	t := outdatedTrouble(in)
	var out []xpv2.Condition
	for _, c := range shown {
		if c.Status == corev1.ConditionTrue && c.Type != v1alpha1.ConditionBootApplied {
			out = append(out, c)

			continue
		}
		out = append(out, condition(c.Type, corev1.ConditionFalse, t.reason, t.message))
	}
	if len(shown) == 0 && len(of) == 1 && of[0] == v1alpha1.ConditionBootApplied {
		out = append(out, condition(of[0], corev1.ConditionFalse, t.reason, t.message))
	}

	return out
}

// errOutdated is the error of whoever would write to such a machine.
func (e *external) errOutdated() error { return errors.New(outdatedTrouble(e.inputs).message) }

// keptJournal is how much of a journal the log has: what it's about is at its beginning.
const keptJournal = 4096

// abandon tells that a host goes whose journal this version can't read, with the
// journal, so that somebody may look at the machine.
func (e *external) abandon(host *v1alpha1.RedfishHost) {
	const told = "this host is deleted, and with it the journal of a newer version of the provider, by which that would have put something back on the machine behind BMC %q: look at the machine's boot settings; the provider's log has the journal"
	e.connector.Recorder.Event(host, event.Warning(event.Reason(v1alpha1.ReasonOutdated), errors.Errorf(told, e.inputs.address)))
	e.connector.Log.Info("A host is deleted whose journal was written by a newer version", "host", nameOfHost(host).String(),
		"address", e.inputs.address, "journal", bounded(host.GetAnnotations()[v1alpha1.AnnotationJournal], keptJournal))
}
