package kubesource

import (
	"slices"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootspec"
)

// network is a segment that this bootd serves, and whose profiles may boot there.
type network struct {
	segment  boot.Segment
	profiles *v1alpha1.AllowedNamespaces
}

// segments that are served, in the order of their names.
func (t *tables) segments() []boot.Segment {
	var all []boot.Segment
	for _, n := range t.networks.all() {
		all = append(all, n.segment)
	}
	slices.SortFunc(all, func(a, b boot.Segment) int { return compareNames(a.Name, b.Name) })
	return all
}

// served are those segments, as the state has them where it has them already: with all subnets that machines are answered on.
func (s *Source) served(t *tables) []boot.Segment {
	all, st := t.segments(), s.State()
	if st == nil {
		return all
	}
	for i := range all {
		g, _ := st.Segment(all[i].Name)
		if n := len(all[i].Subnets); len(g.Subnets) > n && slices.Equal(g.Subnets[:n], all[i].Subnets) {
			all[i].Subnets, all[i].Kept = g.Subnets, g.Kept
		}
	}
	return all
}

func covering(segments []boot.Segment, plans []boot.Plan) []boot.Segment {
	return boot.Covering(segments, func(yield func(*boot.Plan) bool) {
		for i := range plans {
			if !yield(&plans[i]) {
				return
			}
		}
	})
}

func profileFiles(o Object) (bootspec.ProfileFiles, bool) {
	p, ok := o.(*v1alpha1.BootProfile)
	if !ok {
		return bootspec.ProfileFiles{}, false
	}
	return bootspec.FilesOf(p), true
}

// Ahead are the files of profiles that a served network lets boot: they're fetched before a machine asks for them.
func (s *Source) Ahead() []boot.Artifact {
	if t := s.t.Load(); t != nil {
		return t.ahead()
	}
	return nil
}

// profilesChanged makes a new state where other files are to be fetched. Mostly it's but the status of a profile that changed.
func (s *Source) profilesChanged(t *tables) {
	is := t.ahead()
	s.mu.Lock()
	was := s.ahead
	s.ahead = is
	s.mu.Unlock()
	if !slices.Equal(was, is) {
		poke(s.rebuild)
	}
}

func (t *tables) ahead() []boot.Artifact {
	networks := t.networks.all()
	return bootspec.Ahead(t.profiles.all(), func(namespace string) bool {
		return slices.ContainsFunc(networks, func(n network) bool {
			return n.profiles.Allows(namespace, n.segment.Namespace, v1alpha1.AllowedFromSame)
		})
	})
}
