package bootentry

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"sort"
	"strings"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// problem is why there's no plan, in the tenant's words.
type problem struct {
	reason  xpv2.ConditionReason
	message string
	// mac or address is what another has, where that's the problem.
	mac, address string
}

func no(reason xpv2.ConditionReason, format string, args ...any) *problem {
	return &problem{reason: reason, message: fmt.Sprintf(format, args...)}
}

// resolve makes the plan of an entry from its inputs, or says what is missing. machine says whether the
// machine and its address at least are known and still the entry's own.
func resolve(in inputs) (plan *boot.Plan, prob *problem) {
	for _, check := range []func(inputs) *problem{checkNetwork, checkMachine, checkProfile, checkAddress, checkData} {
		if p := check(in); p != nil {
			return nil, p
		}
	}
	addr, p := addressOf(in)
	if p != nil {
		return nil, p
	}
	r, bp := boot.Resolve(entryOf(in, addr), profileOf(in.profile), segmentOf(in.network), machineOf(in))
	if bp != nil {
		return nil, no(xpv2.ConditionReason(bp.Reason), "%s", bp.Message)
	}
	for _, check := range []func(inputs, boot.Plan) *problem{checkOwners, checkRivals} {
		if p := check(in, *r); p != nil {
			return nil, p
		}
	}
	return r, nil
}

func checkNetwork(in inputs) *problem {
	e := in.entry
	ref := e.Spec.ForProvider.Networks[0].NetworkRef
	name := or(ref.Namespace, e.Namespace) + "/" + ref.Name
	switch {
	case in.network == nil:
		return no(v1alpha1.ReasonNotFound, "BootNetwork %q isn't there; create it, or name another in networks[0].networkRef", name)
	case !in.network.Spec.AllowedNamespaces.Allows(e.Namespace, in.network.Namespace, v1alpha1.AllowedFromSame):
		return no(v1alpha1.ReasonNotAllowed, "BootNetwork %q doesn't allow namespace %q; its owner must add it to spec.allowedNamespaces", name, e.Namespace)
	}
	return nil
}

func checkMachine(in inputs) *problem {
	e := in.entry
	m := e.Spec.ForProvider.Machine
	if m.HostClaimRef == nil {
		if e.Namespace != in.network.Namespace {
			return no(v1alpha1.ReasonNotAllowed, "machine.macs may be set only in the BootNetwork's own namespace %q; use machine.hostClaimRef", in.network.Namespace)
		}
		return nil
	}
	switch {
	case in.claim == nil:
		return no(v1alpha1.ReasonNotFound, "HostClaim %q isn't there; create it, or name another in machine.hostClaimRef", m.HostClaimRef.Name)
	case !bound(in):
		// Not with the claim's own words: each change of theirs would be one more change of this entry, and
		// Crossplane stops listening to a composite whose parts change too often.
		return no(v1alpha1.ReasonWaitingForBinding, "HostClaim %q isn't bound to a host yet; its status says why", m.HostClaimRef.Name)
	}
	return nil
}

// bound says whether claim and host name each other, by UID.
func bound(in inputs) bool {
	if in.claim == nil || in.host == nil || in.claim.Spec.Bound == nil || in.host.Spec.ClaimRef == nil {
		return false
	}
	return in.claim.Spec.Bound.UID == in.host.UID && in.host.Spec.ClaimRef.UID == in.claim.UID
}

func checkProfile(in inputs) *problem {
	e := in.entry
	ref := e.Spec.ForProvider.ProfileRef
	name := or(ref.Namespace, e.Namespace) + "/" + ref.Name
	switch {
	case in.profile == nil:
		return no(v1alpha1.ReasonNotFound, "BootProfile %q isn't there; create it, or name another in profileRef", name)
	case !in.profile.Spec.AllowedNamespaces.Allows(e.Namespace, in.profile.Namespace, v1alpha1.AllowedFromSame):
		return no(v1alpha1.ReasonNotAllowed, "BootProfile %q doesn't allow namespace %q; its owner must add it to spec.allowedNamespaces", name, e.Namespace)
	case !in.network.Spec.AllowedProfileNamespaces.Allows(in.profile.Namespace, in.network.Namespace, v1alpha1.AllowedFromSame):
		return no(v1alpha1.ReasonNotAllowed, "BootNetwork %q doesn't boot profiles of namespace %q; its owner must add it to spec.allowedProfileNamespaces",
			in.network.Namespace+"/"+in.network.Name, in.profile.Namespace)
	}
	return nil
}

