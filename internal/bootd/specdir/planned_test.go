package specdir

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
)

// hour keeps the folder from being still.
func hour(o *Options) { o.Still = time.Hour }

// files are those of a rig by which machines are known.
func (r *rig) files() map[string]string {
	return map[string]string{
		"Spec": filepath.Join(r.dir, RecordFolder, recordFile), "State": filepath.Join(r.state, recordFile), "Log": filepath.Join(r.state, "consumed.log"),
	}
}

// damage one of the rig's files.
func (r *rig) damage(which string) {
	r.t.Helper()
	path := r.files()[which]
	b, err := os.ReadFile(path)
	must(r.t, err)
	must(r.t, os.WriteFile(path, append([]byte("x\n"), b...), 0o600)) //nolint:gosec // A file of its own.
}

// TestDoubtBeforeStill: a grant that's there is used by nobody while one of its records is gone, or of before it, also before the folder was still, and
// whatever became of the one before it.
func TestDoubtBeforeStill(t *testing.T) {
	var older map[string][]byte
	putBack := func(which string) func(r *rig) {
		return func(r *rig) { must(r.t, os.WriteFile(r.files()[which], older[which], 0o600)) }
	}
	for name, lose := range map[string]func(r *rig){
		"Spec":      func(r *rig) { remove(r.t, filepath.Join(r.dir, RecordFolder)) },
		"SpecOlder": putBack("Spec"), // It's empty where nothing was granted before.
		"State":     func(r *rig) { remove(r.t, r.files()["State"]) }, "StateOlder": putBack("State"),
		"Nothing": func(*rig) {},
	} {
		for _, before := range []string{"New", "Installed", "Failed", "Used"} {
			for _, holds := range []bool{false, true} {
				t.Run(fmt.Sprint(name, before, holds), func(t *testing.T) {
					at := func(generation int) string {
						if holds {
							return held(all(generation))
						}
						return all(generation)
					}
					r := newRig(t, at(0))
					r.start()
					generation := 1
					if before != "New" {
						generation = 2
						r.write("a.yaml", at(1))
						r.turn()
						g := r.grant()
						r.install(before == "Installed")
						if before == "Failed" {
							_, err := r.m.Report(t.Context(), r.plan(), boot.Claims{Kind: boot.TokenBoot, Entry: boot.KeyOf(r.plan().EntryUID), GrantID: g.ID, Nonce: "00000000000000b1"}, false, "no disk")
							must(t, err)
						}
					}
					older = map[string][]byte{}
					for which, path := range r.files() {
						older[which], _ = os.ReadFile(path)
					}
					r.write("a.yaml", at(generation))
					if r.granted() == nil {
						t.Fatal("nothing is granted")
					}
					r.stop()
					lose(r)
					r.start(hour)
					if got := r.screen(); (got.Answer == boot.AnswerInstall) != (name == "Nothing") || got.Answer == boot.AnswerHold && got.Reason != gate.ReasonHeld {
						t.Errorf("%+v\n%s", got, r.said.String())
					}
					if r.src.Held(r.plan()) == (name == "Nothing") {
						t.Errorf("held: %t", name == "Nothing")
					}
				})
			}
		}
	}
}

// TestLoweredBeforeStill: a state folder of before a generation was raised, which is lowered since, has a grant that the other record knows nothing of.
func TestLoweredBeforeStill(t *testing.T) {
	r := newRig(t, all(1))
	r.start()
	r.stop()
	old := filepath.Join(t.TempDir(), "state")
	must(t, os.CopyFS(old, os.DirFS(r.state)))
	r.start()
	r.write("a.yaml", all(2))
	if g := r.granted(); g == nil || g.Generation != 2 {
		t.Fatalf("%+v", g)
	}
	r.stop()
	r.state = old
	r.write("a.yaml", all(1))
	r.start(hour)
	if got := r.screen(); got.Answer != boot.AnswerHold || got.Reason != gate.ReasonHeld {
		t.Errorf("%+v", got)
	}
}

// TestScreenBeforeStill: a machine that will be asked about is told that it's held, and not that nothing is asked for; explain says what keeps bootd from asking.
func TestScreenBeforeStill(t *testing.T) {
	for name, lose := range map[string]func(r *rig){
		"Sessions": func(r *rig) { remove(r.t, filepath.Join(r.state, "sessions")) },
		"State":    func(r *rig) { r.state = r.t.TempDir() },
		"Spec":     func(r *rig) { remove(r.t, filepath.Join(r.dir, RecordFolder)) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, all(1))
			r.start()
			r.stop()
			lose(r)
			r.start(func(o *Options) { o.Still = time.Minute })
			if why := r.src.Why(r.plan()); why != undecided {
				t.Errorf("%q", why)
			}
			r.changes()
			if got := r.screen(); got.Answer != boot.AnswerHold || got.Reason != gate.ReasonHeld {
				t.Errorf("%+v", got)
			}
			if why := r.src.Why(r.plan()); !strings.Contains(why, "goes on changing") {
				t.Errorf("%q", why)
			}
		})
	}
}

