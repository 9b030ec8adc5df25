package specdir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// told is what a machine is told to boot.
func (r *rig) told(mac boot.MAC) boot.Answer {
	r.t.Helper()
	p, ok := r.src.State().ByMAC(mac)
	if !ok {
		return ""
	}
	f := boot.Facts{Now: r.now(), Plan: p, Log: r.m.Logged(p.EntryUID, p.HostUID), Synced: r.src.Synced(p) && !r.src.Held(p), Arch: boot.AMD64}
	if s, ok := r.src.State().Sessions[p.EntryUID]; ok {
		f.Session = &s
	}
	return boot.Decide(f).Answer
}

// TestWrongAtAStart: two entries want one MAC, and bootd is restarted while the file of one of them is wrong. The other isn't alone with
// the MAC for that. While a file was never right nothing is installed on any machine; addresses and boots from disk go on.
func TestWrongAtAStart(t *testing.T) {
	const mac3 = "52:54:00:00:00:03"
	m1 := entryYAML("m1", mac1, "10.77.0.11", 0)
	instead := func(do func(path string) error) func(r *rig) {
		return func(r *rig) {
			path := filepath.Join(r.dir, "m.yaml")
			remove(r.t, path)
			if err := do(path); err != nil {
				r.t.Fatal(err)
			}
		}
	}
	cases := map[string]func(r *rig){
		"Unparsable": func(r *rig) { r.write("m.yaml", "a: b\n c: d\n") },
		"OneObject":  func(r *rig) { r.write("m.yaml", strings.Replace(m1, "generation: 0", "generation: x", 1)) },
		"Unreadable": instead(func(path string) error { return os.Symlink("nowhere", path) }),
		"Folder":     instead(func(path string) error { return os.Symlink("/", path) }),
		"Pipe":       instead(func(path string) error { return unix.Mkfifo(path, 0o600) }),
	}
	for name, wrong := range cases {
		for life, remembers := range map[string]bool{"Snapshot": true, "NoSnapshot": false} {
			t.Run(name+life, func(t *testing.T) {
				r := newRig(t, "")
				r.write("net.yaml", networkYAML+"---\n"+profileYAML+"---\n"+givenYAML)
				r.write("m.yaml", m1)
				r.write("b.yaml", entryYAML("m2", mac2, "10.77.0.12", 1)+"---\n"+entryYAML("m3", mac3, "10.77.0.13", 0))
				r.start()
				r.write("a.yaml", entryYAML("a-copy", mac1, "10.77.0.14", 1))
				r.turn()
				if got := r.told(mac1); got != boot.AnswerLocalDisk || r.told(mac2) != boot.AnswerInstall {
					t.Fatalf("%s\n%s", got, r.said.String())
				}
				before := r.src.State()
				r.stop()
				wrong(r)
				r.start(func(o *Options) {
					if remembers {
						o.Before = before
					}
				})
				check := func(when string) {
					t.Helper()
					want := map[boot.MAC]boot.Answer{mac1: boot.AnswerHold, mac2: boot.AnswerHold, mac3: boot.AnswerLocalDisk}
					if remembers {
						want[mac1] = boot.AnswerLocalDisk
					}
					for mac, answer := range want {
						if got := r.told(mac); got != answer {
							t.Errorf("%s: %s is told %q, want %s\n%s", when, mac, got, answer, r.said.String())
						}
					}
				}
				check("at the start")
				if p := r.plan(); remembers && (p.Entry.Name != "m1" || p.Network.Address.Addr().String() != "10.77.0.11") {
					t.Errorf("the machine has lost its address: %+v", p)
				}
				r.says("nothing is installed on any machine", "m.yaml")
				r.write("b.yaml", entryYAML("m2", mac2, "10.77.0.12", 1)+"---\n"+entryYAML("m3", mac3, "10.77.0.13", 0)+"\n")
				r.turn()
				check("another file was read anew")
				remove(t, filepath.Join(r.dir, "m.yaml"))
				r.write("m.yaml", m1)
				r.turn()
				if got := r.told(mac2); got != boot.AnswerInstall {
					t.Errorf("all is right again, and %s is told\n%s", got, r.said.String())
				}
				if p := r.plan(); remembers && (p == nil || p.Entry.Name != "m1") || r.told(mac1) == boot.AnswerInstall {
					t.Errorf("%+v is told %s", p, r.told(mac1))
				}
			})
		}
	}
}

