package redfishhost

import (
	"errors"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// show puts what Observe found on the host. fresh says that the reconciler has
// something to write about it first: nothing is begun until that is written.
func (e *external) show(host *v1alpha1.RedfishHost, pin string, fresh bool) managed.ExternalObservation {
	j, was := parseJournal(host.GetAnnotations()[v1alpha1.AnnotationJournal]), host.Status.AtProvider.Inventory
	host.Status.AtProvider = e.observed(host, pin, j)
	showConnection(&host.Status.AtProvider.BMC, e.connection)
	host.Status.Phase = phaseOf(host, true, false)
	host.SetConditions(
		xpv2.Available(),
		condition(v1alpha1.ConditionReachable, corev1.ConditionTrue, v1alpha1.ReasonAvailable, ""),
		healthy(e.system.Health, host.Status.AtProvider.Inventory),
	)
	showClock(host, e.connector.inventories.known(host.GetUID(), e.system), e.inputs.address)
	if c, ok := cleaned(host); ok {
		host.SetConditions(c)
	}
	w := wanted(host.Spec.ForProvider)
	host.Status.AtProvider.BIOS = biosObservation(w.bios, e.bios, j)
	host.Status.AtProvider.VirtualMedia = mediaObservation(e.media, j)
	host.Status.AtProvider.SecureBoot = secureBootOf(e.secureBoot)
	e.showActs(host, w, e.seen(e.system))
	fitStatus(host, was, e.connector.Now())
	if fresh {
		// The spec is written first, which drops this status and wakes us
		// again: the next look goes on.
		return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true, ResourceLateInitialized: true}
	}
	if j.newer() {
		return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}
	}
	st := following(e.view(host, w, j, e.seen(e.system)))

	return managed.ExternalObservation{
		ResourceExists:   true,
		ResourceUpToDate: st.journal == nil && st.do == actNone && !st.refused,
		Diff:             st.why,
	}
}

// showActs puts on the host how far what is wanted has come.
func (e *external) showActs(host *v1alpha1.RedfishHost, w want, s seen) {
	v := e.view(host, w, parseJournal(host.GetAnnotations()[v1alpha1.AnnotationJournal]), s)
	host.Status.AtProvider.Pending = pendingOf(v)
	if v.j.newer() {
		host.Status.AtProvider.Pending = nil // Another version's word.
	}
	for _, f := range v.facets() {
		if f.show == nil {
			continue
		}
		shown := f.show(v, e.inputs)
		if v.j.newer() {
			shown = outdatedConditions(shown, f.conditions, e.inputs)
		}
		host.SetConditions(shown...)
		host.Status.Conditions = slices.DeleteFunc(host.Status.Conditions, func(c xpv2.Condition) bool {
			is := func(s xpv2.Condition) bool { return s.Type == c.Type }

			return slices.Contains(f.conditions, c.Type) && !slices.ContainsFunc(shown, is)
		})
	}
}

// showTrouble puts what is wrong on the host. A host that is enrolled stays
// Ready while its BMC is away; one that isn't its machine any more doesn't.
func showTrouble(host *v1alpha1.RedfishHost, err error, t trouble) {
	ours := err != errDuplicate && err != errIdentityChanged //nolint:errorlint // compared, not unwrapped: both are returned as they are
	enrolled := ours && meta.GetExternalName(host) != ""
	showSystems(&host.Status.AtProvider, err)
	recorded(&host.Status.AtProvider, parseJournal(host.GetAnnotations()[v1alpha1.AnnotationJournal]))
	host.Status.Phase = phaseOf(host, enrolled, !ours || (!enrolled && !redfish.IsUnreachable(err) && !listsNone(err)))
	host.SetConditions(condition(v1alpha1.ConditionReachable, corev1.ConditionFalse, t.reason, t.message))
	switch {
	case enrolled:
		host.SetConditions(xpv2.Available())
	default:
		host.SetConditions(condition(xpv2.TypeReady, corev1.ConditionFalse, t.reason, t.message))
	}
	if c, ok := cleaned(host); ok {
		host.SetConditions(c)
	}
}

// showConnection puts on the host how its BMC is talked to.
func showConnection(b *v1alpha1.BMCFacts, c redfish.Connection) {
	b.TLSVerify, b.TLSVersion, b.Auth = string(c.Verify), c.TLSVersion, string(c.Auth)
}

// showSystems puts the Systems on the host that a person has to choose from: none,
// where that isn't what's wrong any more.
func showSystems(o *v1alpha1.RedfishHostObservation, err error) {
	o.Systems = nil
	var e *redfish.Error
	if !errors.As(err, &e) {
		return
	}
	for _, c := range e.Systems {
		can := "No"
		if c.CanReset {
			can = "Yes"
		}
		o.Systems = append(o.Systems, v1alpha1.SystemFacts{
			ID: c.ID, URI: c.URI, Serial: c.Serial, UUID: c.UUID, Model: c.Model, Power: powerState(c.Power), CanReset: can,
		})
	}
}

// PollSoon says whether an act of the host, or the machine itself, is on its
// way, so that its end should be looked for soon and not at the next poll. What
// the BMC refuses is told again by the pace of errors.
func PollSoon(host *v1alpha1.RedfishHost) bool {
	p, j := host.Status.AtProvider.Power, parseJournal(host.GetAnnotations()[v1alpha1.AnnotationJournal])
	between := p == v1alpha1.PoweringOn || p == v1alpha1.PoweringOff

	moving := !j.newer() && j.pending() && !waiting(*j.Act, "").refused

	return moving || !j.newer() && j.trying() || (between && !j.gaveUp())
}
