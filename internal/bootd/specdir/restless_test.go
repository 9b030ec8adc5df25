package specdir

import (
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestRestless: who waits for a grant by a folder that never rests is told what keeps it; once it does the grant is there.
func TestRestless(t *testing.T) {
	r := newRig(t, all(1))
	r.start(func(o *Options) { o.Still = 20 * time.Millisecond })
	const says = "goes on changing: who writes it must leave it as it is for 20ms"
	for end := time.Now().Add(20 * time.Second); !strings.Contains(r.src.Why(r.plan()), says); r.turn() {
		r.write("z.yaml", "# "+time.Now().String()+"\n")
		if time.Now().After(end) {
			t.Fatalf("%q isn't said: %q\n%s", says, r.src.Why(r.plan()), r.said.String())
		}
	}
	r.says("no grant is made, since the folder of specs goes on changing")
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
			r.src.o.Still = 20 * time.Millisecond
			moves := func() { r.write("z.yaml", "# "+time.Now().String()+"\n"); r.turn() }
			moves()
			generation := 1
			if installed { // What was used stands in its session until the folder rests.
				r.install(true)
				generation = 2
			}
			until := func(what string, is func() bool) {
				t.Helper()
				for end := time.Now().Add(20 * time.Second); !is(); moves() {
					if time.Now().After(end) {
						t.Fatalf("%s: told %q\n%s", what, r.src.Why(r.plan()), r.said.String())
					}
				}
			}
			until("it rests no more", func() bool { return r.src.restless.Load() })
			r.write("a.yaml", all(generation))
			until("whoever asks", func() bool { return strings.Contains(r.src.Why(r.plan()), "goes on changing") })
			r.says("no grant is made, since the folder of specs goes on changing")
		})
	}
}
