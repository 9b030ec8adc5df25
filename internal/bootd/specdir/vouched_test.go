package specdir

import (
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
)

// opens has the first machine be given the script of its install, and gives the token that came with it.
func (r *rig) opens() boot.Claims {
	r.t.Helper()
	g, p := r.granted(), r.plan()
	if g == nil {
		r.t.Fatalf("nothing is granted\n%s", r.said.String())
	}
	c := boot.Claims{Kind: boot.TokenBoot, Entry: boot.KeyOf(p.EntryUID), GrantID: g.ID, Nonce: "00000000000000b1"}
	must(r.t, r.m.Open(r.t.Context(), p, c, boot.Exchange{Began: r.now(), GrantID: g.ID}))
	r.turn()
	return c
}

// goesOn is that boot, which uses its grant; an error: it may not.
func (r *rig) goesOn(c boot.Claims) error {
	from := r.asksFor()
	from.Claims = c
	_, err := r.gate(func(o *gate.Options) { o.Asks = nil }).Admit(r.t.Context(), from, true)
	return err
}

// TestPutBack: a grant of an earlier generation that is there again isn't used, whatever of the site was put back with it, and is gone once the folder was still.
func TestPutBack(t *testing.T) {
	for name, tc := range map[string]struct {
		what    string // of the state folder
		spec    bool   // So is the record beside the specs.
		lowered int
	}{
		"Sessions": {"sessions", false, 3}, "SessionsLowered": {"sessions", false, 2}, "All": {".", false, 3}, "AllLowered": {".", false, 2},
		"SessionsAndSpec": {"sessions", true, 3},
	} {
		for _, kept := range []bool{false, true} {
			t.Run(fmt.Sprint(name, kept), func(t *testing.T) {
				r := newRig(t, all(1))
				r.start()
				c := r.opens()
				old := t.TempDir()
				must(t, os.CopyFS(old, os.DirFS(filepath.Join(r.state, tc.what))))
				spec, err := os.ReadFile(r.files()["Spec"])
				must(t, err)
				r.write("a.yaml", all(3))
				if g := r.granted(); g == nil || g.Generation != 3 {
					t.Fatalf("%+v", g)
				}
				if kept {
					r.src.OtherServer(r.plan(), "10.77.0.9")
					r.turn()
					_, err := r.src.adopt(r.src.world.numbered(0))
					must(t, err)
				}
				r.stop()
				remove(t, filepath.Join(r.state, tc.what))
				must(t, os.CopyFS(filepath.Join(r.state, tc.what), os.DirFS(old)))
				if tc.spec {
					must(t, os.WriteFile(r.files()["Spec"], spec, 0o600)) //nolint:gosec // A file of its own.
				}
				r.write("a.yaml", all(tc.lowered))
				for _, still := range []time.Duration{time.Hour, time.Nanosecond} {
					r.start(func(o *Options) { o.Still = still })
					if got := r.screen(); got.Answer == boot.AnswerInstall || r.goesOn(c) == nil {
						t.Errorf("still for %s: %+v; %+v", still, got, r.session())
					}
					if s := r.session(); still < time.Hour && s.Grant != nil && s.Grant.ID == c.GrantID {
						t.Errorf("the grant stands: %+v", s.Grant)
					}
					r.stop()
				}
			})
		}
	}
}

// session of the first machine.
func (r *rig) session() boot.Session {
	r.t.Helper()
	s := r.src.session(r.plan().Entry)
	if s == nil {
		r.t.Fatal("there's no session")
	}
	return s.Session
}

// TestDoubtBehindAFence: what is in doubt is known to be by the moment in which nothing keeps all installs from the site any more, also where the grants of a
// hall are made before that's published.
func TestDoubtBehindAFence(t *testing.T) {
	two := func(n int) string { return all(1) + "---\n" + entryYAML("z2", mac2, "10.77.0.12", n) }
	r := newRig(t, two(0))
	r.start()
	r.opens()
	r.stop()
	remove(t, r.files()["State"])
	r.write("a.yaml", two(1))
	var armed, seen, free atomic.Bool
	r.start(func(o *Options) {
		o.Still = time.Hour
		o.Now = func() time.Time { // Who decides about a grant asks for it.
			if armed.Load() {
				if _, installs := r.src.site.installs(); installs {
					seen.Store(true)
					free.Store(free.Load() || !r.src.Held(r.plan()))
				}
			}
			return r.now()
		}
	})
	away := filepath.Join(r.dir, ".aside")
	must(t, os.Rename(filepath.Join(r.dir, RecordFolder), away))
	r.turn()
	must(t, os.Rename(away, filepath.Join(r.dir, RecordFolder)))
	r.src.o.Still = time.Nanosecond
	armed.Store(true)
	time.Sleep(time.Millisecond)
	r.src.turn()
	armed.Store(false)
	if !seen.Load() || free.Load() {
		t.Errorf("in the middle of the turn: %t; it isn't held then: %t", seen.Load(), free.Load())
	}
}

// TestDoubtAndTheClock: that a grant had expired by a clock which was ahead for a while is no doubt about it.
func TestDoubtAndTheClock(t *testing.T) {
	r := newRig(t, all(1))
	r.start()
	c := r.opens()
	r.stop()
	r.pass(2 * grantLife)
	r.start(hour)
	r.pass(-2 * grantLife)
	r.src.o.Still = time.Nanosecond
	time.Sleep(time.Millisecond)
	r.turn()
	if err := r.goesOn(c); err != nil {
		t.Errorf("%v; %s", err, r.src.Why(r.plan()))
	}
}

// TestUsedByAnother: that an entry's former machine used a grant says nothing of the disk of the one that it names now.
func TestUsedByAnother(t *testing.T) {
	r := newRig(t, "")
	r.write("net.yaml", sharedYAML)
	r.write("m.yaml", entryYAML("m1", mac1, "10.77.0.11", 1))
	r.start()
	r.install(false)
	r.stop()
	r.write("m.yaml", entryYAML("m1", mac2, "10.77.0.11", 1))
	for _, still := range []time.Duration{time.Hour, time.Nanosecond} {
		r.start(func(o *Options) { o.Still = still })
		if got := r.told(mac2); got != boot.AnswerHold {
			t.Errorf("still for %s: %s", still, got)
		}
		r.stop()
	}
}