// TestUnresolvedEntryHasItsClaim: an entry that isn't served, since its profile is missing, still wants its MAC and its address.
func TestUnresolvedEntryHasItsClaim(t *testing.T) {
	for name, copied := range map[string]string{
		"MAC": entryYAML("a-copy", mac1, "10.77.0.12", 1), "Address": entryYAML("a-copy", mac2, "10.77.0.11", 1),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "")
			r.write("net.yaml", networkYAML+"---\n"+profileYAML+"---\n"+givenYAML)
			m1 := entryYAML("m1", mac1, "10.77.0.11", 0)
			r.write("m.yaml", strings.Replace(m1, "name: debian", "name: gone", 1))
			r.write("a.yaml", copied)
			r.start()
			for _, mac := range []boot.MAC{mac1, mac2} {
				if got := r.told(mac); got == boot.AnswerInstall {
					t.Errorf("%s is installed\n%s", mac, r.said.String())
				}
			}
			r.says("BootEntry lab/m1, which isn't served, wants")
			remove(t, filepath.Join(r.dir, "m.yaml"))
			r.turn()
			if r.told(mac1) != boot.AnswerInstall && r.told(mac2) != boot.AnswerInstall {
				t.Errorf("once nobody else wants it, it's installed\n%s", r.said.String())
			}
		})
	}
}

// TestSecondOfANameHasItsClaim: what an edited copy of an entry wants isn't another machine's either.
func TestSecondOfANameHasItsClaim(t *testing.T) {
	r := newRig(t, "")
	r.write("net.yaml", networkYAML+"---\n"+profileYAML+"---\n"+givenYAML)
	r.write("a.yaml", entryYAML("m2", mac2, "10.77.0.12", 0)+"---\n"+entryYAML("m1", mac1, "10.77.0.11", 1))
	r.write("b.yaml", entryYAML("m2", mac1, "10.77.0.12", 0))
	r.start()
	if r.grant() != nil {
		t.Errorf("m1 is granted an install of a machine that m2 wants\n%s", r.said.String())
	}
}

// TestEmptyAtAStart: the disk with the specs isn't mounted when bootd starts. What was served is, and nothing is installed.
func TestEmptyAtAStart(t *testing.T) {
	r := newRig(t, all(1))
	r.start()
	if r.grant() == nil {
		t.Fatal("nothing is granted")
	}
	before := r.src.State()
	r.stop()
	remove(t, filepath.Join(r.dir, "a.yaml"))
	r.start(func(o *Options) { o.Before = before })
	if p := r.plan(); p == nil || r.told(mac1) != boot.AnswerHold {
		t.Errorf("%+v\n%s", p, r.said.String())
	}
	if len(r.src.State().Segments) != 1 {
		t.Errorf("segments: %+v", r.src.State().Segments)
	}
	r.says("is suddenly empty")
	before = r.src.State()
	r.stop()
	r.start(func(o *Options) { o.Before = before })
	if r.plan() == nil {
		t.Error("and after a second start it isn't served")
	}
	r.write("a.yaml", all(1))
	r.turn()
	if r.grant() == nil {
		t.Errorf("the disk is mounted, and nothing is granted\n%s", r.said.String())
	}
}

// TestKeptAndInstalled: a machine that is known as installed boots its disk, whatever became of its profile, and whatever its entry says
// of machines that aren't.
func TestKeptAndInstalled(t *testing.T) {
	r := newRig(t, "")
	r.write("net.yaml", networkYAML+"---\n"+profileYAML+"---\n"+givenYAML)
	r.write("m.yaml", strings.Replace(entryYAML("m1", mac1, "10.77.0.11", 1), "    install:", "    otherwise: Hold\n    install:", 1))
	r.start()
	r.install(true)
	r.write("net.yaml", networkYAML+"---\n"+givenYAML)
	r.turn()
	if got := r.told(mac1); got != boot.AnswerLocalDisk {
		t.Errorf("%s\n%s", got, r.said.String())
	}
}

// TestForeignObjects: what other tools keep in the folder is told, and stops no install. What may be a misspelt machine does.
func TestForeignObjects(t *testing.T) {
	for name, tc := range map[string]struct {
		text  string
		stops bool
	}{
		"Kustomization": {text: "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a.yaml]\n"},
		"ConfigMap":     {text: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"},
		"Misspelt":      {text: "apiVersion: baremetal.m.crossplane.io/v1alpha1\nkind: BotEntry\n", stops: true},
		"WrongGroup":    {text: "apiVersion: metal.m.crossplane.io/v1alpha1\nkind: BootEntry\n", stops: true},
		"NoKind":        {text: "spec: {forProvider: {}}\n", stops: true},
		"Secret":        {text: "apiVersion: v1\nkind: Secret\nmetadata: {name: x}\ndata: {a: 1}\n", stops: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, all(1))
			r.write("x.yaml", tc.text)
			r.start()
			if got := r.grant() == nil; got != tc.stops || r.plan() == nil {
				t.Errorf("nothing granted: %v\n%s", got, r.said.String())
			}
			r.says("x.yaml:")
		})
	}
}
