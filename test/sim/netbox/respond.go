package netbox

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"
)

// A response is what a handler decided, before it is written.
type response struct {
	status int
	header http.Header
	body   any // nil: none
	html   bool
	// noVersion: answers that Django's middleware gives before NetBox's have no API-Version.
	noVersion bool
	// allow overrides the Allow header; "" means by path.
	noAllow bool
}

func answer(status int, body any) *response {
	return &response{status: status, header: http.Header{}, body: body}
}

func detail(status int, text string) *response {
	return answer(status, map[string]any{"detail": text})
}

func noRight() *response {
	return detail(http.StatusForbidden, "You do not have permission to perform this action.")
}

func full() *response {
	return detail(http.StatusConflict, "Insufficient resources are available to satisfy the request")
}

func noMatch(kind string) *response {
	return detail(http.StatusNotFound, "No "+kind+" matches the given query.")
}

// fieldError is a 400 {"field": ["…"]}.
func fieldError(field, why string) *response {
	return answer(http.StatusBadRequest, map[string]any{field: []string{why}})
}

func notUnique(field string) *response {
	return fieldError("__all__", fmt.Sprintf("Custom field '%s' must have a unique value.", field))
}

func serverError(tr traits, exception, text string) *response {
	res := answer(http.StatusInternalServerError, map[string]any{
		"error": text, "exception": exception, "netbox_version": tr.version, "python_version": "3.12.1",
	})
	res.noAllow = true
	return res
}

func htmlPage(status int) *response {
	return &response{status: status, header: http.Header{}, body: "<!doctype html><title>emulated page</title>", html: true, noAllow: true}
}

func (res *response) write(w http.ResponseWriter, r *http.Request, tr traits) {
	h := w.Header()
	maps.Copy(h, res.header)
	h.Set("Content-Language", "en")
	isJSON := strings.HasPrefix(r.Header.Get("Content-Type"), "application/json")
	if !res.noVersion && tr.versionHeader(isJSON) {
		h.Set("Api-Version", tr.minor()) // as net/http spells it on the wire, too
	}
	if !res.noAllow {
		h.Set("Allow", allow(r.URL.Path))
	}
	switch {
	case res.html:
		h.Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(res.status)
		_, _ = fmt.Fprint(w, res.body)
	case res.body == nil:
		w.WriteHeader(res.status)
	default:
		h.Set("Content-Type", "application/json")
		w.WriteHeader(res.status)
		if err := json.NewEncoder(w).Encode(res.body); err != nil {
			panic(http.ErrAbortHandler) // the client has gone
		}
	}
}

// allow is the Allow header that NetBox gives for a path.
func allow(path string) string {
	last := path[strings.LastIndex(strings.TrimSuffix(path, "/"), "/")+1:]
	switch {
	case strings.HasPrefix(last, "status"):
		return "GET, HEAD, OPTIONS"
	case strings.HasPrefix(last, "available-ips"):
		return "GET, POST, HEAD, OPTIONS"
	case strings.Trim(last, "0123456789abc/") == "":
		return "GET, PUT, PATCH, DELETE, HEAD, OPTIONS"
	}
	return "GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS"
}

// stamp writes a time as NetBox's bodies do.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// etag of one object: its last_updated, weakly, with another zone.
func etag(t time.Time) string {
	return `W/"` + t.UTC().Format("2006-01-02T15:04:05.000000") + `+00:00"`
}
