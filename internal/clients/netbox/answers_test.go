package netbox

import (
	"net/http"
	"testing"
)

// TestETag: what is in front of NetBox may say in an ETag how it compressed the answer; NetBox knows only its own.
func TestETag(t *testing.T) {
	const own = `W/"2026-11-21T03:13:36.123456+00:00"`
	for in, want := range map[string]string{
		own: own, `W/"2026-11-21T03:13:36.123456+00:00-gzip"`: own, `W/"2026-11-21T03:13:36.123456+00:00-br"`: own, `W/"2026-11-21T03:13:36.123456+00:00;gzip"`: own,
		`"x"`: `"x"`, "": "",
	} {
		if got := (answer{header: http.Header{"Etag": {in}}}).etag(); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestRefusedDelete: what a rule of NetBox's own protects isn't a wrong value of anybody's.
func TestRefusedDelete(t *testing.T) {
	for method, want := range map[string]string{
		http.MethodDelete: "a rule of this NetBox refuses it, such as one that protects records", http.MethodPatch: "the value isn't one that this NetBox takes",
	} {
		r := reply{status: http.StatusBadRequest, contentType: typeJSON, body: []byte(`{"detail":"Deletion is prevented by a protection rule"}`)}
		if err := r.refused(call{method: method}); err.Kind != KindInvalid || err.Reason != want {
			t.Errorf("%s: %s, %q", method, err.Kind, err.Reason)
		}
	}
}
