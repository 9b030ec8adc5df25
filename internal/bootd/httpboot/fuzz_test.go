package httpboot

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// FuzzPath: whatever path is asked for, in whatever way, nobody is sent elsewhere, no session is asked, and nothing comes back that only a
// boot may have.
func FuzzPath(f *testing.F) {
	for _, p := range []string{
		"/v1/boot/x/script.ipxe", "/v1/boot/x/user-data", "/v1/boot//image", "//v1/firmware/snponly.efi", "/v1/firmware/..%2fkey", "/v1/boot/%00/files/sha256-..",
		"/v1/boot/x/../y/installed", "/%2e%2e/", "*", "",
	} {
		f.Add(http.MethodGet, p, "arch=7")
	}
	f.Add(http.MethodPost, "/v1/boot/x/installed", "")
	f.Add(http.MethodHead, "/v1/boot/x/script.ipxe", "arch=99999999999&arch=%zz;")
	r := &rig{synced: true, now: time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC), key: []byte("key"), files: files{dir: f.TempDir()}}
	r.plan = boot.Plan{EntryUID: "entry", Mode: boot.ModeInstall, InstallGeneration: 1}
	r.data = map[string][]byte{"user-data": []byte("#cloud-config\n{}\n")}
	o := r.options()
	o.Logger, o.Decided = slog.New(slog.DiscardHandler), func(boot.Decision) {}
	h := cleaned(New(o).Handler())
	f.Fuzz(func(t *testing.T, method, path, query string) {
		if !strings.HasPrefix(path, "/") {
			return // net/http takes no other, but of OPTIONS.
		}
		u := &url.URL{Path: path, RawQuery: query}
		if plain, err := url.PathUnescape(path); err == nil && plain != path {
			u.Path, u.RawPath = plain, path
		}
		req := &http.Request{
			Method: method, URL: u, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, Body: http.NoBody, Host: "x",
			RemoteAddr: "10.0.0.9:1234", RequestURI: path,
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req.WithContext(t.Context()))
		body := w.Body.String()
		if w.Code == http.StatusOK && !strings.HasPrefix(body, "#!ipxe\n") && body != "ipxe" && method != http.MethodHead {
			t.Fatalf("%s %q gives %q", method, path, body)
		}
		if w.Code >= 300 && w.Code < 400 || w.Code == http.StatusInternalServerError || w.Header().Get("Location") != "" {
			t.Fatalf("%s %q is answered %d, to %q", method, path, w.Code, w.Header().Get("Location"))
		}
		if strings.Contains(body, "cloud-config") || len(r.sessions.calls) > 0 {
			t.Fatalf("%s %q gives away %q, and calls %v", method, path, body, r.sessions.calls)
		}
	})
}
