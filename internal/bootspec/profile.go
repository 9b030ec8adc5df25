package bootspec

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// Profile gives a BootProfile as plans need it.
func Profile(p *v1alpha1.BootProfile) boot.Profile {
	out := boot.Profile{
		Name: boot.Name{Namespace: p.Namespace, Name: p.Name}, Mode: boot.Mode(p.Spec.Mode), Method: boot.Method(p.Spec.Method),
		UserDataFormat: string(p.Spec.UserDataFormat), CommandLine: p.Spec.CommandLine, Digest: ProfileDigest(p.Spec),
		ScriptTemplate: p.Spec.ScriptTemplate, GrubTemplate: p.Spec.GrubTemplate,
	}
	if t := p.Spec.Timeouts; t != nil && t.Install != nil {
		out.InstallTimeout = t.Install.Duration
	}
	out.SilentInstaller = p.Spec.Installer != nil && p.Spec.Installer.Report == v1alpha1.InstallerReportNone
	for _, x := range p.Spec.Parameters {
		out.Parameters = append(out.Parameters, boot.Parameter{Name: x.Name, Default: x.Default, Pattern: x.Pattern})
	}
	pull := PullSecretOf(p)
	for _, a := range p.Spec.Artifacts {
		f := boot.Artifacts{Arch: boot.Arch(a.Arch)}
		if a.Kernel != nil {
			f.Kernel = artifact(*a.Kernel, pull)
		}
		for _, i := range a.Initrds {
			f.Initrds = append(f.Initrds, artifact(i, pull))
		}
		if a.Image != nil {
			f.Image = &boot.Image{Artifact: artifact(a.Image.Artifact, pull), Format: a.Image.Format, Compression: a.Image.Compression}
		}
		f.ISO = isoOf(a.ISO, pull)
		f.RaspberryPi = raspberryPi(a.RaspberryPi, pull)
		out.Artifacts = append(out.Artifacts, f)
	}
	return out
}

func artifact(a v1alpha1.Artifact, pull string) boot.Artifact {
	return boot.Artifact{URL: a.URL, Digest: a.Digest, PullSecret: pull}
}

// ProfileDigest of a spec: sha256:…. It says which profile a plan was made with; a plan's own digest doesn't hold it. By which password the
// files are fetched changes nothing on a machine.
func ProfileDigest(spec v1alpha1.BootProfileSpec) string {
	spec.PullSecretRef = nil
	b, err := json.Marshal(spec)
	if err != nil {
		panic(err) // API types always marshal.
	}
	s := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(s[:])
}
