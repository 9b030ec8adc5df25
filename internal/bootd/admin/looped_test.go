package admin

import (
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestLooped: a machine that has begun once more than its grant serves scripts was served all of them, and no more.
func TestLooped(t *testing.T) {
	e := newRig(t, func(r *rig) {
		r.session.OpenedGrantID, r.session.Opened = r.session.Grant.ID, make([]boot.Opened, boot.MaxOpens+1)
	}).explains(Query{Entry: "m1", Firmware: "bios"})
	if text := e.Text(); !strings.Contains(text, "5 of 5 scripts") || e.Scripts[0].Reason != boot.DecidedBootLoop {
		t.Errorf("%s", text)
	}
}
