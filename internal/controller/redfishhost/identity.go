package redfishhost

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// knownAs lists every name that a machine goes by.
func knownAs(i redfish.Identity) []string {
	return slices.DeleteFunc([]string{i.Serial, i.UUID, i.URI}, func(s string) bool { return s == "" })
}

// recognise says whether a machine is the one that the host is.
func recognise(host *v1alpha1.RedfishHost, i redfish.Identity) error {
	r, _ := recordOf(host)
	was, _ := contradiction(r, i)
	switch missing := mute(r, i); {
	case was != "":
		return errIdentityChanged
	case missing != "":
		return silentError{missing}
	case renamedFrom(host, i) == "":
		return nil
	case silent(host, i):
		return silentError{"serial number"}
	default:
		return errIdentityChanged
	}
}

// changedFrom names the machine that this host was, and the one that its BMC
// shows now; was is "" where they are the same.
func changedFrom(host *v1alpha1.RedfishHost, i redfish.Identity) (was, is string) {
	r, _ := recordOf(host)
	if was, is := contradiction(r, i); was != "" {
		return was, is
	}

	return renamedFrom(host, i), i.Name()
}

// renamedFrom says which machine this host was, when the BMC shows another one
// now: "" when it is the same. It is told by the external name, and by the
// serials of what was granted and installed, which outlive a mistaken rename.
func renamedFrom(host *v1alpha1.RedfishHost, i redfish.Identity) string {
	was := []string{meta.GetExternalName(host)}
	var granted v1alpha1.GrantRecord
	if json.Unmarshal([]byte(host.GetAnnotations()[v1alpha1.AnnotationGranted]), &granted) == nil {
		was = append(was, granted.Serial)
	}
	var installed v1alpha1.InstalledRecord
	if json.Unmarshal([]byte(host.GetAnnotations()[v1alpha1.AnnotationInstalled]), &installed) == nil {
		was = append(was, installed.Serial)
	}
	r, _ := recordOf(host)
	for _, name := range was {
		if excused(r, i) && redfish.SameUUID(name, r.UUID) {
			continue // It was named before it told its serial, by a UUID that was lent.
		}
		// A serial number doesn't have the shape of a UUID.
		same := func(s string) bool { return strings.EqualFold(s, name) || s == i.UUID && redfish.SameUUID(s, name) }
		// What older versions took for a serial number isn't one.
		if redfish.CleanSerial(name) != "" && !slices.ContainsFunc(knownAs(i), same) {
			return name
		}
	}

	return ""
}

// errSilent is a machine that doesn't say who it is at the moment, as BMCs do
// while they start. That is no other machine: nothing is written until it says.
var errSilent = redfish.Unreachablef("the BMC doesn't tell which machine it is at the moment")

// silentError is errSilent with what is missing, such as serial number.
type silentError struct{ missing string }

// Error implements error.
func (s silentError) Error() string {
	return "the BMC doesn't tell the machine's " + s.missing + " at the moment"
}

// Unwrap returns errSilent.
func (silentError) Unwrap() error { return errSilent }

// errUnlisted is of a BMC that has let us in to a machine before, and lists none just
// now, as BMCs do while they start.
var errUnlisted = redfish.Unreachablef("the BMC lists no machine at the moment")

// notListed is err, or errUnlisted where a BMC lists nothing at all for a machine that
// was known.
func notListed(host *v1alpha1.RedfishHost, err error) error {
	if _, recorded := recordOf(host); recorded && (listsNone(err) || redfish.IsNotFound(err)) {
		return errUnlisted
	}

	return err
}

// listsNone says whether a BMC has a list of Systems without any.
func listsNone(err error) bool {
	e, ok := errors.AsType[*redfish.Error](err)

	return ok && e.Kind == redfish.NoSystem && e.Count == 0
}

// silent says whether the serial that a host is known by is missing just now,
// and nothing else speaks for another machine.
func silent(host *v1alpha1.RedfishHost, i redfish.Identity) bool {
	was := host.Status.AtProvider.Identity
	sameRest := (i.UUID == "" || was.UUID == "" || redfish.SameUUID(i.UUID, was.UUID)) && strings.EqualFold(i.URI, was.SystemURI)

	return i.Serial == "" && redfish.CleanSerial(was.Serial) != "" && sameRest
}

// selectorOf says which System of its BMC a host means: by spec.forProvider.system,
// and by the address where that is a System's own.
func selectorOf(p v1alpha1.RedfishHostParameters) (redfish.Selector, error) {
	var s redfish.Selector
	if p.System != nil {
		s = redfish.Selector{ID: p.System.ID, UUID: p.System.UUID, Serial: p.System.Serial}
	}
	a, err := redfish.ParseAddress(p.Address)
	switch {
	case err != nil:
		return s, err //nolint:wrapcheck // The caller asks for its kind.
	case a.System != "" && s.ID != "" && !strings.EqualFold(a.System, s.ID):
		return s, redfish.Invalidf("cannot use BMC address %q: it names System %q, and spec.forProvider.system.id says %q; leave one of them out", p.Address, a.System, s.ID)
	}
	s.ID = or(s.ID, a.System)

	return s, nil
}

