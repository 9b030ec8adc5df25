package kubesource

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// TestSkew: a host whose clock isn't the API server's installs nothing, and its BootServer and its log say so.
func TestSkew(t *testing.T) {
	cases := map[string]struct {
		reason string
		ahead  time.Duration // of this host's clock
		want   string
	}{
		"Right":  {"as it should be", 0, ""},
		"Little": {"no two clocks are alike", maxSkew - time.Minute, ""},
		"Behind": {"a grant that has expired looks good there", -25 * time.Hour, " behind the API server's, and nothing is installed by it; set it"},
		"Ahead":  {"and a good one looks expired", 25 * time.Hour, " ahead of the API server's, and nothing is installed by it; set it"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			here := time.Now().Truncate(time.Second)
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Date", here.Add(-tc.ahead).UTC().Format(http.TimeFormat))
				w.WriteHeader(http.StatusForbidden)
			}))
			t.Cleanup(srv.Close)
			c, err := NewClient(&rest.Config{Host: srv.URL, QPS: 100, Burst: 100})
			if err != nil {
				t.Fatal(err)
			}
			s := newSource(t, &log{}, &clock{now: here})
			s.o.Kube = c
			if s.Skewed() {
				t.Error("nobody has said yet what time it is")
			}
			_ = c.Get(t.Context(), types.NamespacedName{Namespace: "x", Name: "y"}, &v1alpha1.BootServer{}) // What it says is enough.
			if s.Skewed() != (tc.want != "") {
				t.Errorf("%s: skewed %t", tc.reason, s.Skewed())
			}
			w := clockWatch{log: slog.New(slog.NewTextHandler(&b, nil)), now: s.o.Now}
			for range 3 {
				w.after(s.skew())
			}
			said := b.String()
			if n := strings.Count(said, "level=ERROR"); n != min(len(tc.want), 1) || !strings.Contains(said, tc.want) {
				t.Errorf("%s: it's told %d times:\n%s", tc.reason, n, said)
			}
			w.after(0)
			w.after(0)
			if n := strings.Count(b.String(), "level=INFO"); n != min(len(tc.want), 1) {
				t.Errorf("%s: that it's over is told %d times", tc.reason, n)
			}
			got := s.status(listed(t, s, "7", nil, nil), 7).Message
			if x, _ := serverOf(&v1alpha1.BootServer{Status: v1alpha1.BootServerStatus{Message: got}}); x.draining != (tc.want != "") {
				t.Errorf("%s: boots are left to it: %t", tc.reason, !x.draining)
			}
			c.unwritten.Store(true) // Whatever else there is.
			if x, _ := serverOf(&v1alpha1.BootServer{Status: s.status(listed(t, s, "7", nil, nil), 7)}); x.draining != (tc.want != "") {
				t.Errorf("%s: once sessions are refused, too, boots are left to it: %t", tc.reason, !x.draining)
			}
			s.Drain()
			if also := s.status(listed(t, s, "7", nil, nil), 7).Message; !strings.HasPrefix(also, draining) || strings.Contains(also, clockOf) != (tc.want != "") {
				t.Errorf("%s: while it's stopping it says %q", tc.reason, also)
			}
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Error(cmp.Diff(tc.want, got))
			}
			if tc.want != "" {
				t.Logf("\n| bootd: its host's clock isn't the API server's | 1 | 1 |")
			}
		})
	}
}

// TestSkewEnds: a clock that's at the edge isn't now wrong and now right.
func TestSkewEnds(t *testing.T) {
	s := newSource(t, &log{}, &clock{now: t0()})
	at := &says{}
	s.o.Kube = at
	for _, step := range []struct {
		ahead time.Duration
		want  bool
	}{{maxSkew - time.Second, false}, {maxSkew + time.Second, true}, {maxSkew - time.Second, true}, {maxSkew - rightAgain - time.Second, false}, {maxSkew - time.Second, false}} {
		at.now = t0().Add(-step.ahead)
		if got := s.Skewed(); got != step.want {
			t.Errorf("%s ahead: %t", step.ahead, got)
		}
	}
}

// says is an API that says what time it is.
type says struct {
	API

	now time.Time
}

func (s *says) Clock() (time.Time, bool) { return s.now, true }