// TestUsedBoots: a machine that used its grant boots its disk, whatever knows of that: the log, its session or the record beside the specs.
func TestUsedBoots(t *testing.T) {
	wrong := func(r *rig) { r.write("zz.yaml", "a: b\n c: d\n") }
	for name, do := range map[string]func(r *rig){
		"Wrong":    wrong,
		"Sessions": func(r *rig) { remove(r.t, filepath.Join(r.state, "sessions")) },
		"Log":      func(r *rig) { remove(r.t, r.files()["Log"]); wrong(r) },
		"Spec":     func(r *rig) { remove(r.t, filepath.Join(r.dir, RecordFolder)); wrong(r) },
		"Lowered": func(r *rig) {
			remove(r.t, filepath.Join(r.state, "sessions"))
			r.write("m.yaml", entryYAML("m1", mac1, "10.77.0.11", 1))
		},
	} {
		for _, one := range []bool{false, true} {
			t.Run(fmt.Sprint(name, one), func(t *testing.T) {
				r := newRig(t, "")
				if one {
					must(t, writeMark(filepath.Join(r.state, siteFile)))
				}
				r.write("net.yaml", sharedYAML)
				r.write("m.yaml", entryYAML("m1", mac1, "10.77.0.11", 2))
				r.start()
				r.install(false)
				r.stop()
				do(r)
				for _, still := range []time.Duration{time.Hour, time.Nanosecond} {
					r.start(func(o *Options) { o.Still = still })
					if got := r.screen(); got.Answer != boot.AnswerLocalDisk {
						t.Errorf("still for %s: %+v; %s", still, got, r.src.Why(r.plan()))
					}
					r.stop()
				}
			})
		}
	}
}

// TestLeftover: nobody is asked about a machine whose entry asks for nothing any more, by the file or by its profile.
func TestLeftover(t *testing.T) {
	live := strings.NewReplacer("mode: Install\n  method: DiskImage\n", "mode: Live\n  method: Kernel\n",
		`      image: {url: "http://x.example/i", digest: "`+kernel+`"}`+"\n", "").Replace(all(1))
	for name, text := range map[string]string{"Zero": all(0), "ZeroHold": held(all(0)), "Live": live} {
		for _, sessions := range []bool{true, false} {
			t.Run(fmt.Sprint(name, sessions), func(t *testing.T) {
				r := newRig(t, all(1))
				r.start()
				r.stop()
				if !sessions {
					remove(t, filepath.Join(r.state, "sessions"))
				}
				remove(t, filepath.Join(r.dir, RecordFolder))
				r.start()
				if !r.src.Asks(r.plan()) {
					t.Fatal("nothing is asked")
				}
				r.write("a.yaml", text)
				r.turn()
				if why := r.src.Why(r.plan()); why != "" || r.src.Asks(r.plan()) {
					t.Errorf("%q", why)
				}
				r.write("a.yaml", all(1))
				r.turn()
				if !r.src.Asks(r.plan()) {
					t.Error("the question has gone for good")
				}
			})
		}
	}
}

// TestFencedBoots: what keeps all installs from a site keeps no machine from its disk that has a system there.
func TestFencedBoots(t *testing.T) {
	for _, which := range []string{"Log", "State", "Spec", "Away"} {
		for name, change := range map[string]func(r *rig, fence func()){
			"Granted": func(r *rig, fence func()) {
				r.write("m.yaml", entryYAML("m1", mac1, "10.77.0.11", 2))
				if r.granted() == nil {
					r.t.Fatal("nothing is granted")
				}
				fence()
			},
			"Raised": func(r *rig, fence func()) {
				fence()
				r.write("m.yaml", entryYAML("m1", mac1, "10.77.0.11", 2))
			},
			"RenamedHold": func(r *rig, fence func()) {
				r.write("m.yaml", held(entryYAML("m9", mac1, "10.77.0.11", 1)))
				r.turn()
				fence()
			},
			"RenamedMeanwhile": func(r *rig, fence func()) {
				fence()
				r.write("m.yaml", held(entryYAML("m9", mac1, "10.77.0.11", 1)))
			},
		} {
			t.Run(which+name, func(t *testing.T) {
				r := newRig(t, "")
				r.write("net.yaml", sharedYAML)
				r.write("m.yaml", entryYAML("m1", mac1, "10.77.0.11", 1))
				r.start()
				r.install(true)
				change(r, func() {
					if which == "Away" {
						must(t, os.Rename(filepath.Join(r.dir, RecordFolder), filepath.Join(r.dir, ".aside")))
						return
					}
					r.stop()
					r.damage(which)
					r.start()
				})
				r.turn()
				if _, installs := r.src.site.installs(); installs || r.screen().Answer != boot.AnswerLocalDisk {
					t.Errorf("installs: %t; %+v", installs, r.screen())
				}
			})
		}
	}
}

