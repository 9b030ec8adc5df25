package specdir

import (
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// sinceWhen an entry is there: since its newest grant, or since the folder was first read with it, which is now.
func (s *Source) sinceWhen(now time.Time) func(uid string) time.Time {
	return func(uid string) time.Time {
		if t, ok := s.since[uid]; ok {
			return t
		}
		t := now
		if s.site.state != nil {
			if g := s.site.state.grantOf(&boot.Plan{EntryUID: uid}); g != nil {
				t = g.At
			}
		}
		s.since[uid] = t
		return t
	}
}

// recorded says whether the newest record of a machine, at either place, is of this entry.
func (s *Source) recorded(p *boot.Plan) bool {
	known := s.site.records(p)
	for _, r := range []remembered{known.state, known.spec} {
		if r.granted != nil && r.granted.EntryUID == p.EntryUID || r.installed != nil && r.installed.EntryUID == p.EntryUID {
			return true
		}
	}
	return false
}
