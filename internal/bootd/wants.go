package bootd

import (
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/artifacts"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

// wants says how much the files are needed that plans name, and those that profiles do.
func wants(st *boot.State, ahead []boot.Artifact) map[boot.Artifact]artifacts.Level {
	all := map[boot.Artifact]artifacts.Level{}
	for _, a := range ahead {
		all[a] = artifacts.ByProfile
	}
	plans := st.Packed()
	if len(st.Sessions) > 0 {
		for _, p := range plans.Scan() {
			want(all, p, st)
		}
		return all
	}
	used := make([]bool, len(plans.Shapes())) // A hall has few, and without sessions that's all that counts.
	for shape := range plans.Rows() {
		used[shape] = true
	}
	for i, p := range plans.Shapes() {
		if used[i] {
			want(all, p, st)
		}
	}
	return all
}

// want notes how much the files of a plan of a state are needed.
func want(all map[boot.Artifact]artifacts.Level, p *boot.Plan, st *boot.State) {
	level := artifacts.ByPlan
	if wanted(p, st.Sessions[p.EntryUID]) {
		level = artifacts.Soon
	}
	for _, f := range p.Artifacts {
		for a := range gate.Files(f) {
			all[a] = max(all[a], level)
		}
	}
}

// wanted says whether a machine may ask for its files soon.
func wanted(p *boot.Plan, s boot.Session) bool {
	if p.Mode == boot.ModeLive {
		return true
	}
	if installing(s) && time.Since(s.Consumed.At) < session.OneBoot {
		return true // It may come back for the rest of its image. One that never reports doesn't keep its place for ever.
	}
	return unused(s)
}