// duplicateBySpec returns the older host that names the same BMC and may mean
// the same System, before anything is asked of the BMC.
func duplicateBySpec(host *v1alpha1.RedfishHost, others []v1alpha1.RedfishHost) *v1alpha1.RedfishHost {
	return older(host, others, func(o *v1alpha1.RedfishHost) bool {
		return !squats(host, o) && sameBMC(host, o) && maySelectSame(host, o)
	})
}

// squats says whether another namespace's host only names a BMC, that never let
// it in: by a wrong password, a missing config and the like. A tenant who is
// first to write an address down mustn't keep the machine's owner from it.
func squats(host, o *v1alpha1.RedfishHost) bool {
	c := o.GetCondition(v1alpha1.ConditionReachable)

	return o.GetNamespace() != host.GetNamespace() && meta.GetExternalName(o) == "" &&
		c.Status == corev1.ConditionFalse && c.Reason != v1alpha1.ReasonUnreachable
}

// duplicateByIdentity returns the older host that is the same machine. Several
// Systems of one BMC may share their chassis' serial: behind one BMC the
// System's URI decides. So may nodes that have a BMC each, and there the UUID does,
// unless it was lent anew since the other host was looked at.
func duplicateByIdentity(host *v1alpha1.RedfishHost, i redfish.Identity, others []v1alpha1.RedfishHost) *v1alpha1.RedfishHost {
	return older(host, others, func(o *v1alpha1.RedfishHost) bool { return wasMachine(host, i, o) })
}

// wasMachine says whether the machine i of a host was another host's when that was
// looked at last.
func wasMachine(host *v1alpha1.RedfishHost, i redfish.Identity, o *v1alpha1.RedfishHost) bool {
	was := o.Status.AtProvider.Identity
	if sameBMC(host, o) {
		return was.SystemURI != "" && strings.EqualFold(was.SystemURI, i.URI)
	}
	if differ(i.UUID, was.UUID, redfish.SameUUID) {
		r, _ := recordOf(o)

		return reissued(r, i) && strings.EqualFold(r.URI, i.URI) && r.BMCUUID != "" && redfish.SameUUID(r.BMCUUID, bmcUUIDOf(host, i))
	}

	return i.Serial != "" && strings.EqualFold(i.Serial, was.Serial) || i.UUID != "" && was.UUID != ""
}

// bmcUUIDOf is the UUID of the BMC behind which a host's machine is, as far as it's
// known.
func bmcUUIDOf(host *v1alpha1.RedfishHost, i redfish.Identity) string {
	r, _ := recordOf(host)

	return or(i.BMCUUID, r.BMCUUID)
}

func sameBMC(a, b *v1alpha1.RedfishHost) bool {
	x, y := bmcOf(a), bmcOf(b)

	return x != "" && x == y
}

// bmcOf is the key of a host's BMC; "" where its address can't be used.
func bmcOf(host *v1alpha1.RedfishHost) string {
	key, err := redfish.Endpoint(host.Spec.ForProvider.Address)
	if err != nil {
		return ""
	}

	return key
}

// maySelectSame says whether two selectors of one BMC can mean one System:
// where either leaves it open, or both say the same.
func maySelectSame(a, b *v1alpha1.RedfishHost) bool {
	x, errX := selectorOf(a.Spec.ForProvider)
	y, errY := selectorOf(b.Spec.ForProvider)
	if errX != nil || errY != nil || x == (redfish.Selector{}) || y == (redfish.Selector{}) {
		return true
	}

	return strings.EqualFold(x.ID, y.ID) && strings.EqualFold(x.UUID, y.UUID) && strings.EqualFold(x.Serial, y.Serial)
}

// older returns the oldest of the others that match and came before host: by
// creation, and within its second the one that has been let in by its BMC, then
// by UID, so that two hosts agree on which of them is later.
func older(host *v1alpha1.RedfishHost, others []v1alpha1.RedfishHost, match func(*v1alpha1.RedfishHost) bool) *v1alpha1.RedfishHost {
	var found *v1alpha1.RedfishHost
	for i := range others {
		o := &others[i]
		if o.GetUID() != host.GetUID() && before(o, host) && match(o) && (found == nil || before(o, found)) {
			found = o
		}
	}

	return found
}

func before(a, b *v1alpha1.RedfishHost) bool {
	x, y := a.GetCreationTimestamp(), b.GetCreationTimestamp()
	if !x.Equal(&y) {
		return x.Before(&y)
	}
	if enrolled := meta.GetExternalName(a) != ""; enrolled != (meta.GetExternalName(b) != "") {
		return enrolled
	}

	return a.GetUID() < b.GetUID()
}
