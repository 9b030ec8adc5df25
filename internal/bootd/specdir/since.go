package specdir

import (
	"time"

	"github.com/google/uuid"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// sinces say since when entries are there, by UIDOf: many of them, in little memory.
type sinces map[uuid.UUID]instant

// instant is a time of the wall's clock.
type instant struct {
	seconds     int64
	nanoseconds int32
}

func (i instant) time() time.Time { return time.Unix(i.seconds, int64(i.nanoseconds)).UTC() }

// sinceWhen an entry is there: since its newest grant, or since the folder was first read with it, which is now.
func (s *Source) sinceWhen(now time.Time) func(uid string) time.Time {
	return func(uid string) time.Time {
		key := uuid.MustParse(uid)
		if t, ok := s.since[key]; ok {
			return t.time()
		}
		t := now
		if s.site.state != nil {
			if g := s.site.state.grantOf(&boot.Plan{EntryUID: uid}); g != nil {
				t = g.At
			}
		}
		return s.since.note(uid, t)
	}
}

// note since when an entry is there.
func (s sinces) note(uid string, t time.Time) time.Time {
	i := instant{t.Unix(), int32(t.Nanosecond())} //nolint:gosec // Less than a thousand million.
	s[uuid.MustParse(uid)] = i
	return i.time()
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
