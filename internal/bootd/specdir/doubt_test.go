package specdir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestUnused: a machine that was granted an install, and never began it, has nothing on its disk that anybody knows of. Where a person is asked about
// that it waits, and isn't sent to its disk.
func TestUnused(t *testing.T) {
	emptied := func(path ...string) func(r *rig) {
		return func(r *rig) { must(r.t, os.WriteFile(filepath.Join(path...), nil, 0o600)) }
	}
	cases := map[string]struct {
		reason string
		loses  func(r *rig)
	}{
		"Spec":         {"the record beside the specs is gone", func(r *rig) { remove(r.t, filepath.Join(r.dir, RecordFolder)) }},
		"SpecEmptied":  {"or empty", func(r *rig) { emptied(r.dir, RecordFolder, recordFile)(r) }},
		"StateEmptied": {"the other one is", func(r *rig) { emptied(r.state, recordFile)(r) }},
		"State":        {"the state folder is gone", func(r *rig) { r.state = r.t.TempDir() }},
		"Sessions":     {"the sessions are", func(r *rig) { remove(r.t, filepath.Join(r.state, "sessions")) }},
		"PutBack": {"the generation was lowered, and put back", func(r *rig) {
			r.write("a.yaml", all(0))
			r.start()
			r.stop()
			r.write("a.yaml", all(1))
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, all(1))
			r.start()
			if r.grant() == nil {
				t.Fatal("nothing is granted")
			}
			r.stop()
			tc.loses(r)
			r.start()
			if got := r.told(mac1); got != boot.AnswerHold || !r.src.Asks(r.plan()) {
				t.Errorf("%s: %s; asks: %t\n%s", tc.reason, got, r.src.Asks(r.plan()), r.said.String())
			}
			r.stop()
			r.start(func(o *Options) { o.Still = time.Hour })
			if got := r.told(mac1); got != boot.AnswerHold {
				t.Errorf("%s: after a restart, and before the folder was still: %s\n%s", tc.reason, got, r.said.String())
			}
		})
	}
}

// TestFenced: where a record can't be read nothing is installed, and nobody is asked: a machine boots as it did.
func TestFenced(t *testing.T) {
	for _, spec := range []bool{false, true} {
		r := newRig(t, all(1))
		r.start()
		path := filepath.Join(r.state, recordFile)
		if spec {
			path = filepath.Join(r.dir, RecordFolder, recordFile)
		}
		r.stop()
		r.pass(2 * grantLife)
		b, err := os.ReadFile(path)
		must(t, err)
		must(t, os.WriteFile(path, append([]byte("x"), b...), 0o600)) //nolint:gosec // A file of its own.
		r.start()
		if _, installs := r.src.site.installs(); installs || r.told(mac1) != boot.AnswerLocalDisk {
			t.Errorf("beside the specs: %t: installs: %t, %s", spec, installs, r.told(mac1))
		}
	}
}

// TestRenamedBoots: a machine that has a system boots it while its entry has a new name, also before the folder was still.
func TestRenamedBoots(t *testing.T) {
	r := newRig(t, all(1))
	r.start()
	r.install(true)
	r.stop()
	r.write("a.yaml", strings.ReplaceAll(all(1), "name: m1}\nspec", "name: m2}\nspec"))
	for _, still := range []time.Duration{time.Hour, time.Nanosecond, time.Hour} {
		r.start(func(o *Options) { o.Still = still })
		if got := r.told(mac1); got != boot.AnswerLocalDisk || r.src.Asks(r.plan()) != (still < time.Hour) {
			t.Errorf("still for %s: %s; asks: %t", still, got, r.src.Asks(r.plan()))
		}
		r.stop()
	}
}

// TestWaitingBoots: what keeps a machine from a grant, and is no question, doesn't keep it from its disk.
func TestWaitingBoots(t *testing.T) {
	r := newRig(t, all(2))
	r.start()
	r.write("a.yaml", all(1))
	r.turn()
	if why := r.src.Why(r.plan()); !strings.Contains(why, boot.IssueGenerationLowered) || r.told(mac1) != boot.AnswerLocalDisk {
		t.Errorf("%s: %q\n%s", r.told(mac1), why, r.said.String())
	}
}
