package boot

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestDecide(t *testing.T) {
	granted := session
	cases := map[string]struct {
		reason string
		facts  Facts
		want   Decision
	}{
		"Granted": {
			reason: "A live grant for exactly this host, entry, generation and plan installs.",
			facts:  Facts{Plan: plan(), Session: granted(), Synced: true},
			want:   Decision{AnswerInstall, DecidedGranted},
		},
		"UnknownMachine": {
			reason: "A machine without a plan is held.",
			facts:  Facts{Synced: true},
			want:   Decision{AnswerHold, DecidedUnknown},
		},
		"NotSynced": {
			reason: "An API outage or a lagging replica never lets an install start.",
			facts:  Facts{Plan: plan(), Session: granted()},
			want:   Decision{AnswerHold, DecidedNotSynced},
		},
		"ClockSkew": {
			reason: "Whoever doesn't know what time it is knows of no grant whether it has expired, and installs by none.",
			facts:  Facts{Plan: plan(), Session: granted(), Synced: true, Skewed: true},
			want:   Decision{AnswerHold, DecidedClockSkew},
		},
		"ClockSkewExpired": {
			reason: "Nor is it to say that it has.",
			facts:  Facts{Now: noon.AddDate(1, 0, 0), Plan: plan(), Session: granted(), Synced: true, Skewed: true},
			want:   Decision{AnswerHold, DecidedClockSkew},
		},
		"ClockSkewInstalled": {
			reason: "An installed machine boots its disk, whatever time it is.",
			facts:  Facts{Plan: plan(func(p *Plan) { p.InstalledGeneration = 1 }), Session: granted(), Synced: true, Skewed: true},
			want:   Decision{AnswerLocalDisk, DecidedInstalled},
		},
		"NoSession": {
			reason: "A missing record means hold.",
			facts:  Facts{Plan: plan(), Synced: true},
			want:   Decision{AnswerHold, DecidedNoSession},
		},
		"NoSessionButInstalled": {
			reason: "A machine that the provider knows as installed boots its disk, whatever became of the session.",
			facts:  Facts{Plan: plan(func(p *Plan) { p.InstalledGeneration = 1 }), Synced: true},
			want:   Decision{AnswerLocalDisk, DecidedInstalled},
		},
		"NoGrant": {
			reason: "Nothing granted: the disk, as the entry says.",
			facts:  Facts{Plan: plan(), Session: granted(func(s *Session) { s.Grant = nil }), Synced: true},
			want:   Decision{AnswerLocalDisk, DecidedNoGrant},
		},
		"NoGrantHold": {
			reason: "Nothing granted: hold, as the entry says.",
			facts:  Facts{Plan: plan(func(p *Plan) { p.Otherwise = OtherwiseHold }), Session: granted(func(s *Session) { s.Grant = nil }), Synced: true},
			want:   Decision{AnswerHold, DecidedNoGrant},
		},
		"GenerationZero": {
			reason: "Nothing was asked for.",
			facts:  Facts{Plan: plan(func(p *Plan) { p.InstallGeneration = 0 }), Session: granted(), Synced: true},
			want:   Decision{AnswerLocalDisk, DecidedDisk},
		},
		"OtherHost": {
			reason: "A grant for another machine isn't this one's.",
			facts:  Facts{Plan: plan(func(p *Plan) { p.HostUID = "other" }), Session: granted(), Synced: true},
			want:   Decision{AnswerHold, DecidedStale},
		},
		"OtherEntry": {
			reason: "A grant for another entry, such as one of the same name, isn't this one's.",
			facts:  Facts{Plan: plan(), Session: granted(func(s *Session) { s.Grant.EntryUID = "other" }), Synced: true},
			want:   Decision{AnswerHold, DecidedStale},
		},
		"OtherGeneration": {
			reason: "A grant of an earlier generation waits for the new one.",
			facts:  Facts{Plan: plan(func(p *Plan) { p.InstallGeneration = 2 }), Session: granted(), Synced: true},
			want:   Decision{AnswerHold, DecidedStale},
		},
		"OtherPlan": {
			reason: "An edited profile isn't what was granted.",
			facts:  Facts{Plan: plan(func(p *Plan) { p.CommandLine = []string{"new"} }), Session: granted(), Synced: true},
			want:   Decision{AnswerHold, DecidedStale},
		},
		"Expired": {
			reason: "A late machine isn't installed.",
			facts:  Facts{Now: noon.Add(2 * time.Hour), Plan: plan(), Session: granted(), Synced: true},
			want:   Decision{AnswerLocalDisk, DecidedExpired},
		},
		"Consumed": {
			reason: "A used grant isn't used again.",
			facts:  Facts{Plan: plan(), Session: granted(opened("1"), consumedBy("1")), Synced: true},
			want:   Decision{AnswerLocalDisk, DecidedConsumed},
		},
		"ConsumedByLog": {
			reason: "A restored etcd forgot the use; this bootd's own log didn't.",
			facts: Facts{Plan: plan(), Session: granted(), Synced: true, Log: []Consumption{
				{GrantID: "00000000000000a1", HostUID: "host", EntryUID: "entry", Generation: 1},
			}},
			want: Decision{AnswerLocalDisk, DecidedConsumed},
		},
		"GenerationConsumedByLog": {
			reason: "A restored provider granted the same generation anew, under a new id.",
			facts: Facts{Plan: plan(), Session: granted(), Synced: true, Log: []Consumption{
				{GrantID: "00000000000000ff", HostUID: "host", EntryUID: "entry", Generation: 1},
			}},
			want: Decision{AnswerLocalDisk, DecidedConsumed},
		},
		"OthersInLog": {
			reason: "What other machines used doesn't matter.",
			facts: Facts{Plan: plan(), Session: granted(), Synced: true, Log: []Consumption{
				{GrantID: "00000000000000ff", HostUID: "host2", EntryUID: "entry2", Generation: 9},
			}},
			want: Decision{AnswerInstall, DecidedGranted},
		},
		"Installed": {
			reason: "The second boot is from the disk.",
			facts:  Facts{Plan: plan(), Session: granted(consumedBy("1"), installed), Synced: true},
			want:   Decision{AnswerLocalDisk, DecidedInstalled},
		},
		"InstalledInOutage": {
			reason: "An API outage never stops a provisioned machine from booting its disk.",
			facts:  Facts{Plan: plan(), Session: granted(consumedBy("1"), installed)},
			want:   Decision{AnswerLocalDisk, DecidedInstalled},
		},
		"RaisedAfterInstall": {
			reason: "A raised generation with its own grant installs once more.",
			facts: Facts{
				Plan: plan(func(p *Plan) { p.InstallGeneration = 2 }), Synced: true,
				Session: granted(consumedBy("1"), installed, func(s *Session) { s.Grant.ID, s.Grant.Generation = "00000000000000a2", 2 }),
			},
			want: Decision{AnswerInstall, DecidedGranted},
		},
		"BootLoop": {
			reason: "A machine that keeps asking and never begins is stopped.",
			facts:  Facts{Plan: plan(), Session: granted(opened("1", "2", "3", "4", "5")), Synced: true},
			want:   Decision{AnswerHold, DecidedBootLoop},
		},
		"Revoked": {
			reason: "A closed session gives nothing at all.",
			facts:  Facts{Plan: plan(), Session: granted(func(s *Session) { s.Revocation = "r" }), Synced: true},
			want:   Decision{AnswerHold, DecidedRevoked},
		},
		"NoArtifacts": {
			reason: "A machine of an architecture without files isn't installed with another's.",
			facts:  Facts{Plan: plan(), Session: granted(), Synced: true, Arch: ARM64},
			want:   Decision{AnswerHold, DecidedNoArtifacts},
		},
		"Live": {
			reason: "A live machine needs no grant.",
			facts:  Facts{Plan: plan(func(p *Plan) { p.Mode, p.Method = ModeLive, MethodKernel })},
			want:   Decision{AnswerLive, DecidedLive},
		},
		"LiveNoArtifacts": {
			reason: "A live machine of another architecture is held.",
			facts:  Facts{Plan: plan(func(p *Plan) { p.Mode = ModeLive }), Arch: ARM64},
			want:   Decision{AnswerHold, DecidedNoArtifacts},
		},
		"LiveRevoked": {
			reason: "A live machine whose claim is going gets no kernel.",
			facts:  Facts{Plan: plan(func(p *Plan) { p.Mode = ModeLive }), Session: granted(func(s *Session) { s.Revocation = "r" })},
			want:   Decision{AnswerHold, DecidedRevoked},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := tc.facts
			if f.Now.IsZero() {
				f.Now = noon
			}
			if f.Arch == "" {
				f.Arch = AMD64
			}
			if diff := cmp.Diff(tc.want, Decide(f)); diff != "" {
				t.Errorf("%s\nDecide(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestOnlyAGrantInstalls takes every fact of an install away, one at a time: none may be missed.
func TestOnlyAGrantInstalls(t *testing.T) {
	whole := func() Facts {
		return Facts{Now: noon, Plan: plan(), Session: session(), Synced: true, Arch: AMD64}
	}
	if d := Decide(whole()); d.Answer != AnswerInstall {
		t.Fatalf("the whole facts give %v", d)
	}
	without := map[string]func(*Facts){
		"Plan":       func(f *Facts) { f.Plan = nil },
		"Session":    func(f *Facts) { f.Session = nil },
		"Grant":      func(f *Facts) { f.Session.Grant = nil },
		"Host":       func(f *Facts) { f.Session.Grant.HostUID = "" },
		"Entry":      func(f *Facts) { f.Session.Grant.EntryUID = "" },
		"Generation": func(f *Facts) { f.Session.Grant.Generation = 0 },
		"Digest":     func(f *Facts) { f.Session.Grant.PlanDigest = "" },
		"Expiry":     func(f *Facts) { f.Session.Grant.Expires = time.Time{} },
		"Sync":       func(f *Facts) { f.Synced = false },
		"Files":      func(f *Facts) { f.Plan.Artifacts = nil },
	}
	for name, take := range without {
		f := whole()
		take(&f)
		if d := Decide(f); d.Answer == AnswerInstall {
			t.Errorf("without %s the machine is installed", name)
		}
	}
}
