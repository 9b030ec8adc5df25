package bootspec

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// PlanStatus writes a plan as BootEntry's status has it.
func PlanStatus(p boot.Plan) *v1alpha1.Plan {
	out := &v1alpha1.Plan{
		Digest: p.Digest(), HostUID: p.HostUID, EntryUID: p.EntryUID, Bound: p.Bound,
		MACs: make([]string, 0, len(p.MACs)), Port: portStatus(p.Port), UUID: p.UUID, Serial: p.Serial, Hostname: p.Hostname,
		Mode: v1alpha1.BootMode(p.Mode), Method: v1alpha1.BootMethod(p.Method), CommandLine: p.CommandLine, Script: p.Script, GrubScript: p.GrubScript,
		UserDataFormat: v1alpha1.UserDataFormat(p.UserDataFormat), UserDataSecret: p.UserDataSecret,
		UserDataDigest: p.UserDataDigest, ProfileDigest: p.ProfileDigest, PullSecret: pullSecret(p),
		InstallGeneration: p.InstallGeneration, Otherwise: v1alpha1.Otherwise(p.Otherwise),
		LocalBoot: v1alpha1.LocalBoot(p.LocalBoot), FirstStage: v1alpha1.FirstStage(p.FirstStage), InstallTimeoutSeconds: int64(p.InstallTimeout / time.Second),
		Network: v1alpha1.PlanNetwork{
			Namespace: p.Network.Namespace, Name: p.Network.Name.Name, Address: p.Network.Address.String(), Gateway: textOf(p.Network.Gateway),
			DNS: texts(p.Network.DNS), NTP: texts(p.Network.NTP), Domain: p.Network.Domain,
			MTU: int32(p.Network.MTU), LeaseSeconds: int64(p.Network.Lease / time.Second), //nolint:gosec // Bounded by the schema.
			Interface: interfaceStatus(p.Network.Interface),
		},
	}
	if six := p.Network.Six; six != nil {
		out.Network.IPv6 = &v1alpha1.PlanPlace{Address: six.Address.String(), Gateway: textOf(six.Gateway), DNS: texts(six.DNS), NTP: texts(six.NTP)}
	}
	if p.SilentInstaller {
		out.InstallerReport = v1alpha1.InstallerReportNone
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
	out := v1alpha1.PlanArtifacts{Arch: v1alpha1.Architecture(a.Arch), Kernel: artifactStatus(a.Kernel)}
	for _, i := range a.Initrds {
		out.Initrds = append(out.Initrds, artifactStatus(i))
	}
	if a.Image != nil {
		out.Image = &v1alpha1.PlanImage{
			URL: a.Image.URL, Digest: a.Image.Digest, Format: a.Image.Format, Compression: a.Image.Compression,
		}
	}
	if a.ISO != nil {
		iso := artifactStatus(*a.ISO)
		out.ISO = &iso
	}
	out.RaspberryPi = planRaspberryPi(a.RaspberryPi)
	return out
}

func artifactStatus(a boot.Artifact) v1alpha1.Artifact {
	return v1alpha1.Artifact{URL: a.URL, Digest: a.Digest}
}

// pullSecret of a plan: all of its files are of one profile.
func pullSecret(p boot.Plan) string {
	if len(p.Artifacts) == 0 {
		return ""
	}
	if iso := p.Artifacts[0].ISO; iso != nil {
		return iso.PullSecret
	}
	return p.Artifacts[0].Kernel.PullSecret
}

// textOf an address; "" where there's none.
func textOf(a netip.Addr) string {
	if !a.IsValid() {
		return ""
	}
	return a.String()
}

func texts(as []netip.Addr) []string {
	var out []string
	for _, a := range as {
		out = append(out, a.String())
	}
	return out
}

// PlanOf gives what an entry's machine is served: its status.atProvider.plan. The bool is false where the
// entry has none. A plan of another UID is an error: it was restored with the status of an object that
// is gone. An entry that is being deleted is served as long as it has a plan.
func PlanOf(e *v1alpha1.BootEntry) (boot.Plan, bool, error) {
	a := e.Status.AtProvider.Plan
	if a == nil {
		return boot.Plan{}, false, nil
	}
	name := boot.Name{Namespace: e.Namespace, Name: e.Name}
	if a.EntryUID != string(e.UID) {
		return boot.Plan{}, false, fmt.Errorf("the plan of BootEntry %q is of another object: it holds UID %q", name, a.EntryUID)
	}
	p := boot.Plan{
		Entry: name, EntryUID: a.EntryUID, HostUID: a.HostUID, Bound: a.Bound, Since: e.CreationTimestamp.Time,
		UUID: a.UUID, Serial: a.Serial, Hostname: a.Hostname, Mode: boot.Mode(a.Mode), Method: boot.Method(a.Method),
		CommandLine: a.CommandLine, Script: a.Script, GrubScript: a.GrubScript, UserDataFormat: string(a.UserDataFormat), UserDataSecret: a.UserDataSecret,
		UserDataDigest: a.UserDataDigest, ProfileDigest: a.ProfileDigest,
		InstallGeneration: a.InstallGeneration, InstalledGeneration: e.Status.AtProvider.InstalledGeneration,
		Otherwise: boot.Otherwise(a.Otherwise), LocalBoot: boot.LocalBoot(a.LocalBoot), FirstStage: boot.FirstStage(a.FirstStage),
		InstallTimeout:  time.Duration(a.InstallTimeoutSeconds) * time.Second,
		SilentInstaller: a.InstallerReport == v1alpha1.InstallerReportNone,
	}
	for _, m := range a.MACs {
		mac, err := boot.ParseMAC(m)
		if err != nil {
			return boot.Plan{}, false, fmt.Errorf("the plan of BootEntry %q: %w", name, err)
		}
		p.MACs = append(p.MACs, mac)
	}
	for _, f := range a.Artifacts {
		p.Artifacts = append(p.Artifacts, artifactsOf(f, a.PullSecret))
	}
	var err error
	if p.Port, err = PortOf(a.Port); err != nil {
		return boot.Plan{}, false, fmt.Errorf("the plan of BootEntry %q: %w", name, err)
	}
	if p.Network, err = networkOf(a.Network); err != nil {
		return boot.Plan{}, false, fmt.Errorf("the plan of BootEntry %q: %w", name, err)
	}
	return p, true, nil
}

func artifactsOf(a v1alpha1.PlanArtifacts, pull string) boot.Artifacts {
	out := boot.Artifacts{Arch: boot.Arch(a.Arch), ISO: isoOf(a.ISO, pull)}
	if out.ISO == nil {
		out.Kernel = artifact(a.Kernel, pull)
	}
	for _, i := range a.Initrds {
		out.Initrds = append(out.Initrds, artifact(i, pull))
	}
	if a.Image != nil {
		out.Image = &boot.Image{
			Artifact: boot.Artifact{URL: a.Image.URL, Digest: a.Image.Digest, PullSecret: pull},
			Format:   a.Image.Format, Compression: a.Image.Compression,
		}
	}
	out.RaspberryPi = planRaspberryPiOf(a.RaspberryPi, pull)
	return out
}

func isoOf(a *v1alpha1.Artifact, pull string) *boot.Artifact {
	if a == nil {
		return nil
	}
	iso := artifact(*a, pull)
	return &iso
}

func networkOf(a v1alpha1.PlanNetwork) (boot.Network, error) {
	n := boot.Network{
		Name: boot.Name{Namespace: a.Namespace, Name: a.Name}, Domain: a.Domain, MTU: int(a.MTU),
		Lease: time.Duration(a.LeaseSeconds) * time.Second, Interface: Interface(a.Interface),
	}
	p, err := placeOf(v1alpha1.PlanPlace{Address: a.Address, Gateway: a.Gateway, DNS: a.DNS, NTP: a.NTP})
	if err != nil {
		return n, err
	}
	n.Address, n.Gateway, n.DNS, n.NTP = p.Address, p.Gateway, p.DNS, p.NTP
	if a.IPv6 != nil {
		six, err := placeOf(*a.IPv6)
		if err != nil {
			return n, err
		}
		n.Six = &six
	}
	return n, nil
}

func placeOf(a v1alpha1.PlanPlace) (p boot.Place, err error) {
	if p.Address, err = netip.ParsePrefix(a.Address); err != nil {
		return p, fmt.Errorf("address %q isn't an address with its mask", a.Address)
	}
	if a.Gateway != "" {
		if p.Gateway, err = netip.ParseAddr(a.Gateway); err != nil {
			return p, fmt.Errorf("gateway %q isn't an address", a.Gateway)
		}
	}
	if p.DNS, err = addressesOf("DNS server", a.DNS); err != nil {
		return p, err
	}
	p.NTP, err = addressesOf("NTP server", a.NTP)
	return p, err
}

func addressesOf(what string, list []string) ([]netip.Addr, error) {
	var out []netip.Addr
	for _, s := range list {
		a, err := netip.ParseAddr(s)
		if err != nil {
			return nil, fmt.Errorf("%s %q isn't an address", what, s)
		}
		out = append(out, a)
	}
	return out, nil
}
