package httpboot

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

// FuzzCallback: whatever a boot that may report says, it's heard, or refused as documented, and then nothing was said. What is kept of it is one short line.
func FuzzCallback(f *testing.F) {
	for _, body := range []string{
		"", `{"message":"no disk"}`, `{"percent":50,"message":"a\u0007\nb"}`, `{"percent":1e99}`, `{"percent":-1,"message":null}`, `[]`, `null`, `{`, "<xml>", "\xff\x00",
		`{"message":"` + strings.Repeat(`\ud800`, session.MaxMessage) + `"}`, `{"message":"` + strings.Repeat("ö", session.MaxMessage) + `","percent":100}`,
	} {
		for verb := range uint8(5) {
			f.Add(verb, body, uint32(0))
		}
	}
	f.Add(uint8(1), `{"percent":5}`, uint32(maxBody-len(`{"percent":5}`)))
	f.Add(uint8(2), `{"percent":5}`, uint32(maxBody))
	r := newRig(f, owned)
	token, verbs := r.bootToken(), []string{"begin", "progress", "installed", "failed", "booted"}
	f.Fuzz(func(t *testing.T, verb uint8, body string, blanks uint32) {
		body += strings.Repeat(" ", int(blanks%(2*maxBody))) // What is as long is slow to be changed.
		r.sessions.calls, r.sessions.sights = nil, nil
		o := r.options() // Its gate has heard of no end yet.
		o.Logger = slog.New(slog.DiscardHandler)
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/boot/"+token+"/"+verbs[int(verb)%len(verbs)], strings.NewReader(body))
		w := httptest.NewRecorder()
		cleaned(New(o).Handler()).ServeHTTP(w, req)
		want := http.StatusNoContent
		switch {
		case len(body) > maxBody:
			want = http.StatusRequestEntityTooLarge
		case body != "" && json.Unmarshal([]byte(body), &report{}) != nil:
			want = http.StatusBadRequest
		}
		if w.Code != want || want == http.StatusNoContent && w.Body.Len() > 0 {
			t.Fatalf("%q is answered %d %q, want %d", body, w.Code, w.Body, want)
		}
		var said []string
		for _, call := range r.sessions.calls {
			_, message, _ := strings.Cut(call, " ")
			said = append(said, message)
		}
		for _, x := range r.sessions.sights {
			said = append(said, x.Message)
		}
		if want != http.StatusNoContent && len(said) > 0 {
			t.Fatalf("%q is refused, and said %q", body, said)
		}
		for _, s := range said {
			if len(s) > session.MaxMessage+len(" (100 %)") || !utf8.ValidString(s) || strings.ContainsFunc(s, func(c rune) bool { return !unicode.IsPrint(c) }) {
				t.Fatalf("%q says %q", body, s)
			}
		}
	})
}
