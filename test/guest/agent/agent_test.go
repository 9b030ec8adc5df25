package agent_test

import (
	"bytes"
	"context"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/test/guest/agent"
	"github.com/crossplane-contrib/provider-baremetal/test/guest/cmdline"
)

const image = "the image that is written to the disk"

var errBoom = errors.New("boom")

// memory is a disk.
type memory struct {
	mu      sync.Mutex
	content []byte
	synced  int
	err     error
}

func (d *memory) WriteAt(p []byte, off int64) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil {
		return 0, d.err
	}
	if need := int(off) + len(p); need > len(d.content) {
		d.content = append(d.content, make([]byte, need-len(d.content))...)
	}
	return copy(d.content[off:], p), nil
}

func (d *memory) Sync() error {
	d.synced++
	return nil
}

// server is bootd as far as an installer sees it.
type server struct {
	mu       sync.Mutex
	requests []string
	last     map[string]any
	override map[string]http.HandlerFunc // by path; one use each
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+r.Header.Get("Range")))
	h := s.override[r.URL.Path]
	delete(s.override, r.URL.Path)
	s.mu.Unlock()
	switch {
	case h != nil:
		h(w, r)
	case r.Method == http.MethodPost:
		body := map[string]any{}
		_ = json.NewDecoder(r.Body).Decode(&body)
		s.mu.Lock()
		s.last = body
		s.mu.Unlock()
		w.WriteHeader(http.StatusNoContent)
	case r.URL.Path == "/b/image":
		http.ServeContent(w, r, "image", time.Time{}, strings.NewReader(image))
	default:
		_, _ = io.WriteString(w, "#cloud-config\n")
	}
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func halfAndDie(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "37")
	_, _ = io.WriteString(w, image[:10])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

func TestInstall(t *testing.T) {
	sum := sha512.Sum512([]byte(image))
	good := "sha512:" + hex.EncodeToString(sum[:])
	whole := []string{
		"POST /b/begin", "GET /b/user-data", "GET /b/image", "POST /b/progress", "POST /b/installed",
	}
	cases := map[string]struct {
		reason   string
		change   func(*cmdline.Parameters)
		override map[string]http.HandlerFunc
		disk     *memory
		requests []string
		err      string
		content  string
	}{
		"Whole": {
			reason: "begin comes before the first byte, installed after the last is on the disk", requests: whole, content: image,
		},
		"NoUserData": {
			reason: "a plan without user data has no address for it", content: image,
			change:   func(p *cmdline.Parameters) { p.UserData = "" },
			requests: []string{"POST /b/begin", "GET /b/image", "POST /b/progress", "POST /b/installed"},
		},
		"BrokenTransfer": {
			reason: "what is on the disk is not written again", override: map[string]http.HandlerFunc{"/b/image": halfAndDie}, content: image,
			requests: []string{
				"POST /b/begin", "GET /b/user-data", "GET /b/image", "GET /b/image bytes=10-", "POST /b/progress", "POST /b/installed",
			},
		},
		"BusyServer": {
			reason: "a server that is starting is asked again", content: image,
			override: map[string]http.HandlerFunc{"/b/begin": status(http.StatusServiceUnavailable)},
			requests: append([]string{"POST /b/begin"}, whole...),
		},
		"BeginRefused": {
			reason:   "without consent nothing is written, and there is nobody to complain to",
			override: map[string]http.HandlerFunc{"/b/begin": status(http.StatusConflict)},
			requests: []string{"POST /b/begin"}, err: "answered 409",
		},
		"WrongDigest": {
			reason: "an image that isn't the plan's is reported", content: image,
			change:   func(p *cmdline.Parameters) { p.ImageDigest = "sha256:00" },
			requests: []string{"POST /b/begin", "GET /b/user-data", "GET /b/image", "POST /b/failed"}, err: "the command line says sha256:00",
		},
		"UnknownAlgorithm": {
			reason:   "nothing is written that can't be verified",
			change:   func(p *cmdline.Parameters) { p.ImageDigest = "md5:00" },
			requests: []string{"POST /b/begin", "GET /b/user-data", "POST /b/failed"}, err: "md5",
		},
		"Compressed": {
			reason:   "an image that would be written packed is refused before begin",
			change:   func(p *cmdline.Parameters) { p.Compression = "Zstd" },
			requests: []string{"POST /b/failed"}, err: "Zstd",
		},
		"DiskError": {
			reason: "a disk that can't be written is reported", disk: &memory{err: errBoom},
			requests: []string{"POST /b/begin", "GET /b/user-data", "GET /b/image", "POST /b/failed"}, err: "boom",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &server{override: tc.override}
			h := httptest.NewServer(s)
			defer h.Close()
			p := cmdline.Parameters{
				Callback: h.URL + "/b", Image: h.URL + "/b/image", ImageDigest: good, UserData: h.URL + "/b/user-data", Compression: "None",
			}
			if tc.change != nil {
				tc.change(&p)
			}
			disk := tc.disk
			if disk == nil {
				disk = &memory{}
			}
			patience := 5 * time.Second
			if name == "DiskError" {
				patience = 0
			}
			a := agent.Agent{HTTP: h.Client(), Log: t.Logf, Patience: patience}
			err := a.Install(t.Context(), p, func() (agent.Disk, error) { return disk, nil })
			if tc.err == "" && err != nil || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) {
				t.Errorf("%s: error %v, want %q", tc.reason, err, tc.err)
			}
			if diff := cmp.Diff(tc.requests, s.requests); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
			if !bytes.Equal([]byte(tc.content), disk.content) && tc.content != "" {
				t.Errorf("%s: the disk holds %q", tc.reason, disk.content)
			}
			if tc.err == "" && disk.synced != 1 {
				t.Errorf("%s: the disk was flushed %d times", tc.reason, disk.synced)
			}
		})
	}
}

func TestInstallWithoutDisk(t *testing.T) {
	s := &server{}
	h := httptest.NewServer(s)
	defer h.Close()
	a := agent.Agent{HTTP: h.Client(), Log: t.Logf}
	err := a.Install(t.Context(), cmdline.Parameters{Callback: h.URL}, func() (agent.Disk, error) { return nil, errBoom })
	if !errors.Is(err, errBoom) {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff([]string{"POST /failed"}, s.requests); diff != "" {
		t.Errorf("a machine without a disk uses up no grant: -want +got:\n%s", diff)
	}
	if s.last["message"] != "boom" {
		t.Errorf("the report says %v", s.last)
	}
}

func TestCallGivesUpWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	a := agent.Agent{HTTP: http.DefaultClient, Patience: time.Hour, Log: func(string, ...any) { cancel() }}
	if err := a.Call(ctx, cmdline.Parameters{Callback: "http://127.0.0.1:1"}, "begin", "", 0); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
