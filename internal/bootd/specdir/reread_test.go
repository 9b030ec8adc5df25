package specdir

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
)

// TestReread: what stops an install counts from when it stands in the folder, and not from when it's read: who uses a grant has it read before.
func TestReread(t *testing.T) {
	machine := entryYAML("m1", mac1, "10.77.0.11", 1)
	paused := func(r *rig) { r.write("m.yaml", idleYAML(1, `, annotations: {crossplane.io/paused: "true"}`, "")) }
	cases := map[string]struct {
		reason string
		stop   func(r *rig)
		held   bool
	}{
		"Nothing": {"it stands as it was", func(*rig) {}, false},
		"Another": {"another machine's is no matter of this one", func(r *rig) { r.write("b.yaml", entryYAML("b", mac2, "10.77.0.12", 1)) }, false},
		"Paused":  {"it's paused", paused, true},
		"Gone":    {"it's removed", func(r *rig) { remove(r.t, filepath.Join(r.dir, "m.yaml")) }, true},
		"Lowered": {"its generation is lowered", func(r *rig) { r.write("m.yaml", entryYAML("m1", mac1, "10.77.0.11", 0)) }, true},
		"Altered": {"its image is another one", func(r *rig) {
			r.write("net.yaml", strings.Replace(sharedYAML, `x.example/i", digest: "sha256:a4`, `x.example/i", digest: "sha256:b4`, 1))
		}, true},
		"Unread": {"what it says now isn't known", func(r *rig) { r.hide() }, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "")
			r.write("net.yaml", sharedYAML)
			r.write("m.yaml", machine)
			r.start()
			p := r.plan()
			g := r.gate(func(o *gate.Options) {
				o.Reread = func(ctx context.Context, p *boot.Plan) bool {
					ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
					defer cancel()
					return r.src.Reread(ctx, p)
				}
			})
			a := g.Script(t.Context(), r.asksFor(), boot.Firmware{Arch: boot.AMD64}, true, func(gate.Answer) error { return nil })
			c, ok := g.Caller(a.Token, boot.TokenBoot)
			if a.Answer != boot.AnswerInstall || !ok || !c.Fits() {
				t.Fatalf("%+v\n%s", a, r.said.String())
			}
			ctx, end := context.WithCancel(t.Context())
			done := make(chan error, 1)
			tc.stop(r) // Before Run has looked.
			go func() { done <- r.src.Run(ctx) }()
			_, err := g.Admit(t.Context(), c, true)
			if errors.Is(err, gate.ErrHeld) != tc.held || err != nil && !tc.held {
				t.Errorf("%s: %v\n%s", tc.reason, err, r.said.String())
			}
			if used := len(r.m.Logged(p.EntryUID, p.HostUID)) > 0; used == tc.held {
				t.Errorf("%s: its grant is used: %t", tc.reason, used)
			}
			end()
			if err := <-done; err != nil {
				t.Error(err)
			}
			if r.src.Reread(ctx, p) {
				t.Error("nobody reads any more")
			}
		})
	}
}

// TestReadAndServed: who asked is answered by a look that began afterwards, and once what it found is served.
func TestReadAndServed(t *testing.T) {
	r := newRig(t, all(1))
	r.start()
	asked := r.src.looks.ask()
	answered := func() bool {
		select {
		case <-asked:
			return true
		default:
			return false
		}
	}
	r.src.looks.begin()
	late := r.src.looks.ask()
	r.write("a.yaml", all(2))
	r.src.lookFor()
	if answered() || !r.src.stale {
		t.Error("what the folder holds is read, and not resolved")
	}
	r.src.resolve()
	r.src.tell()
	if answered() {
		t.Error("it's resolved, and not served")
	}
	r.src.turn()
	r.src.tell()
	if !answered() || r.plan().InstallGeneration != 2 {
		t.Error("it's served, and nobody is told")
	}
	if asked = late; !answered() { // Of the look by lookFor.
		t.Error("who asked before that look isn't told")
	}
	asked = r.src.looks.ask()
	r.src.tell()
	if answered() {
		t.Error("who asked during a look is told of that")
	}
	r.src.took = 0
	if !r.src.looks.any() || r.src.overtaken() || !answered() {
		t.Error("nothing has changed, and who asks while grants are made waits")
	}
	short, end := context.WithTimeout(t.Context(), time.Millisecond)
	defer end()
	if r.src.Reread(short, r.plan()) {
		t.Error("nobody has looked, and it's taken for what stands there")
	}
	asked = r.src.looks.ask()
	r.write("a.yaml", all(3))
	if r.src.took = time.Hour; r.src.overtaken() || answered() {
		t.Error("it's looked at for each grant, however long that takes")
	}
	r.src.took = 0
	if !r.src.overtaken() || answered() {
		t.Error("grants are made by what stands there no more")
	}
	r.src.looks.end()
	if p := r.plan(); !answered() || r.src.Reread(t.Context(), p) {
		t.Error("nobody looks any more, and somebody waits for it")
	}
}

