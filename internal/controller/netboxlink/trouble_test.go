package netboxlink

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// TestNoNetBoxSentence: who asks something else than a NetBox is told to check the URL, not to make what he asked for there.
func TestNoNetBoxSentence(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"detail":"Not Found"}`))
	}))
	t.Cleanup(srv.Close)
	c, err := netbox.New(netbox.Config{URL: srv.URL, Token: "0123456789abcdef0123456789abcdef01234567", MarkerField: "f"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Status(t.Context())
	const want = `what answers at the URL of ClusterProviderConfig "netbox" isn't a NetBox: it answered 404, as no NetBox does where it's asked to read the version of NetBox; check the URL`
	if reason, message := Trouble(err, `ClusterProviderConfig "netbox"`, "f", "n"); reason != v1alpha1.ReasonInvalid || !strings.HasPrefix(message, want) {
		t.Errorf("%s: %s", reason, message)
	}
}

// TestUnknownOutcome: whoever meets the same answer at each change is told where to look, and nobody who has but to wait.
func TestUnknownOutcome(t *testing.T) {
	const front, log = "; if that goes on, see in what stands in front of that NetBox why it doesn't let such a request through", "; if that goes on, the log of that NetBox says over what it fails"
	for name, tc := range map[string]struct {
		reason string
		status int
		want   string
	}{
		"Lost":    {"a connection that broke", 0, ""},
		"Torn":    {"an answer that isn't whole", http.StatusOK, ""},
		"Blocked": {"a firewall's page", http.StatusForbidden, front},
		"Method":  {"a proxy that takes no PATCH", http.StatusMethodNotAllowed, front},
		"Legal":   {"the last of them", http.StatusUnavailableForLegalReasons, front},
		"Waited":  {"a gateway that didn't wait any longer", http.StatusRequestTimeout, ""},
		"Closed":  {"in nginx's words", 499, ""},
		"Inside":  {"NetBox fails", http.StatusInternalServerError, log},
		"Down":    {"NetBox is down", http.StatusBadGateway, ""},
		"Slow":    {"or slow", http.StatusGatewayTimeout, ""},
	} {
		t.Run(name, func(t *testing.T) {
			reason, message := Trouble(&netbox.Error{Kind: netbox.KindUnknownOutcome, Status: tc.status}, `ClusterProviderConfig "netbox"`, "f", "n")
			if reason != v1alpha1.ReasonUnreachable || !strings.HasSuffix(message, "so nothing is made twice"+tc.want) {
				t.Errorf("%s: %s: %q, want it to end in %q", tc.reason, reason, message, tc.want)
			}
		})
	}
}
