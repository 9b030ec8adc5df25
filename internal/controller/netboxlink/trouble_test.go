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