// crowd are so many machines' entries.
func crowd(n, generation int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = entryYAML(fmt.Sprintf("x%d", i), fmt.Sprintf("52:54:01:00:%02x:%02x", i>>8, i&255), fmt.Sprintf("10.78.%d.%d", 1+i>>8, i&255), generation)
	}
	return strings.Join(all, "---\n")
}

// TestRereadMeanwhile: who is about to use a grant is told while many others are made, each with writes that the disk takes its time for.
func TestRereadMeanwhile(t *testing.T) {
	const others = 400
	wide := strings.NewReplacer("10.77.0.0/24", "10.64.0.0/10", "/24", "/10")
	r := newRig(t, "")
	r.write("net.yaml", wide.Replace(sharedYAML))
	r.write("m.yaml", wide.Replace(entryYAML("m1", mac1, "10.77.0.11", 1)))
	r.start()
	p := r.plan()
	ctx, end := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.src.Run(ctx) }()
	r.write("b.yaml", wide.Replace(crowd(others, 1)))
	meanwhile := 0
	for granted := 0; granted <= others; granted = r.src.store.Len() {
		if !r.src.Reread(ctx, p) {
			t.Errorf("it's refused with %d of %d sessions there", granted, others)
			break
		}
		if granted > 1 {
			meanwhile++
		}
	}
	if meanwhile == 0 {
		t.Error("nobody is told before all are made")
	}
	end()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestToldBeforeGrants: who asked before a look is told of what it found once that's served, and before thousands of grants are made by it.
func TestToldBeforeGrants(t *testing.T) {
	r := newRig(t, all(1))
	var asked <-chan struct{}
	r.start(func(o *Options) {
		o.Now = func() time.Time { // Each grant asks what time it is.
			if asked != nil && r.src.store.Len() > 1 {
				select {
				case <-asked:
				default:
					t.Error("grants are made, and who asked isn't told")
				}
			}
			return r.now()
		}
	})
	r.write("b.yaml", entryYAML("m2", mac2, "10.77.0.12", 1)+"---\n"+entryYAML("m3", "52:54:00:00:00:03", "10.77.0.13", 1))
	r.write("a.yaml", all(2)) // What only comes is served at once.
	asked = r.src.looks.ask()
	r.src.lookFor()
	r.src.resolve()
	time.Sleep(time.Microsecond)
	r.src.turn()
	if r.src.store.Len() != 3 {
		t.Errorf("%d sessions\n%s", r.src.store.Len(), r.said.String())
	}
}

// TestOvertaken: nothing is granted by what stands in the folder no more, where somebody waits for it to be looked at.
func TestOvertaken(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		change func(r *rig)
		want   int64 // The generation that's granted.
	}{
		"Lowered": {"it has changed", func(r *rig) { r.write("a.yaml", all(0)) }, 0},
		"Came":    {"another machine's entry was taken in at once, and all is numbered anew", func(r *rig) { r.write("c.yaml", entryYAML("m2", mac2, "10.77.0.12", 0)) }, 0},
		"Same":    {"it's as it was", func(*rig) {}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, all(0))
			r.start()
			r.write("a.yaml", all(1))
			r.src.look()
			r.src.publish()
			tc.change(r)
			r.src.looks.ask()
			r.src.grant()
			got := int64(0)
			if x := r.src.session(r.plan().Entry); x != nil && x.Session.Grant != nil {
				got = x.Session.Grant.Generation
			}
			if got != tc.want {
				t.Errorf("%s: generation %d is granted, want %d", tc.reason, got, tc.want)
			}
		})
	}
}

