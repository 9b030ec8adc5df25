package bootentry

import (
	"net/netip"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// planStatus writes a plan as BootEntry's status has it.
func planStatus(p boot.Plan) *v1alpha1.Plan {
	out := &v1alpha1.Plan{
		Digest: p.Digest(), HostUID: p.HostUID, EntryUID: p.EntryUID, Bound: p.Bound,
		UUID: p.UUID, Serial: p.Serial, Hostname: p.Hostname,
		Mode: v1alpha1.BootMode(p.Mode), Method: v1alpha1.BootMethod(p.Method), CommandLine: p.CommandLine,
		UserDataFormat: v1alpha1.UserDataFormat(p.UserDataFormat), UserDataSecret: p.UserDataSecret,
		UserDataDigest: p.UserDataDigest, ProfileDigest: p.ProfileDigest,
		InstallGeneration: p.InstallGeneration, Otherwise: v1alpha1.Otherwise(p.Otherwise),
		LocalBoot: v1alpha1.LocalBoot(p.LocalBoot), InstallTimeoutSeconds: int64(p.InstallTimeout / time.Second),
		Network: v1alpha1.PlanNetwork{
			Namespace: p.Network.Namespace, Name: p.Network.Name.Name, Address: p.Network.Address.String(),
			DNS: texts(p.Network.DNS), NTP: texts(p.Network.NTP), Domain: p.Network.Domain,
			MTU: int32(p.Network.MTU), LeaseSeconds: int64(p.Network.Lease / time.Second), //nolint:gosec // Bounded by the schema.
		},
	}
	if p.Network.Gateway.IsValid() {
		out.Network.Gateway = p.Network.Gateway.String()
	}
	for _, m := range p.MACs {
		out.MACs = append(out.MACs, string(m))
	}
	for _, a := range p.Artifacts {
		out.Artifacts = append(out.Artifacts, artifactsStatus(a))
	}
	return out
}

func artifactsStatus(a boot.Artifacts) v1alpha1.PlanArtifacts {
	out := v1alpha1.PlanArtifacts{Arch: v1alpha1.Architecture(a.Arch), Kernel: v1alpha1.Artifact(a.Kernel)}
	for _, i := range a.Initrds {
		out.Initrds = append(out.Initrds, v1alpha1.Artifact(i))
	}
	if a.Image != nil {
		out.Image = &v1alpha1.PlanImage{
			URL: a.Image.URL, Digest: a.Image.Digest, Format: a.Image.Format, Compression: a.Image.Compression,
		}
	}
	return out
}

func texts(as []netip.Addr) []string {
	var out []string
	for _, a := range as {
		out = append(out, a.String())
	}
	return out
}

func addrs(as []string) []netip.Addr {
	var out []netip.Addr
	for _, s := range as {
		if a, err := netip.ParseAddr(s); err == nil {
			out = append(out, a)
		}
	}
	return out
}

// sessionOf reads a BootSession as the domain has it; nil for none.
func sessionOf(s *v1alpha1.BootSession) *boot.Session {
	if s == nil {
		return nil
	}
	out := &boot.Session{
		UID: string(s.UID), EntryUID: s.Spec.EntryUID, Revision: s.ResourceVersion,
		OpenedGrantID: s.Status.OpenedGrantID, Acknowledged: s.Status.AcknowledgedRevocation,
		Installed: resultOf(s.Status.Installed), Failed: resultOf(s.Status.Failed),
	}
	if g := s.Spec.Grant; g != nil {
		out.Grant = &boot.Grant{
			ID: g.ID, HostUID: g.HostUID, EntryUID: g.EntryUID, Generation: g.Generation,
			PlanDigest: g.PlanDigest, Expires: g.Expires.Time,
		}
	}
	if r := s.Spec.Revocation; r != nil {
		out.Revocation = r.ID
	}
	for _, o := range s.Status.Opened {
		out.Opened = append(out.Opened, boot.Opened{Nonce: o.Nonce, At: o.At.Time, By: o.By})
	}
	if c := s.Status.Consumed; c != nil {
		out.Consumed = &boot.Consumption{
			GrantID: c.GrantID, HostUID: c.HostUID, EntryUID: c.EntryUID, Generation: c.Generation,
			PlanDigest: c.PlanDigest, Nonce: c.Nonce, At: c.At.Time, By: c.By,
		}
	}
	return out
}

func resultOf(r *v1alpha1.BootResult) *boot.Result {
	if r == nil {
		return nil
	}
	return &boot.Result{GrantID: r.GrantID, Generation: r.Generation, PlanDigest: r.PlanDigest, At: r.At.Time, Message: r.Message}
}
