package httpboot

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

// discarded is a Sightings that keeps nothing.
type discarded struct{}

func (discarded) Sight(boot.Name, session.Sighting) {}
func (discarded) Sent(boot.Name, int64)             {}

// BenchmarkScript is what a script costs beyond HTTP itself.
func BenchmarkScript(b *testing.B) {
	for name, change := range map[string]func(*rig){
		"Live":      func(r *rig) { r.plan.Mode, r.plan.Method = boot.ModeLive, boot.MethodKernel },
		"LocalDisk": func(r *rig) { r.plan.Artifacts, r.session.Grant = nil, nil },
	} {
		b.Run(name, func(b *testing.B) {
			r := newRig(b, change)
			r.known = r.state()
			o := r.options()
			o.Sightings, o.Logger = discarded{}, slog.New(slog.DiscardHandler)
			o.Decided = func(boot.Decision) {}
			h := New(o).Handler()
			req := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/v1/boot/"+r.scriptToken()+"/script.ipxe?arch=0", nil)
			b.ReportAllocs()
			for b.Loop() {
				w := httptest.NewRecorder()
				h.ServeHTTP(w, req)
				if w.Code != http.StatusOK {
					b.Fatal(w.Code)
				}
			}
		})
	}
}
