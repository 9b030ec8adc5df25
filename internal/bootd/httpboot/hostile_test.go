package httpboot

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestHostileRequests: raw bytes, as nobody's HTTP library sends them. Nothing of them reaches a session, a file or the log.
func TestHostileRequests(t *testing.T) {
	r := newRig(t, nil)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, l, r.http.Config.Handler, slog.New(slog.DiscardHandler)) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	other := r.mint(boot.Claims{Kind: boot.TokenBoot, Entry: boot.KeyOf("another machine"), GrantID: grantID, Nonce: r.nonce()})
	late := r.mint(boot.Claims{Kind: boot.TokenBoot, GrantID: grantID, Nonce: r.nonce(), Expires: r.now})
	get := func(path string, more ...string) string {
		return "GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + strings.Join(append(more, "\r\n"), "\r\n")
	}
	own := "/v1/boot/" + r.bootToken()
	cases := map[string]struct {
		reason, send string
		status       string
	}{
		"Traversal":      {"a name is no path", get("/v1/firmware/..%2f..%2f..%2fetc%2fpasswd"), "404"},
		"Backslash":      {"nor is this one", get(`/v1/firmware/..%5c..%5cetc`), "404"},
		"NUL":            {"nor this one", get("/v1/firmware/snponly.efi%00.txt"), "404"},
		"FileTraversal":  {"a digest neither", get(own + "/files/sha256-..%2f..%2fconsumed.log"), "404"},
		"EmptyToken":     {"no token", get("/v1/boot/%20/user-data"), "403"},
		"LongToken":      {"too long for one", get("/v1/boot/" + strings.Repeat("A", 8000) + "/user-data"), "403"},
		"OtherMachine":   {"a token of a machine that has no plan", get("/v1/boot/" + other + "/user-data"), "403"},
		"Expired":        {"a token of yesterday", get("/v1/boot/" + late + "/user-data"), "403"},
		"ScriptToken":    {"what asks for scripts gives no data", get("/v1/boot/" + r.scriptToken() + "/user-data"), "403"},
		"Method":         {"nothing is deleted here", strings.Replace(get(own+"/image"), "GET", "DELETE", 1), "405"},
		"GetCallback":    {"who only looks reports nothing", get(own + "/installed"), "405"},
		"Headers":        {"more than a boot needs", get(own+"/image", "X: "+strings.Repeat("a", 40<<10)), "431"},
		"SmuggledLength": {"two lengths", "POST " + own + "/begin HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}", "400"},
		"Smuggled":       {"two framings", "POST " + own + "/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 3\r\nTransfer-Encoding: gzip\r\n\r\n", "501"},
		"LargeBody":      {"a report isn't a book", "POST " + own + "/failed HTTP/1.1\r\nHost: x\r\nContent-Length: 70000\r\n\r\n" + strings.Repeat(" ", 70000), "413"},
		"NoJSON":         {"nor anything", "POST " + own + "/failed HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx", "400"},
		"RangeBeyond":    {"there's no such part", get(own+"/files/sha256-bbbb", "Range: bytes=99-"), "416"},
		"Ranges":         {"a thousand parts of six octets are more than the whole", get(own+"/files/sha256-bbbb", "Range: bytes="+strings.Repeat("0-5,", 1000)+"0-5"), "200"},
		"Garbage":        {"no HTTP at all", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", "400"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			_ = c.SetDeadline(time.Now().Add(20 * time.Second))
			go func() { _, _ = io.WriteString(c, tc.send) }()
			resp, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			defer func() { _ = resp.Body.Close() }()
			if !strings.HasPrefix(resp.Status, tc.status) {
				t.Errorf("%s: %s, want %s", tc.reason, resp.Status, tc.status)
			}
			if n := resp.ContentLength; n > 1000 {
				t.Errorf("%s: an answer of %d bytes", tc.reason, n)
			}
		})
	}
	if len(r.sessions.calls) > 0 {
		t.Errorf("sessions were asked: %v", r.sessions.calls)
	}
}
