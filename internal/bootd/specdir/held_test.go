package specdir

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
)

type noFiles struct{}

func (noFiles) Await(context.Context, boot.Artifact) error { return nil }

func (noFiles) DigestOf(a boot.Artifact) string { return a.Digest }

// gate is the one of a bootd that serves the folder.
func (r *rig) gate(change ...func(*gate.Options)) *gate.Gate {
	o := gate.Options{
		State: r.src.State, Keys: r.src.Keys, Synced: r.src.Synced, Held: r.src.Held, Asks: r.src.Asks, Sessions: r.m, Artifacts: noFiles{},
		Now: r.now, Logger: slog.New(slog.DiscardHandler),
	}
	for _, c := range change {
		c(&o)
	}
	return gate.New(o)
}

// asksFor is the first machine that asks for its script.
func (r *rig) asksFor() gate.Caller {
	c := gate.Caller{Claims: boot.Claims{Kind: boot.TokenScript, Entry: boot.KeyOf(r.plan().EntryUID), Nonce: boot.Stamped("0000000000000001", r.now())}, Plan: r.plan()}
	if s, ok := r.src.State().Sessions[r.plan().EntryUID]; ok {
		c.Session = &s
	}
	return c
}

// screen is what the first machine is told, and why, by its screen.
func (r *rig) screen() boot.Decision {
	r.t.Helper()
	return r.gate().Script(r.t.Context(), r.asksFor(), boot.Firmware{Arch: boot.AMD64}, false, func(gate.Answer) error { return nil }).Decision
}

// TestHeldAfterTheScript: a machine has its script, and then somebody wants to stop it. Nothing is used, and once it's right again the same
// boot goes on.
func TestHeldAfterTheScript(t *testing.T) {
	machine := entryYAML("m1", mac1, "10.77.0.11", 1)
	cases := map[string]struct {
		reason  string
		stop    func(r *rig)
		forGood bool
	}{
		"Profile": {reason: "its profile is removed", stop: func(r *rig) { r.write("net.yaml", networkYAML+"---\n"+givenYAML) }},
		"Secret":  {reason: "its Secret is", stop: func(r *rig) { r.write("net.yaml", networkYAML+"---\n"+profileYAML) }},
		"Wrong":   {reason: "its file is wrong", stop: func(r *rig) { r.write("m.yaml", "a: b\n c: d\n") }},
		"Copied":  {reason: "another entry wants its MAC", stop: func(r *rig) { r.write("a.yaml", entryYAML("a", mac1, "10.77.0.12", 1)) }},
		"Lowered": {reason: "its generation is lowered, a moment ago", stop: func(r *rig) {
			r.src.o.Still = time.Hour
			r.write("m.yaml", entryYAML("m1", mac1, "10.77.0.11", 0))
		}},
		"Paused":  {reason: "its entry is paused", stop: func(r *rig) { r.write("m.yaml", idleYAML(1, `, annotations: {crossplane.io/paused: "true"}`, "")) }},
		"Deleted": {reason: "its entry is being deleted", stop: func(r *rig) { r.write("m.yaml", idleYAML(1, `, deletionTimestamp: "2026-08-01T09:00:00Z"`, "")) }},
		"OtherServer": {
			reason: "it takes another server's offer", forGood: true,
			stop: func(r *rig) { r.src.OtherServer(r.plan(), "10.77.0.3") },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "")
			r.write("net.yaml", sharedYAML)
			r.write("m.yaml", machine)
			r.start()
			g := r.gate()
			fw := boot.Firmware{Arch: boot.AMD64}
			script := r.asksFor()
			a := g.Script(t.Context(), script, fw, true, func(gate.Answer) error { return nil })
			if a.Answer != boot.AnswerInstall {
				t.Fatalf("%+v\n%s", a, r.said.String())
			}
			admit := func() error {
				t.Helper()
				c, ok := g.Caller(a.Token, boot.TokenBoot)
				if !ok || !c.Fits() {
					return errors.New("its token is good no more")
				}
				_, err := g.Admit(t.Context(), c, true)
				return err
			}
			tc.stop(r)
			r.turn()
			if err := admit(); !errors.Is(err, gate.ErrHeld) {
				t.Errorf("%s: %v", tc.reason, err)
			}
			if n := len(r.m.Logged(r.plan().EntryUID, r.plan().HostUID)); n != 0 {
				t.Errorf("%s: %d consumptions are in the log", tc.reason, n)
			}
			if now := r.plan(); now.InstallGeneration == 0 && now.Otherwise == boot.OtherwiseHold {
				next := g.Script(t.Context(), gate.Caller{Claims: script.Claims, Plan: now, Session: script.Session}, fw, true, func(gate.Answer) error { return nil })
				if next.Answer != boot.AnswerHold || next.Reason != gate.ReasonHeld {
					t.Errorf("%s: its screen says %+v", tc.reason, next.Decision)
				}
			}
			if tc.forGood {
				return
			}
			remove(t, r.dir+"/a.yaml")
			r.write("net.yaml", sharedYAML)
			r.write("m.yaml", machine)
			r.turn()
			if err := admit(); err != nil {
				t.Errorf("%s: once it's right again: %v\n%s", tc.reason, err, r.said.String())
			}
		})
	}
}
