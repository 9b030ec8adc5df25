package specdir

import (
	"slices"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootspec"
)

// Ahead are the files of profiles that a served network lets boot: they're fetched before a machine asks for them. It's for whoever is told
// of a new state, while it's told.
func (s *Source) Ahead() []boot.Artifact { return s.world.ahead }

func (p *parts) ahead(networks []*v1alpha1.BootNetwork) []boot.Artifact {
	all := make([]bootspec.ProfileFiles, 0, len(p.profiles))
	for _, x := range p.profiles {
		all = append(all, bootspec.FilesOf(x))
	}
	return bootspec.Ahead(all, func(namespace string) bool {
		return slices.ContainsFunc(networks, func(n *v1alpha1.BootNetwork) bool {
			return n.Spec.AllowedProfileNamespaces.Allows(namespace, n.Namespace, v1alpha1.AllowedFromSame)
		})
	})
}

// serve takes in the networks that are served here, and what may boot on them.
func (w *world) serve(p parts, node map[string]string) {
	var networks []*v1alpha1.BootNetwork
	for n, x := range p.networks {
		g, served, err := bootspec.SegmentOf(x, node)
		if err != nil {
			key := "BootNetwork " + n.String()
			w.problems[key] = p.places[key] + ": " + err.Error()
		}
		if err == nil && served {
			w.segments, networks = append(w.segments, g), append(networks, x)
		}
	}
	w.ahead = p.ahead(networks)
}

// sortSegments puts them into the order in which they're served.
func (w *world) sortSegments() {
	slices.SortFunc(w.segments, func(a, b boot.Segment) int { return compare(a.Name, b.Name) })
}
