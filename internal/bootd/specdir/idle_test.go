package specdir

import (
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// idleYAML is the entry of a machine that is to be installed, with more in its metadata and its spec.
func idleYAML(generation int, metadata, spec string) string {
	return strings.NewReplacer("name: m1}\nspec:\n", "name: m1"+metadata+"}\nspec:\n"+spec).Replace(entryYAML("m1", mac1, "10.77.0.11", generation))
}

// TestIdle: what a cluster grants nothing to gets nothing from a folder either, whichever way it comes in, and is told why. All else goes on.
func TestIdle(t *testing.T) {
	const (
		paused  = `, annotations: {crossplane.io/paused: "true"}`
		deleted = `, deletionTimestamp: "2026-08-01T09:00:00Z"`
	)
	cases := map[string]struct {
		reason         string
		metadata, spec string
		says           string // "": it's installed.
	}{
		"Paused":    {reason: "in a cluster nobody looks at it", metadata: paused, says: "it's paused (annotation crossplane.io/paused); the address that it has and boots from disk go on; remove the annotation"},
		"Unpaused":  {reason: "any other word is none", metadata: `, annotations: {crossplane.io/paused: "false"}`},
		"Deleted":   {reason: "its grant is revoked there", metadata: deleted, says: "it's being deleted (metadata.deletionTimestamp); "},
		"Observed":  {reason: "no session is made for it there", spec: "  managementPolicies: [Observe]\n", says: `it's only observed (spec.managementPolicies is ["Observe"]); `},
		"NoUpdate":  {reason: "a grant is an update", spec: "  managementPolicies: [Observe, Create, Delete]\n", says: "it's only observed"},
		"NoCreate":  {reason: "its session is created", spec: "  managementPolicies: [Observe, Update]\n", says: "it's only observed"},
		"NoObserve": {reason: "Crossplane does nothing without it", spec: "  managementPolicies: [Create, Update]\n", says: "it's only observed"},
		"Nothing":   {reason: "that is a pause, too", spec: "  managementPolicies: []\n", says: "it's only observed (spec.managementPolicies is [])"},
		"All":       {reason: "as kubectl prints most", spec: "  managementPolicies: [\"*\"]\n"},
		"NoDelete":  {reason: "it's created and updated", spec: "  managementPolicies: [Observe, Create, Update, LateInitialize]\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, networkYAML+"---\n"+profileYAML+"---\n"+givenYAML)
			r.start()
			r.write("m.yaml", "\n"+idleYAML(1, tc.metadata, tc.spec)) // It comes alone.
			r.turn()
			r.src.turned = time.Time{} // All is looked at anew, as regularly.
			r.turn()
			for _, when := range []string{"as it comes", "after a restart"} {
				p := r.plan()
				if p == nil || p.Network.Address.Addr().String() != "10.77.0.11" {
					t.Fatalf("%s, %s: it isn't served: %+v", tc.reason, when, p)
				}
				if (r.grant() != nil) != (tc.says == "") || r.src.Held(p) != (tc.says != "") {
					t.Errorf("%s, %s: grant %v, held %t\n%s", tc.reason, when, r.grant(), r.src.Held(p), r.said.String())
				}
				if want := "m.yaml:2: BootEntry lab/m1: nothing is installed on its machine, since " + tc.says; tc.says != "" && !strings.Contains(r.src.Why(p), want) {
					t.Errorf("%s, %s: %q, want %q", tc.reason, when, r.src.Why(p), want)
				}
				r.stop()
				r.start()
			}
			if tc.says == "" {
				return
			}
			if strings.Contains(r.said.String(), "the specs are wrong") || !strings.Contains(r.said.String(), "as its entry has it") {
				t.Errorf("%s: it's said, and isn't wrong:\n%s", tc.reason, r.said.String())
			}
			r.write("m.yaml", entryYAML("m1", mac1, "10.77.0.11", 1))
			r.turn()
			if r.grant() == nil {
				t.Errorf("%s: once its entry lets it, it's installed\n%s", tc.reason, r.said.String())
			}
		})
	}
}

// TestIdleGoesOn: a machine whose entry is paused boots what it would while it waits for a grant: its disk, and where its entry says Hold that alone
// which it's known to have. An entry that asks for no install isn't told of any.
func TestIdleGoesOn(t *testing.T) {
	const paused, hold = `, annotations: {crossplane.io/paused: "true"}`, "    otherwise: Hold\n    install:"
	cases := map[string]struct {
		reason     string
		installed  bool
		generation int
		hold       bool
		want       boot.Answer
		silent     bool
	}{
		"Raised":        {reason: "it was installed, and its generation raised", installed: true, generation: 2, want: boot.AnswerLocalDisk},
		"RaisedHold":    {reason: "it has a system, whatever its entry says otherwise", installed: true, generation: 2, hold: true, want: boot.AnswerLocalDisk},
		"Installed":     {reason: "nothing more is asked for", installed: true, generation: 1, want: boot.AnswerLocalDisk},
		"New":           {reason: "what it has on its disk bootd doesn't know", generation: 1, want: boot.AnswerLocalDisk},
		"NewHold":       {reason: "nor does its entry", generation: 1, hold: true, want: boot.AnswerHold},
		"NothingWanted": {reason: "there's nothing to be held", want: boot.AnswerLocalDisk, silent: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, networkYAML+"---\n"+profileYAML+"---\n"+givenYAML)
			if tc.installed {
				r.write("m.yaml", entryYAML("m1", mac1, "10.77.0.11", 1))
			}
			r.start()
			if tc.installed {
				r.install(true)
			}
			text := idleYAML(tc.generation, paused, "")
			if tc.hold {
				text = strings.Replace(text, "    install:", hold, 1)
			}
			r.write("m.yaml", text)
			r.turn()
			r.turn()
			f := boot.Facts{Now: r.now(), Plan: r.plan(), Log: r.m.Logged(r.plan().EntryUID, r.plan().HostUID), Synced: r.src.Synced(r.plan()), Arch: boot.AMD64}
			if s, ok := r.src.State().Sessions[r.plan().EntryUID]; ok {
				f.Session = &s
			}
			if d := boot.Decide(f); d.Answer != tc.want {
				t.Errorf("%s: %+v, want %s\n%s", tc.reason, d, tc.want, r.said.String())
			}
			if strings.Contains(r.said.String(), "since it's paused") == tc.silent {
				t.Errorf("%s:\n%s", tc.reason, r.said.String())
			}
		})
	}
}

// TestIdleInDoubt: an entry that's paused, and contested as well, is in doubt, and told of that.
func TestIdleInDoubt(t *testing.T) {
	r := newRig(t, networkYAML+"---\n"+profileYAML+"---\n"+givenYAML)
	r.write("m.yaml", idleYAML(1, `, annotations: {crossplane.io/paused: "true"}`, ""))
	r.start()
	r.write("z.yaml", entryYAML("m2", mac1, "10.77.0.12", 1))
	r.turn()
	if p := r.plan(); p == nil || p.Entry.Name != "m1" || p.Otherwise != boot.OtherwiseHold || r.grant() != nil || !strings.Contains(r.src.Why(p), "there twice") {
		t.Errorf("%+v\n%s", p, r.said.String())
	}
	r.says("z.yaml:1: BootEntry lab/m2: Conflict: MAC 52:54:00:00:00:01 is already BootEntry lab/m1's")
}
