package specdir

import (
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// changes is a folder that has changed for longer than it may, and changes again.
func (r *rig) changes() {
	r.t.Helper()
	r.write("z.yaml", "# 1\n")
	r.turn()
	r.src.calmed = time.Now().Add(-2 * settled * r.src.o.Still)
	r.write("z.yaml", "# 2\n")
	r.turn()
}

// TestRestless: who waits for a grant by a folder that never rests is told what keeps it; once it does the grant is there.
func TestRestless(t *testing.T) {
	r := newRig(t, all(1))
	r.start(func(o *Options) { o.Still = time.Minute })
	r.changes()
	const says = "goes on changing: who writes it must leave it as it is for 1m0s"
	if why := r.src.Why(r.plan()); !strings.Contains(why, says) {
		t.Fatalf("%q isn't said: %q\n%s", says, why, r.said.String())
	}
	r.says("no grant is made, since the folder of specs goes on changing")
	r.src.o.Still = time.Nanosecond
	if g := r.granted(); g == nil {
		t.Fatalf("nothing is granted\n%s", r.said.String())
	}
	if why := r.src.Why(r.plan()); why != "" || r.told(mac1) != boot.AnswerInstall {
		t.Errorf("it rests, and %s: %q", r.told(mac1), why)
	}
}

// TestRestlessBefore: whoever asks once the folder rests no more is told as well, for an install and for another one.
func TestRestlessBefore(t *testing.T) {
	for name, installed := range map[string]bool{"First": false, "Again": true} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, all(0))
			if installed {
				r.write("a.yaml", all(1))
			}
			r.start()
			if installed && r.granted() == nil {
				t.Fatalf("nothing is granted\n%s", r.said.String())
			}
			r.src.o.Still = time.Minute
			generation := 1
			if installed { // What was used stands in its session until the folder rests.
				r.write("z.yaml", "# 0\n")
				r.turn()
				r.install(true)
				generation = 2
			}
			r.changes()
			if !r.src.restless.Load() {
				t.Fatal("it rests")
			}
			r.write("a.yaml", all(generation))
			r.turn()
			if why := r.src.Why(r.plan()); !strings.Contains(why, "goes on changing") {
				t.Errorf("told %q", why)
			}
			r.says("no grant is made, since the folder of specs goes on changing")
		})
	}
}
