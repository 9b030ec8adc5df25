package specdir

import (
	"slices"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// grantOf is the newest record that touches a machine; nil where there's none.
func (j *journal) grantOf(p *boot.Plan) *grantLine {
	j.mu.Lock()
	defer j.mu.Unlock()
	return last(j.granted, p)
}

// installOf is the newest record of an install that touches a machine; nil where there's none.
func (j *journal) installOf(p *boot.Plan) *installLine {
	j.mu.Lock()
	defer j.mu.Unlock()
	return last(j.installed, p)
}

func last[T any](all map[machineKey]newest[T], p *boot.Plan) *T {
	if len(all) == 0 {
		return nil
	}
	var found newest[T]
	for k := range keys(p.EntryUID, p.MACs) {
		if n, ok := all[k]; ok && n.number > found.number {
			found = n
		}
	}
	return found.line
}

func (g *grantLine) record() *boot.GrantRecord {
	if g == nil {
		return nil
	}
	return &boot.GrantRecord{
		EntryUID: g.EntryUID, HostUID: g.HostUID, Generation: g.Generation, GrantID: g.GrantID, SessionUID: g.SessionUID, Issuing: g.Issuing,
	}
}

func (i *installLine) record() *boot.InstallRecord {
	if i == nil {
		return nil
	}
	return &boot.InstallRecord{EntryUID: i.EntryUID, HostUID: i.HostUID, Generation: i.Generation, PlanDigest: i.PlanDigest, Serial: i.Serial}
}

// installedAs says whether the newest record of an install that touches a machine is this one.
func (j *journal) installedAs(l *installLine) bool {
	known := j.installOf(&boot.Plan{EntryUID: l.EntryUID, MACs: l.MACs})
	return known != nil && known.EntryUID == l.EntryUID && known.HostUID == l.HostUID && known.Generation == l.Generation &&
		known.PlanDigest == l.PlanDigest && known.Serial == l.Serial && slices.Equal(known.MACs, l.MACs)
}