// TestAskedAndFenced: a machine with nothing on its disk that waits for an answer isn't sent there by a fence.
func TestAskedAndFenced(t *testing.T) {
	r := newRig(t, all(1))
	r.start()
	r.stop()
	remove(t, filepath.Join(r.dir, RecordFolder))
	r.start()
	if !r.src.Asks(r.plan()) {
		t.Fatal("nothing is asked")
	}
	must(t, os.Rename(filepath.Join(r.dir, RecordFolder), filepath.Join(r.dir, ".aside")))
	r.turn()
	if got := r.screen(); got.Answer != boot.AnswerHold {
		t.Errorf("%+v", got)
	}
}

// TestHalfInDoubt: a machine with otherwise: Hold isn't sent to a disk that's half written while its specs are wrong, whatever a person would be asked then.
func TestHalfInDoubt(t *testing.T) {
	r := newRig(t, held(all(1)))
	r.start()
	r.install(true)
	r.write("a.yaml", held(all(2)))
	if r.granted() == nil {
		t.Fatal("nothing is granted")
	}
	r.install(false)
	r.stop()
	remove(t, r.files()["State"])
	r.start()
	r.write("zz.yaml", "a: b\n c: d\n")
	r.turn()
	if why := r.src.Why(r.plan()); !strings.HasPrefix(why, heldWhy+"; once that's mended: NeedsConfirmation: ") {
		t.Errorf("%q", why)
	}
	r.stop()
	r.start()
	if got := r.screen(); got.Answer != boot.AnswerHold {
		t.Errorf("%+v", got)
	}
}

// TestHalfLowered: a machine with otherwise: Hold isn't sent to a disk that's half written since its entry asks for an earlier generation.
func TestHalfLowered(t *testing.T) {
	for _, lowered := range []int{3, 2} {
		r := newRig(t, held(all(1)))
		r.start()
		r.install(true)
		r.write("a.yaml", held(all(3)))
		if r.granted() == nil {
			t.Fatal("nothing is granted")
		}
		r.install(false)
		r.write("a.yaml", held(all(lowered)))
		r.turn()
		if got := r.screen(); got.Answer != boot.AnswerHold {
			t.Errorf("lowered to %d: %+v", lowered, got)
		}
	}
}

// TestConfirmKept: what an entry asks for isn't noted as installed by what was served of it before: what it says once it's mended would be another install.
func TestConfirmKept(t *testing.T) {
	m := entryYAML("m1", mac1, "10.77.0.11", 1)
	r := newRig(t, "")
	r.write("net.yaml", sharedYAML)
	r.write("zz.yaml", "a: b\n c: d\n") // Nothing is installed until it's mended.
	r.write("m.yaml", m)
	r.start()
	r.src.OtherServer(r.plan(), "10.77.0.9")
	r.turn()
	r.restart(func() { r.write("m.yaml", strings.Replace(m, "generation: 1", "generation: x", 1)) })
	if why := r.src.Why(r.plan()); !strings.HasPrefix(why, heldWhy+"; once that's mended: NeedsConfirmation: ") {
		t.Errorf("%q", why)
	}
	if said, err := r.src.adopt(r.src.world.numbered(0)); err == nil || !strings.Contains(err.Error(), "mend that first") {
		t.Errorf("%q, %v", said, err)
	}
	remove(t, filepath.Join(r.dir, "zz.yaml"))
	r.write("m.yaml", m)
	r.turn()
	if _, err := r.src.adopt(r.src.world.numbered(0)); err != nil {
		t.Fatal(err)
	}
	r.turn()
	if g := r.grant(); g != nil || r.told(mac1) != boot.AnswerLocalDisk {
		t.Errorf("a machine that a person has kept as it runs is granted %+v, and told %s", g, r.told(mac1))
	}
}
