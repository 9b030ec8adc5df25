package specdir

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

// TestCrashBetweenSteps ends bootd after each of the steps by which a grant comes about. The next life goes on, to one grant that both
// records name; where one of them was lost meanwhile, it's one that was never given, or it asks.
func TestCrashBetweenSteps(t *testing.T) {
	const steps = 5 // CreateSession, RecordHost, RecordEntry, Grant, Issued.
	for n := range steps + 1 {
		for name, loses := range map[string]func(r *rig){
			"Nothing": func(*rig) {},
			"State":   func(r *rig) { r.state = r.t.TempDir() },
			"Spec":    func(r *rig) { remove(r.t, filepath.Join(r.dir, RecordFolder)) },
		} {
			t.Run(fmt.Sprintf("%d%s", n, name), func(t *testing.T) {
				r := newRig(t, all(1))
				r.start(func(o *Options) { o.Still = time.Hour })
				p := r.src.world.numbered(0)
				p = r.src.planned(p, r.src.coming(p))
				id := ""
				for range n {
					now := r.src.session(p.Entry)
					if err := r.src.take(p, now, next(r.src.facts(p, now, p.Digest())).Step); err != nil {
						t.Fatal(err)
					}
				}
				if s := r.src.session(p.Entry); s != nil && s.Session.Grant != nil {
					id = s.Session.Grant.ID
				}
				r.stop()
				loses(r)
				r.start()
				given := n >= 4 // From Grant on a machine may have used it.
				g := r.grant()
				known := r.src.site.records(p)
				switch {
				case g == nil && (name == "Nothing" || !given && name == "State" && n < 3):
					t.Errorf("nothing is granted:\n%s", r.said.String())
				case g != nil && given && g.ID != id: // What was given may go on: its session and its log are here, and it's used once.
					t.Errorf("a machine that may have been installed is granted another install: %+v", g)
				case g != nil && (known.state.granted.GrantID != g.ID || known.spec.granted.GrantID != g.ID || known.state.granted.Issuing):
					t.Errorf("grant %s, records %+v and %+v", g.ID, known.state.granted, known.spec.granted)
				}
			})
		}
	}
}

// errCrash ends a Manager in the middle of a write, as kill -9 would.
var errCrash = errors.New("crash")

// TestCrashAtTheUse ends bootd around the use of a grant: the boot that used it goes on, and nobody else ever does.
func TestCrashAtTheUse(t *testing.T) {
	for _, point := range []string{"bootd-before-consume", "bootd-after-log", "bootd-after-consume"} {
		t.Run(point, func(t *testing.T) {
			r := newRig(t, all(1))
			r.start()
			g, p := r.grant(), r.plan()
			if g == nil {
				t.Fatal("nothing is granted")
			}
			boots := func(nonce string) boot.Claims {
				return boot.Claims{Kind: boot.TokenBoot, Entry: boot.KeyOf(p.EntryUID), GrantID: g.ID, Nonce: nonce}
			}
			first, second := boots("00000000000000b1"), boots("00000000000000b2")
			if err := r.m.Open(t.Context(), p, first, boot.Exchange{Began: r.now(), GrantID: g.ID}); err != nil {
				t.Fatal(err)
			}
			dies := session.New(session.Options{
				Store: r.src.Store(), Log: r.log, Name: "b", Now: r.now, Logger: r.src.o.Logger,
				Crash: func(at string) {
					if at == point {
						panic(errCrash)
					}
				},
			})
			func() {
				defer func() { _ = recover() }()
				_ = dies.Consume(t.Context(), p, first)
				t.Error("it didn't crash")
			}()
			r.stop()
			r.start()
			if point != "bootd-before-consume" {
				if err := r.m.Consume(t.Context(), p, second); err == nil {
					t.Error("another boot uses the grant, too")
				}
			}
			if err := r.m.Consume(t.Context(), p, first); err != nil {
				t.Errorf("the boot that used the grant doesn't go on: %v", err)
			}
			if err := r.m.Consume(t.Context(), p, second); err == nil {
				t.Error("another boot uses the grant afterwards")
			}
			r.turn()
			if g := r.grant(); g != nil {
				t.Errorf("granted again: %+v", g)
			}
			if n := len(r.src.site.spec.consumed); n == 0 {
				t.Error("the record beside the specs doesn't know")
			}
		})
	}
}