func checkAddress(in inputs) *problem {
	a := in.entry.Spec.ForProvider.Networks[0].Addresses[0]
	if a.Ref == nil {
		if in.entry.Namespace != in.network.Namespace {
			return no(v1alpha1.ReasonNotAllowed, "networks[0].addresses[0].address may be set only in the BootNetwork's own namespace %q; use ref", in.network.Namespace)
		}
		return nil
	}
	if in.address == nil {
		return no(v1alpha1.ReasonWaitingForAddress, "NetBoxIPAddress %q isn't there yet", a.Ref.Name)
	}
	if in.address.Status.AtProvider.Address != "" {
		return nil
	}
	ready, synced := in.address.GetCondition(xpv2.TypeReady), in.address.GetCondition(xpv2.TypeSynced)
	for _, c := range []xpv2.Condition{ready, synced} {
		if c.Message != "" {
			return no(or2(c.Reason, v1alpha1.ReasonWaitingForAddress), "NetBoxIPAddress %q has no address yet: %s", a.Ref.Name, c.Message)
		}
	}
	return no(v1alpha1.ReasonWaitingForAddress, "NetBoxIPAddress %q has no address yet", a.Ref.Name)
}

// or2 keeps a reason that says something, such as Exhausted, and not the runtime's own.
func or2(r, fallback xpv2.ConditionReason) xpv2.ConditionReason {
	if r == "" || slices.Contains([]xpv2.ConditionReason{xpv2.ReasonCreating, xpv2.ReasonUnavailable, xpv2.ReasonReconcileError, xpv2.ReasonReconcileSuccess}, r) {
		return fallback
	}
	return r
}

func checkData(in inputs) *problem {
	if f := in.profile.Spec.UserDataFormat; len(in.entry.Spec.ForProvider.SSHAuthorizedKeys) > 0 && f != v1alpha1.UserDataCloudInit {
		// Said, not left out in silence: whoever gave keys would have a machine that nobody can log in to.
		return no(v1alpha1.ReasonInvalid, "sshAuthorizedKeys come to a machine by cloud-init, and BootProfile %q has userDataFormat %s; name a profile with CloudInit, or remove the keys",
			in.profile.Namespace+"/"+in.profile.Name, or(string(f), string(v1alpha1.UserDataNone)))
	}
	r := in.entry.Spec.ForProvider.UserDataSecretRef
	if r == nil {
		return nil
	}
	if in.userData == nil {
		return no(v1alpha1.ReasonNotFound, "Secret %q isn't there; create it, or name another in userDataSecretRef", r.Name)
	}
	if _, ok := in.userData.Data[r.Key]; !ok {
		return no(v1alpha1.ReasonNotFound, "Secret %q has no key %q; add it, or name another in userDataSecretRef.key", r.Name, r.Key)
	}
	return nil
}

func addressOf(in inputs) (netip.Prefix, *problem) {
	s := in.entry.Spec.ForProvider.Networks[0].Addresses[0].Address
	if in.address != nil {
		s = in.address.Status.AtProvider.Address
	}
	p, err := netip.ParsePrefix(s)
	if err != nil || !p.Addr().Is4() {
		return netip.Prefix{}, no(v1alpha1.ReasonInvalid, "address %q isn't an IPv4 address with its mask, such as 10.77.0.11/24", s)
	}
	return p, nil
}

func entryOf(in inputs, addr netip.Prefix) boot.Entry {
	e, p := in.entry, in.entry.Spec.ForProvider
	out := boot.Entry{
		Name: boot.Name{Namespace: e.Namespace, Name: e.Name}, UID: string(e.UID), Since: e.CreationTimestamp.Time,
		Parameters: p.Parameters, Hostname: p.Hostname, Address: addr,
		InstallGeneration: p.Install.Generation, InstalledGeneration: installedGeneration(in),
		Otherwise: boot.Otherwise(p.Otherwise),
	}
	if data := machineData(in); len(data) > 0 {
		out.UserDataSecret, out.UserDataDigest = copyName(e), boot.DataDigest(data)
	}
	return out
}