// TestAskedMeanwhile: a look that has begun isn't the one of who asks then.
func TestAskedMeanwhile(t *testing.T) {
	r := newRig(t, all(1))
	var asked <-chan struct{}
	begun := false
	r.start(func(o *Options) {
		o.Logger = slog.New(during{o.Logger.Handler(), func() {
			if begun {
				asked, begun = r.src.looks.ask(), false
			}
		}})
	})
	r.write("b.yaml", "kind: [")
	begun = true
	r.src.lookFor()
	r.src.took = time.Hour // No other look comes between grants.
	r.turn()
	r.src.tell()
	select {
	case <-asked:
		t.Error("who asked during a look is told of that")
	default:
	}
	if asked == nil || !r.src.lookFor() {
		t.Fatal("it isn't looked at")
	}
	<-asked
}

// during is a log of what is told, and calls somebody with each line.
type during struct {
	slog.Handler

	call func()
}

func (d during) Handle(ctx context.Context, x slog.Record) error {
	d.call()
	return d.Handler.Handle(ctx, x)
}

// TestManyCame: so many come at once that they aren't served before the next turn, and who asked isn't told before.
func TestManyCame(t *testing.T) {
	wide := strings.NewReplacer("10.77.0.0/24", "10.64.0.0/10", "/24", "/10")
	r := newRig(t, wide.Replace(all(1)))
	r.start()
	r.write("b.yaml", wide.Replace(crowd(1100, 0)))
	asked := r.src.looks.ask()
	r.src.lookFor()
	select {
	case <-asked:
		t.Errorf("who asked is told, and %d machines are served", r.src.State().Len())
	default:
	}
	if r.src.stale {
		t.Error("they aren't taken in")
	}
	r.turn()
	r.src.tell()
	<-asked
	if n := r.src.State().Len(); n != 1101 {
		t.Errorf("%d machines are served", n)
	}
}

// TestGone: a machine that doesn't wait for the look isn't told of as one that is held.
func TestGone(t *testing.T) {
	r := newRig(t, all(1))
	r.start()
	g := r.gate(func(o *gate.Options) { o.Reread = r.src.Reread })
	ctx, end := context.WithCancel(t.Context())
	end()
	p := r.plan()
	s := r.src.State().Sessions[p.EntryUID]
	_, err := g.Admit(ctx, gate.Caller{Claims: boot.Claims{Kind: boot.TokenBoot, Entry: boot.KeyOf(p.EntryUID), GrantID: s.Grant.ID, Nonce: "00000000000000b1"}, Plan: p, Session: &s}, true)
	if !errors.Is(err, context.Canceled) || errors.Is(err, gate.ErrHeld) {
		t.Error(err)
	}
}

// TestStands: what is served by the time that a use is written down counts, however long that had to wait.
func TestStands(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		change func(r *rig)
		want   bool
	}{
		"Same": {"nothing has changed", func(*rig) {}, true},
		"Paused": {"it's paused", func(r *rig) {
			r.write("a.yaml", strings.Replace(all(1), "name: m1}\nspec", `name: m1, annotations: {crossplane.io/paused: "true"}}`+"\nspec", 1))
		}, false},
		"Altered": {"its image is another one", func(r *rig) {
			r.write("a.yaml", strings.Replace(all(1), `x.example/i", digest: "sha256:a4`, `x.example/i", digest: "sha256:b4`, 1))
		}, false},
		"Gone":   {"its entry is", func(r *rig) { r.write("a.yaml", sharedYAML) }, false},
		"Server": {"it took another server's offer", func(r *rig) { r.src.OtherServer(r.plan(), "10.77.0.9") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, all(1))
			r.start()
			p := r.plan()
			tc.change(r)
			r.turn()
			if got := r.src.Stands(p); got != tc.want {
				t.Errorf("%s: %t, want %t\n%s", tc.reason, got, tc.want, r.said.String())
			}
		})
	}
}

// hide has the folder gone, as where its mount is.
func (r *rig) hide() {
	r.t.Helper()
	if err := os.Rename(r.dir, r.dir+".away"); err != nil {
		r.t.Fatal(err)
	}
}
