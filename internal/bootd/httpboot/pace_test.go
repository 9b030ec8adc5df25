package httpboot

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
)

// TestPace: who holds a machine's token doesn't use up what the API takes of all.
func TestPace(t *testing.T) {
	for name, ask := range map[string]func(*rig) reply{
		"UserData": func(r *rig) reply { return r.do(http.MethodGet, "/v1/boot/"+r.bootToken()+"/user-data", "") },
		"Image": func(r *rig) reply {
			r.session.Consumed = nil
			return r.do(http.MethodGet, "/v1/boot/"+r.bootToken()+"/image", "")
		},
		"Begin": func(r *rig) reply {
			r.session.Consumed = nil
			return r.do(http.MethodPost, "/v1/boot/"+r.bootToken()+"/begin", "")
		},
		"Progress": func(r *rig) reply {
			r.session.Consumed = nil
			return r.do(http.MethodPost, "/v1/boot/"+r.bootToken()+"/progress", "")
		},
		"Installed": func(r *rig) reply { return r.do(http.MethodPost, "/v1/boot/"+r.bootToken()+"/installed", "") },
		"Booted":    func(r *rig) reply { return r.do(http.MethodPost, "/v1/boot/"+r.bootToken()+"/booted", "") },
		"Kernel": func(r *rig) reply {
			r.plan.Method = boot.MethodKernel
			return r.do(http.MethodGet, "/v1/boot/"+r.bootToken()+"/files/sha256-aaaa", "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, owned)
			for i := range liveBurst {
				if got := ask(r); got.status >= 300 {
					t.Fatalf("request %d is within what a boot needs: %d %q", i, got.status, got.body)
				}
			}
			calls, logged := len(r.sessions.calls), strings.Count(r.log.String(), "level=INFO")
			if got := ask(r); got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" {
				t.Errorf("one too many: %d %q", got.status, got.body)
			}
			if n := len(r.sessions.calls); n != calls {
				t.Errorf("the API was asked all the same: %v", r.sessions.calls[calls:])
			}
			if n := strings.Count(r.log.String(), "level=INFO"); n != logged {
				t.Errorf("who asks too often fills the log:\n%s", r.log.String())
			}
			r.now = r.now.Add(time.Second)
			if got := ask(r); got.status >= 300 {
				t.Errorf("a second later: %d %q", got.status, got.body)
			}
		})
	}
}

func TestPaceOfScripts(t *testing.T) {
	r := newRig(t, nil)
	for range liveBurst + 1 {
		r.script(http.MethodGet)
	}
	want := boot.Decision{Answer: boot.AnswerHold, Reason: gate.ReasonPace}
	if got := r.decided[liveBurst]; got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestBodyThatNeverComes: net/http waits for what a handler left of a body before it goes on.
func TestBodyThatNeverComes(t *testing.T) {
	const patience = 200 * time.Millisecond
	s := httptest.NewServer(bounded(newRig(t, nil).http.Config.Handler, patience))
	t.Cleanup(s.Close)
	for name, head := range map[string]string{ //nolint:gosec // No credentials.
		"Get":      "GET /v1/boot/x/script.ipxe HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n",
		"NotFound": "POST /nothing HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
		"NoToken":  "POST /v1/boot/x/begin HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			if _, err := io.WriteString(c, head); err != nil {
				t.Fatal(err)
			}
			_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
			if _, err := io.Copy(io.Discard, c); err != nil {
				t.Errorf("its place is kept: %v", err)
			}
		})
	}
}

func TestEditedDataIsNotGiven(t *testing.T) {
	r := newRig(t, func(r *rig) {
		r.plan.UserDataDigest = boot.DataDigest(r.data)
		r.session.Grant.PlanDigest = r.plan.Digest()
		owned(r)
	})
	if got := r.do(http.MethodGet, "/v1/boot/"+r.bootToken()+"/user-data", ""); got.status != http.StatusOK {
		t.Fatalf("what was granted: %d %q", got.status, got.body)
	}
	r.data = map[string][]byte{"user-data": []byte("#cloud-config\nedited: true\n")}
	if got := r.do(http.MethodGet, "/v1/boot/"+r.bootToken()+"/user-data", ""); got.status != http.StatusServiceUnavailable || strings.Contains(got.body, "edited") {
		t.Errorf("the Secret was edited, and the plan not yet: %d %q", got.status, got.body)
	}
}

// TestDeadlineOfAnEarlierAnswer: what the last write of an image left mustn't cut off what the same connection is asked later.
func TestDeadlineOfAnEarlierAnswer(t *testing.T) {
	const short = 50 * time.Millisecond
	s := httptest.NewServer(bounded(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "ok")
		if r.URL.Path == "/image" {
			c := http.NewResponseController(w)
			_ = c.Flush()
			_ = c.SetWriteDeadline(time.Now().Add(short))
		}
	}), time.Second))
	t.Cleanup(s.Close)
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	in := bufio.NewReader(c)
	for _, path := range []string{"/image", "/installed"} {
		if _, err := io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		time.Sleep(2 * short)
	}
}