// installedGeneration is what is known to be installed on this host, for this entry: by the records, or by the session before they
// are written. A host that lacks the record which its entry has was given back since, and may have been another's.
func installedGeneration(in inputs) int64 {
	uid := string(in.entry.UID)
	var g int64
	if r := installRecord(in.entry.Annotations); r != nil && r.EntryUID == uid && r.HostUID == hostUID(in) {
		if in.host != nil {
			if h := installRecord(in.host.Annotations); h == nil || h.EntryUID != uid {
				return 0
			}
		}
		g = r.Generation
	}
	s := in.session
	if s == nil || s.Status.Installed == nil || s.Spec.EntryUID != uid {
		return g
	}
	if c := s.Status.Consumed; c != nil && c.HostUID != hostUID(in) {
		return g
	}
	return max(g, s.Status.Installed.Generation)
}

// hostUID is the host's own UID, or for raw MACs a hash of them.
func hostUID(in inputs) string {
	if in.host != nil {
		return string(in.host.UID)
	}
	macs := append([]string(nil), in.entry.Spec.ForProvider.Machine.MACs...)
	if len(macs) == 0 {
		return ""
	}
	for i := range macs {
		macs[i] = strings.ToLower(strings.ReplaceAll(macs[i], "-", ":"))
	}
	sort.Strings(macs)
	s := sha256.Sum256([]byte(strings.Join(macs, ",")))
	return "macs-" + hex.EncodeToString(s[:16])
}

func machineOf(in inputs) boot.Machine {
	m := in.entry.Spec.ForProvider.Machine
	if in.host == nil {
		return boot.Machine{HostUID: hostUID(in), MACs: m.MACs, UUID: m.UUID, Serial: m.Serial}
	}
	h := in.host
	out := boot.Machine{
		HostUID: string(h.UID), Bound: true, UUID: h.Status.AtProvider.Identity.UUID, Serial: h.Status.AtProvider.Identity.Serial,
		MACs: append([]string(nil), h.Spec.ForProvider.MACs...), CommandLine: h.Spec.ForProvider.CommandLine,
		LocalBoot: boot.LocalBoot(h.Spec.ForProvider.LocalBoot),
	}
	for _, mac := range h.Status.AtProvider.MACs {
		out.MACs = append(out.MACs, mac.Address)
	}
	return out
}

func profileOf(p *v1alpha1.BootProfile) boot.Profile {
	out := boot.Profile{
		Name: boot.Name{Namespace: p.Namespace, Name: p.Name}, Mode: boot.Mode(p.Spec.Mode), Method: boot.Method(p.Spec.Method),
		UserDataFormat: string(p.Spec.UserDataFormat), CommandLine: p.Spec.CommandLine, Digest: digestOf(p.Spec),
	}
	if t := p.Spec.Timeouts; t != nil && t.Install != nil {
		out.InstallTimeout = t.Install.Duration
	}
	for _, x := range p.Spec.Parameters {
		out.Parameters = append(out.Parameters, boot.Parameter{Name: x.Name, Default: x.Default, Pattern: x.Pattern})
	}
	for _, a := range p.Spec.Artifacts {
		f := boot.Artifacts{Arch: boot.Arch(a.Arch)}
		if a.Kernel != nil {
			f.Kernel = boot.Artifact(*a.Kernel)
		}
		for _, i := range a.Initrds {
			f.Initrds = append(f.Initrds, boot.Artifact(i))
		}
		if a.Image != nil {
			f.Image = &boot.Image{Artifact: boot.Artifact(a.Image.Artifact), Format: a.Image.Format, Compression: a.Image.Compression}
		}
		out.Artifacts = append(out.Artifacts, f)
	}
	return out
}

func segmentOf(n *v1alpha1.BootNetwork) boot.SegmentConfig {
	out := boot.SegmentConfig{
		Name: boot.Name{Namespace: n.Namespace, Name: n.Name}, NTP: addrs(n.Spec.NTP), Domain: n.Spec.Domain, MTU: int(n.Spec.MTU),
	}
	if d := n.Spec.DHCP; d != nil && d.LeaseDuration != nil {
		out.Lease = d.LeaseDuration.Truncate(time.Second)
	}
	for _, s := range n.Spec.Subnets {
		cidr, err := netip.ParsePrefix(s.CIDR)
		if err != nil {
			continue
		}
		gw, _ := netip.ParseAddr(s.Gateway)
		out.Subnets = append(out.Subnets, boot.Subnet{CIDR: cidr, Gateway: gw, DNS: addrs(s.DNS)})
	}
	return out
}

func digestOf(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // API types always marshal.
	}
	s := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(s[:])
}
