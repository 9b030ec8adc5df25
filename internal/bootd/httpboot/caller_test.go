package httpboot

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestWhoIsLogged: each decision, and each request that has to wait, is told of with its machine.
func TestWhoIsLogged(t *testing.T) {
	r := newRig(t, nil)
	r.script(http.MethodGet)
	r.sessions.err = errors.New("the API server is away")
	if got := r.do(http.MethodPost, "/v1/boot/"+r.bootToken()+"/begin", ""); got.status != http.StatusServiceUnavailable {
		t.Fatalf("%+v", got)
	}
	for _, want := range []string{
		"msg=script entry=team/web answer=" + string(boot.AnswerInstall) + " reason=" + boot.DecidedGranted + " mac=52:54:00:00:00:01",
		`msg="a machine must wait" entry=team/web mac=52:54:00:00:00:01 error="the API server is away"`,
	} {
		if !strings.Contains(r.log.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, r.log.String())
		}
	}
}

// TestWhoSaysAndGoes: what a machine has said whole counts, also where it doesn't wait for the answer: an install that nobody heard begin is begun again.
func TestWhoSaysAndGoes(t *testing.T) {
	for _, verb := range []string{"begin", "progress", "installed", "failed", "booted"} {
		r := newRig(t, nil)
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		w := httptest.NewRecorder()
		New(r.options()).Handler().ServeHTTP(w, httptest.NewRequestWithContext(gone, http.MethodPost, "/v1/boot/"+r.bootToken()+"/"+verb, http.NoBody))
		if w.Code != http.StatusNoContent || len(r.sessions.calls) != 1 {
			t.Errorf("%s: %d, %v", verb, w.Code, r.sessions.calls)
		}
	}
}
