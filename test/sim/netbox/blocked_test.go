package netbox_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// TestBlockedMethods: where something in front of NetBox lets no PATCH or no DELETE through, or NetBox fails over each, its owner is told where to look,
// however often it's tried. Nothing is forgotten, and it's done once it can be.
func TestBlockedMethods(t *testing.T) {
	for _, code := range []int{http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusNotAcceptable, http.StatusUnavailableForLegalReasons, http.StatusInternalServerError} {
		for _, method := range []string{http.MethodPatch, http.MethodDelete} {
			t.Run(fmt.Sprintf("%s/%d", method, code), func(t *testing.T) {
				l := newLab(t, "4.6.8")
				l.netbox.AddMarkerField(field)
				var blocks atomic.Bool
				front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if !blocks.Load() || r.Method != method {
						l.netbox.ServeHTTP(w, r)
						return
					}
					w.Header().Set("Content-Type", "text/html")
					w.WriteHeader(code)
					_, _ = w.Write([]byte("<html>blocked</html>"))
				}))
				t.Cleanup(front.Close)
				l.config.Config.URL = front.URL
				l.apply("web-1", func(*v1alpha1.NetBoxIPAddress) {})
				l.settle("web-1", ready)
				blocks.Store(true)
				done := gone
				if method == http.MethodDelete {
					l.remove()
				} else {
					l.edit(func(p *v1alpha1.NetBoxIPAddressParameters) { p.Description = new("web") })
					done = ready
				}
				for range 6 {
					l.once("web-1")
					l.now = l.now.Add(40 * time.Second)
				}
				says := "; if that goes on, see in what stands in front of that NetBox why"
				if code == http.StatusInternalServerError {
					says = "; if that goes on, the log of that NetBox says over what"
				}
				if m := l.get("web-1").GetCondition(xpv2.TypeSynced).Message; !strings.Contains(m, fmt.Sprintf("(status %d)", code)) || !strings.Contains(m, says) {
					t.Errorf("it says %q, want status %d and %q", m, code, says)
				}
				blocks.Store(false)
				l.settle("web-1", done)
				if n := len(l.netbox.Addresses()); (n == 0) != (method == http.MethodDelete) {
					t.Errorf("NetBox has %d addresses", n)
				}
			})
		}
	}
}
