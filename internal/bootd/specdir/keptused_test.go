package specdir

import (
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestKeptAndUsed: a machine that used its grant, and whose installer never said that it was done, boots its disk, whatever becomes of its specs: of one that
// used none nothing is known, and it waits. Neither is installed.
func TestKeptAndUsed(t *testing.T) {
	entries := entryYAML("m1", mac1, "10.77.0.11", 1) + "---\n" + entryYAML("m2", mac2, "10.77.0.12", 1)
	wrong := strings.Replace(entries, "generation: 1", "generation: x", 2)
	cases := map[string]struct {
		reason string
		do     func(r *rig)
	}{
		"Wrong":    {"their file is wrong", func(r *rig) { r.write("m.yaml", wrong) }},
		"Profile":  {"their profile is gone", func(r *rig) { r.write("net.yaml", networkYAML+"---\n"+givenYAML) }},
		"Restart":  {"bootd is restarted while it's wrong", func(r *rig) { r.restart(func() { r.write("m.yaml", wrong) }) }},
		"Emptied":  {"and while the folder is empty", func(r *rig) { r.restart(func() { remove(t, r.dir+"/m.yaml"); remove(t, r.dir+"/net.yaml") }) }},
		"Stranger": {"another file is wrong", func(r *rig) { r.write("zz.yaml", "a: b\n c: d\n") }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "")
			r.write("net.yaml", sharedYAML)
			r.write("m.yaml", entries)
			r.start()
			if r.told(mac1) != boot.AnswerInstall || r.told(mac2) != boot.AnswerInstall {
				t.Fatalf("%s, %s\n%s", r.told(mac1), r.told(mac2), r.said.String())
			}
			r.install(false)
			tc.do(r)
			r.turn()
			if one, two := r.told(mac1), r.told(mac2); one != boot.AnswerLocalDisk || two != boot.AnswerHold {
				t.Errorf("%s: who used its grant is told %s, who didn't %s\n%s", tc.reason, one, two, r.said.String())
			}
		})
	}
}

// TestKeptAndHeld: a machine whose entry would have it held meanwhile isn't sent to a disk that's half written, or is to be written, nor is one that it holds
// in any case, by its specs being wrong, or others; nor by restarts.
func TestKeptAndHeld(t *testing.T) {
	at := func(generation int) string { return held(entryYAML("m1", mac1, "10.77.0.11", generation)) }
	wrong := func(generation int) func(r *rig) {
		return func(r *rig) { r.write("m.yaml", strings.Replace(at(generation), "generation: ", "generation: x", 1)) }
	}
	granted := func(r *rig) {
		r.write("m.yaml", at(2))
		if g := r.granted(); g == nil || g.Generation != 2 {
			r.t.Fatalf("%+v\n%s", g, r.said.String())
		}
	}
	zero := func(r *rig) {
		r.write("m.yaml", at(0))
		r.turn()
	}
	cases := map[string]struct {
		reason    string
		do, wrong func(r *rig)
	}{
		"Used":    {"its disk may be half written", func(r *rig) { granted(r); r.install(false) }, wrong(2)},
		"Pending": {"it's to be written", granted, wrong(2)},
		"Asked":   {"and so it is where nothing is granted yet", func(r *rig) { r.write("m.yaml", at(2)); r.src.look() }, wrong(2)},
		"Zero":    {"its entry holds it", zero, wrong(0)},
		"Other":   {"whatever another file says", zero, func(r *rig) { r.write("zz.yaml", "a: b\n c: d\n") }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "")
			r.write("net.yaml", networkYAML+"---\n"+profileYAML+"---\n"+givenYAML)
			r.write("m.yaml", at(1))
			r.start()
			r.install(true)
			tc.do(r)
			tc.wrong(r)
			for restarts := range 3 {
				r.turn()
				if got := r.told(mac1); got != boot.AnswerHold {
					t.Errorf("%s: after %d restarts it's told %s\n%s", tc.reason, restarts, got, r.said.String())
				}
				r.restart(nil)
			}
		})
	}
}

// held is an entry's text with Hold for when nothing is to be installed.
func held(entry string) string {
	return strings.Replace(entry, "    install:", "    otherwise: Hold\n    install:", 1)
}

// TestKeptAndRenamed: a machine that another entry had installed, or this one under other MACs, waits for no reinstall: a wrong file keeps it from no disk.
func TestKeptAndRenamed(t *testing.T) {
	for name, restarts := range map[string]bool{"Runs": false, "Restarts": true} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "")
			r.write("net.yaml", networkYAML+"---\n"+profileYAML+"---\n"+givenYAML)
			r.write("m.yaml", held(entryYAML("m1", mac1, "10.77.0.11", 1)))
			r.start()
			r.install(true)
			r.write("m.yaml", held(entryYAML("m9", mac1, "10.77.0.11", 1)))
			r.turn()
			if got := r.told(mac1); got != boot.AnswerLocalDisk {
				t.Fatalf("renamed, it's told %s\n%s", got, r.said.String())
			}
			r.write("zz.yaml", "a: b\n c: d\n")
			if restarts {
				r.restart(nil)
			}
			r.turn()
			if got := r.told(mac1); got != boot.AnswerLocalDisk {
				t.Errorf("while another file is wrong it's told %s\n%s", got, r.said.String())
			}
		})
	}
}

// TestKeptAndReported: an install that ends while its specs are wrong is booted, also where bootd was restarted meanwhile; before its end it isn't.
func TestKeptAndReported(t *testing.T) {
	for name, tc := range map[string]struct {
		again    bool
		restarts int
	}{"First": {false, 0}, "FirstRestarted": {false, 1}, "Again": {true, 0}, "AgainRestarted": {true, 1}, "AgainTwice": {true, 2}} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "")
			at := func(generation int) string { return held(entryYAML("m1", mac1, "10.77.0.11", generation)) }
			r.write("net.yaml", networkYAML+"---\n"+profileYAML+"---\n"+givenYAML)
			r.write("m.yaml", at(1))
			r.start()
			generation := 1
			if tc.again {
				r.install(true)
				generation = 2
				r.write("m.yaml", at(2))
			}
			p, g := r.plan(), r.granted()
			r.install(false)
			r.write("m.yaml", strings.Replace(at(generation), "generation: ", "generation: x", 1))
			r.turn()
			for range tc.restarts {
				r.restart(nil)
				r.turn()
			}
			if got := r.told(mac1); got != boot.AnswerHold {
				t.Errorf("before its end it's told %s\n%s", got, r.said.String())
			}
			c := boot.Claims{Kind: boot.TokenBoot, Entry: boot.KeyOf(p.EntryUID), GrantID: g.ID, Nonce: "00000000000000b1"}
			if _, err := r.m.Report(t.Context(), p, c, true, ""); err != nil {
				t.Fatal(err)
			}
			r.turn()
			if got := r.told(mac1); got != boot.AnswerLocalDisk {
				t.Errorf("once it's installed it's told %s\n%s", got, r.said.String())
			}
		})
	}
}
