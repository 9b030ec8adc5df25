package netbox

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strconv"
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
	// spoiled is how the JSON is damaged on its way, if it is.
	spoiled FaultKind
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
	if strings.HasPrefix(r.Header.Get("Accept-Language"), "de") { // the sentences stay English: nobody reads them
		h.Set("Content-Language", "de")
	}
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
		res.writeJSON(w)
	}
}

// writeJSON writes the body, whole or damaged.
func (res *response) writeJSON(w http.ResponseWriter) {
	text, err := json.Marshal(res.body)
	if err != nil {
		panic(err) // a mistake of the emulator's
	}
	switch res.spoiled {
	case FaultBOM:
		text = append([]byte("\xef\xbb\xbf"), text...)
	case FaultHalfJSON:
		text = text[:len(text)/2]
	case FaultCutOff:
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
		text = text[:len(text)/2]
	default:
	}
	w.WriteHeader(res.status)
	_, err = w.Write(text)
	if res.spoiled == FaultCutOff {
		_ = http.NewResponseController(w).Flush() // half of it arrives
	}
	if err != nil || res.spoiled == FaultCutOff {
		panic(http.ErrAbortHandler) // the client has gone, or is to be left
	}
}

// allow is the Allow header that NetBox gives for a path.
func allow(path string) string {
	last := path[strings.LastIndex(strings.TrimSuffix(path, "/"), "/")+1:]
	trace := ""
	if strings.Contains(path, "/dcim/interfaces/") {
		trace = ", TRACE"
	}
	switch {
	case strings.HasPrefix(last, "status"), strings.HasPrefix(last, "authentication-check"), strings.Contains(path, "/object-changes/"):
		return "GET, HEAD, OPTIONS"
	case strings.HasPrefix(last, partAvailable):
		return "GET, POST, HEAD, OPTIONS"
	case strings.Trim(last, "0123456789abc/") == "":
		return "GET, PUT, PATCH, DELETE, HEAD, OPTIONS" + trace
	}
	return "GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS" + trace
}

// stamp writes a time as NetBox's bodies do.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// etag of one object: its last_updated, weakly, with another zone.
func etag(t time.Time) string {
	return `W/"` + t.UTC().Format("2006-01-02T15:04:05.000000") + `+00:00"`
}
