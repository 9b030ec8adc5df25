package boot

import (
	"slices"
	"time"
)

// note takes in what Plain and Newest say of a plan.
func (s *State) note(p *Plan) {
	s.plain = s.plain && p.Plain()
	if p.Since.After(s.newest) {
		s.newest = p.Since
	}
}

// Plain says whether none of the plans has to do with an install or a Secret.
func (s *State) Plain() bool {
	return s.plain && (s.late == nil || !slices.ContainsFunc(s.late.plans, func(p *Plan) bool { return !p.Plain() }))
}

// Newest is since when the plan is there that came last.
func (s *State) Newest() time.Time {
	newest := s.newest
	if s.late != nil {
		for _, p := range s.late.plans {
			if p.Since.After(newest) {
				newest = p.Since
			}
		}
	}
	return newest
}

// Plain says whether a plan asks for no install, was never installed and is given no Secret.
func (p *Plan) Plain() bool {
	return p.InstallGeneration == 0 && p.InstalledGeneration == 0 && p.UserDataSecret == "" && p.UserDataDigest == ""
}
