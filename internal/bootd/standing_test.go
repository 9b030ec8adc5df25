package bootd

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

// TestStandsWhenWritten: who writes down that a grant is used asks the source right before, whoever asked when the machine did.
func TestStandsWhenWritten(t *testing.T) {
	const digest = "sha256:2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
	site := strings.NewReplacer("mode: Live", "mode: Install", "method: Kernel", "method: DiskImage", `"`+digest+`"}`, `"`+digest+`"}, image: {url: "http://127.0.0.1:1/i", digest: "`+digest+`"}`,
		"profileRef: {name: live}", "profileRef: {name: live}\n    install: {generation: 1}", "%s", "127.0.0.9").Replace(specsYAML)
	c := Config{Name: "b", StateDir: t.TempDir(), SpecDir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)}
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(c.SpecDir, "a.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(site)
	c, err := c.complete()
	if err != nil {
		t.Fatal(err)
	}
	d, err := assemble(c)
	if err != nil {
		t.Fatal(err)
	}
	runs := sync.WaitGroup{}
	t.Cleanup(runs.Wait)
	for _, run := range []func(context.Context) error{d.source.Run, d.sessions.Run} {
		runs.Go(func() { _ = run(t.Context()) })
	}
	var p *boot.Plan
	var grant *boot.Grant
	eventually(t, "a grant", func() bool {
		if st := d.state(); st != nil {
			p, _ = st.ByMAC("52:54:00:00:00:01")
		}
		if p == nil {
			return false
		}
		s := d.state().Sessions[p.EntryUID]
		grant = s.Grant
		return grant != nil
	})
	claims := boot.Claims{Kind: boot.TokenBoot, Entry: boot.KeyOf(p.EntryUID), GrantID: grant.ID, Nonce: "00000000000000b1"}
	if err := d.sessions.Open(t.Context(), p, claims, boot.Exchange{Began: time.Now(), GrantID: grant.ID}); err != nil {
		t.Fatal(err)
	}
	write(strings.Replace(site, "name: m1}", `name: m1, annotations: {crossplane.io/paused: "true"}}`, 1))
	eventually(t, "its pause", func() bool { return d.source.Held(p) })
	if err := d.sessions.Consume(t.Context(), p, claims); !errors.Is(err, session.ErrHeld) {
		t.Errorf("its grant is used: %v", err)
	}
	write(site)
	eventually(t, "the end of that", func() bool { return d.source.Stands(p) })
	if err := d.sessions.Consume(t.Context(), p, claims); err != nil {
		t.Error(err)
	}
}
