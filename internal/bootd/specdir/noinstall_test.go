package specdir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestTwoBootds: of two that serve one folder one installs.
func TestTwoBootds(t *testing.T) {
	r := newRig(t, all(1))
	r.start()
	second := &rig{t: t, dir: r.dir, state: t.TempDir()}
	second.clock.Store(r.clock.Load())
	if err := second.tryStart(); err == nil || !strings.Contains(err.Error(), "--no-install") {
		t.Fatalf("a second one that would install: %v", err)
	}
	second.start(func(o *Options) { o.NoInstall = true })
	if second.plan() == nil || second.grant() != nil || second.src.session(second.plan().Entry) != nil {
		t.Error("one that doesn't install serves addresses, and grants nothing")
	}
	r.install(true)
	second.turn()
	if p := second.plan(); p.InstalledGeneration != 1 {
		t.Errorf("it hears of what the first one installs: %+v", p)
	}
	remove(t, filepath.Join(r.dir, RecordFolder))
	second.turn()
	if p := second.plan(); p.InstalledGeneration != 1 {
		t.Errorf("it forgets nothing that it knew: %+v", p)
	}
}

// TestNoInstall: a bootd that installs nothing sends machines to their disks, also those of whose install it can't know. It would hold
// them for ever: nobody who asks it is ever granted anything.
func TestNoInstall(t *testing.T) {
	cases := map[string]struct {
		reason    string
		otherwise string
		installed bool
		broken    bool // An entry that is kept from before.
		damaged   bool // The record beside the specs.
		want      boot.Answer
	}{
		"Unknown":       {reason: "the other one may be on another host", want: boot.AnswerLocalDisk},
		"Hold":          {reason: "what an entry wants otherwise holds", otherwise: "Hold", want: boot.AnswerHold},
		"HoldInstalled": {reason: "but not for a machine that is known as installed", otherwise: "Hold", installed: true, want: boot.AnswerLocalDisk},
		"Kept":          {reason: "nor is a machine held whose entry is of before", broken: true, want: boot.AnswerLocalDisk},
		"Damaged":       {reason: "nor where the record can't be read", damaged: true, want: boot.AnswerLocalDisk},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			text := all(1)
			if tc.otherwise != "" {
				text = strings.Replace(text, "    install:", "    otherwise: "+tc.otherwise+"\n    install:", 1)
			}
			r := newRig(t, text)
			if tc.installed {
				r.start()
				r.install(true)
				r.stop()
				r.state = t.TempDir()
			}
			if tc.damaged {
				r.put(filepath.Join(r.dir, RecordFolder, recordFile), 1)
				if err := os.WriteFile(filepath.Join(r.dir, RecordFolder, recordFile), []byte("{}\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			r.start(func(o *Options) { o.NoInstall = true })
			if tc.broken {
				r.write("a.yaml", strings.Replace(text, "name: debian}\nspec", "name: other}\nspec", 1))
				r.turn()
			}
			p := r.plan()
			if p == nil {
				t.Fatalf("%s: it isn't served:\n%s", tc.reason, r.said.String())
			}
			if d := boot.Decide(boot.Facts{Now: r.now(), Plan: p, Arch: boot.AMD64}); d.Answer != tc.want {
				t.Errorf("%s: %+v, want %s", tc.reason, d, tc.want)
			}
		})
	}
}
