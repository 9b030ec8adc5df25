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
		"Unread":  {"what it says now isn't known", func(r *rig) { r.hide() }, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "")
			r.write("net.yaml", sharedYAML)
			r.write("m.yaml", machine)
			r.start()
			p := r.plan()
			g := gate.New(gate.Options{
				State: r.src.State, Keys: r.src.Keys, Synced: r.src.Synced, Held: r.src.Held, Sessions: r.m, Artifacts: noFiles{},
				Now: r.now, Logger: slog.New(slog.DiscardHandler),
				Reread: func(ctx context.Context, p *boot.Plan) bool {
					ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
					defer cancel()
					return r.src.Reread(ctx, p)
				},
			})
			s := r.src.State().Sessions[p.EntryUID]
			script := gate.Caller{
				Claims: boot.Claims{Kind: boot.TokenScript, Entry: boot.KeyOf(p.EntryUID), Nonce: boot.Stamped("0000000000000001", r.now())}, Plan: p, Session: &s,
			}
			a := g.Script(t.Context(), script, boot.Firmware{Arch: boot.AMD64}, true, func(gate.Answer) error { return nil })
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
	r.src.looks.take()
	late := r.src.looks.ask()
	r.write("a.yaml", all(2))
	r.src.answers()
	if answered() || !r.src.stale {
		t.Error("what the folder holds is read, and not resolved")
	}
	r.src.resolve()
	r.src.answer()
	if answered() {
		t.Error("it's resolved, and not served")
	}
	r.src.turn()
	r.src.answer()
	if !answered() || r.plan().InstallGeneration != 2 {
		t.Error("it's served, and nobody is told")
	}
	if asked = late; !answered() { // Of the look by answers.
		t.Error("who asked before that look isn't told")
	}
	asked = r.src.looks.ask()
	r.src.answer()
	if answered() {
		t.Error("who asked during a look is told of that")
	}
	if !r.src.looks.any() || r.src.overtaken() || !answered() {
		t.Error("nothing has changed, and who asks while grants are made waits")
	}
	asked = r.src.looks.ask()
	r.write("a.yaml", all(3))
	if !r.src.overtaken() || answered() {
		t.Error("grants are made by what stands there no more")
	}
	r.src.looks.end()
	if p := r.plan(); !answered() || r.src.Reread(t.Context(), p) {
		t.Error("nobody looks any more, and somebody waits for it")
	}
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
	var all []string
	for i := range others {
		all = append(all, wide.Replace(entryYAML(fmt.Sprintf("x%d", i), fmt.Sprintf("52:54:01:00:%02x:%02x", i>>8, i&255), fmt.Sprintf("10.78.%d.%d", 1+i>>8, i&255), 1)))
	}
	r.write("b.yaml", strings.Join(all, "---\n"))
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

// hide has the folder gone, as where its mount is.
func (r *rig) hide() {
	r.t.Helper()
	if err := os.Rename(r.dir, r.dir+".away"); err != nil {
		r.t.Fatal(err)
	}
}
