package bootspec

import (
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

const (
	// maxAhead files are fetched before a machine asks for them, maxAheadOfOne of one namespace's profiles: whoever may write profiles
	// takes nothing from others.
	maxAhead      = 1024
	maxAheadOfOne = 128
)

// ProfileFiles are all files of a BootProfile.
type ProfileFiles struct {
	Name  boot.Name
	Files []boot.Artifact
}

// FilesOf a profile. One that nobody may boot has none.
func FilesOf(p *v1alpha1.BootProfile) ProfileFiles {
	out := ProfileFiles{Name: boot.Name{Namespace: p.Namespace, Name: p.Name}}
	if a := p.Spec.AllowedNamespaces; a != nil && a.From == v1alpha1.AllowedFromNone {
		return out
	}
	pull := PullSecretOf(p)
	for _, a := range p.Spec.Artifacts {
		if a.Kernel != nil {
			out.Files = append(out.Files, artifact(*a.Kernel, pull))
		}
		for _, i := range a.Initrds {
			out.Files = append(out.Files, artifact(i, pull))
		}
		if a.Image != nil {
			out.Files = append(out.Files, boot.Image{Artifact: artifact(a.Image.Artifact, pull), Format: a.Image.Format}.Source())
		}
		if iso := isoOf(a.ISO, pull); iso != nil {
			out.Files = append(out.Files, *iso)
		}
		if pi := raspberryPi(a.RaspberryPi, pull); pi != nil {
			for _, f := range pi.Files {
				out.Files = append(out.Files, f.Artifact)
			}
		}
	}
	return out
}

// Ahead are the files that are worth fetching before any machine's plan names them: those of profiles of namespaces whose profiles may
// boot here. Each is there once.
func Ahead(profiles []ProfileFiles, mayBoot func(namespace string) bool) []boot.Artifact {
	slices.SortFunc(profiles, func(a, b ProfileFiles) int { return strings.Compare(a.Name.String(), b.Name.String()) })
	var out []boot.Artifact
	seen, of := map[boot.Artifact]bool{}, map[string]int{}
	for _, p := range profiles {
		if len(p.Files) == 0 || !mayBoot(p.Name.Namespace) {
			continue
		}
		for _, a := range p.Files {
			if seen[a] || of[p.Name.Namespace] == maxAheadOfOne || len(out) == maxAhead {
				continue
			}
			seen[a] = true
			of[p.Name.Namespace]++
			out = append(out, a)
		}
	}
	return out
}
