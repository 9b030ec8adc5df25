package httpboot

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestHandshakes: whoever runs bootd hears, once, of a machine that doesn't take its certificate.
func TestHandshakes(t *testing.T) {
	failed := func(client, why string) string {
		return fmt.Sprintf("http: TLS handshake error from %s: %s", client, why)
	}
	many := make([]string, 2*maxUnmet)
	for i := range many {
		many[i] = failed(fmt.Sprintf("10.0.0.%d:1", i), "tls: no cipher suite supported by both client and server")
	}
	cases := map[string]struct {
		reason string
		lines  []string
		want   int // warnings
	}{
		"Untrusted": {"it's told why", []string{failed("10.0.0.1:4711", "remote error: tls: unknown certificate authority")}, 1},
		"Again":     {"firmware tries again and again", []string{failed("10.0.0.1:1", "remote error: tls: bad certificate"), failed("10.0.0.1:2", "remote error: tls: bad certificate")}, 1},
		"Others":    {"each machine is told of", []string{failed("10.0.0.1:1", "tls: a"), failed("[2001:db8::1]:1", "tls: a")}, 2},
		"Silent":    {"UEFI that trusts nobody opens a connection and says nothing", []string{failed("10.0.0.1:1", "EOF")}, 1},
		"Else":      {"an HTTP server says other things", []string{"http: superfluous response.WriteHeader call"}, 0},
		"Many":      {"and a scan of all addresses fills no log", many, maxUnmet},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			to := errorLog(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelInfo})))
			for _, l := range tc.lines {
				to.Println(l)
			}
			if diff := cmp.Diff(tc.want, strings.Count(out.String(), "level=WARN")); diff != "" {
				t.Errorf("%s (-want +got):\n%s\n%s", tc.reason, diff, out.String())
			}
		})
	}
}
