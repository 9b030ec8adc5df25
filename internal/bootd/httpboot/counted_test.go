package httpboot

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAllIsCounted: what nobody serves is counted as well, once, and by no path of its asker's making.
func TestAllIsCounted(t *testing.T) {
	r := newRig(t, nil)
	var got []string
	o := r.options()
	o.Served = func(route string, code int) { got = append(got, fmt.Sprintf("%s %d", route, code)) }
	h := New(o).Handler()
	for _, ask := range [][2]string{
		{http.MethodGet, "/v1/firmware/snponly.efi"}, {http.MethodGet, "/v1/boot/x/script.ipxe"}, {http.MethodGet, "/v1/boot/x/nothing"}, {http.MethodGet, "/v1/"},
		{http.MethodDelete, "/v1/boot/x/script.ipxe"}, {http.MethodPost, "/v1/boot/x/image"},
	} {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(ask[0], ask[1], http.NoBody))
	}
	want := []string{"GET /v1/firmware/{name} 200", "GET /v1/boot/{token}/script.ipxe 200", "none 404", "none 404", "none 405", "none 405"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
