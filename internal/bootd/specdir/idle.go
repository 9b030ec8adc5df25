package specdir

import (
	"fmt"
	"slices"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

const (
	// annotationPaused is Crossplane's. Of what is paused nothing is done in a cluster, so that nothing is granted.
	annotationPaused = "crossplane.io/paused"
	// idling begins what is said of an entry that nothing is to be installed by, and that isn't wrong.
	idling = "idle "
)

// idle says by what an entry wants nothing to be installed, though it has an install.generation, and what to do; "": by nothing. In a cluster what is paused
// or only observed is never granted anything, and what is being deleted is granted nothing any more. A folder may hold such an entry as
// kubectl printed it.
func idle(e *v1alpha1.BootEntry) (why, do string) {
	policies := e.Spec.ManagementPolicies
	needs := func(a xpv2.ManagementAction) bool { return slices.Contains(policies, a) }
	switch {
	case e.DeletionTimestamp != nil:
		return "it's being deleted (metadata.deletionTimestamp)", "remove the entry, or that field to keep it"
	case e.Annotations[annotationPaused] == "true":
		return "it's paused (annotation " + annotationPaused + ")", "remove the annotation to have it installed"
	case policies == nil || needs(xpv2.ManagementActionAll) || needs(xpv2.ManagementActionObserve) && needs(xpv2.ManagementActionCreate) && needs(xpv2.ManagementActionUpdate):
		return "", "" // Where a cluster's entry names none it has all.
	}
	return fmt.Sprintf("it's only observed (spec.managementPolicies is %q)", policies), `make that ["*"], or remove it, to have it installed`
}

// idles holds the machine of an entry that asks for an install and wants none.
func (w *world) idles(x placed, e *v1alpha1.BootEntry, p *boot.Plan) {
	why, do := idle(e)
	if why == "" || !wantsInstall(p) || w.kept[p.EntryUID] { // Who is in doubt is told of that.
		return
	}
	w.kept[p.EntryUID] = true
	w.idle[p.EntryUID] = fmt.Sprintf("%s:%d: BootEntry %s: nothing is installed on its machine, since %s; the address that it has and boots from disk go on; %s", x.file, x.line, p.Entry, why, do)
}

// doubt holds an entry that something else is wrong with than that it's idle.
func (w *world) doubt(uid string) {
	w.kept[uid] = true
	delete(w.idle, uid)
}

// complain tells what is wrong with the specs, or what they keep from being installed.
func (s *Source) complain(what, why string) {
	if strings.HasPrefix(what, idling) {
		s.o.Logger.Warn("nothing is installed on a machine, as its entry has it", "why", why)
		return
	}
	if strings.HasPrefix(what, grants) || what == otherServers {
		s.o.Logger.Error("a record of what was granted, or of who answers, can't be kept up; it's tried again, and its machine is granted nothing meanwhile", "problem", why)
		return
	}
	s.o.Logger.Error("the specs are wrong; what is right goes on being served", "problem", why)
}

// What isn't of the specs, by what it's told under.
const grants, otherServers = "grant of ", "other servers"
