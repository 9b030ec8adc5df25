package fastlane

import (
	"bytes"
	"net/http"
	"strconv"
	"time"
)

// An answer is what a handler says; it's sent when that returns.
type answer struct {
	lane   *lane
	header http.Header
	status int
	body   []byte
}

// Header of the answer.
func (w *answer) Header() http.Header { return w.header }

// WriteHeader sets the status, once.
func (w *answer) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK { // Nothing is sent before an answer.
		w.status = status
	}
}

// Write adds to the body.
func (w *answer) Write(b []byte) (int, error) { return add(w, b) }

// WriteString is that for a text.
func (w *answer) WriteString(s string) (int, error) { return add(w, s) }

func add[T string | []byte](w *answer, text T) (int, error) {
	w.WriteHeader(http.StatusOK)
	if !bodied(w.status) {
		return 0, http.ErrBodyNotAllowed
	}
	w.body = append(w.body, text...)
	return len(text), nil
}

// SetWriteDeadline is for http.ResponseController.
func (w *answer) SetWriteDeadline(t time.Time) error {
	return w.lane.c.SetWriteDeadline(t) //nolint:wrapcheck // The connection's own words.
}

// bodied says whether answers of a status have a body.
func bodied(status int) bool {
	return status != http.StatusNoContent && status != http.StatusNotModified
}

// send sends the answer, as net/http words it; false: there's no other one on this connection.
func (w *answer) send() bool {
	w.WriteHeader(http.StatusOK)
	v, h := w.lane, w.header
	has := func(name string) bool { _, ok := h[name]; return ok }
	if said := h.Get("Content-Length"); has("Transfer-Encoding") || said != "" && said != strconv.Itoa(len(w.body)) {
		return false // It isn't known what its handler meant.
	}
	goesOn, out := !has("Connection") && !v.of.ends(), &v.out
	out.Reset()
	line := append(out.AvailableBuffer(), "HTTP/1.1 "...)
	line = strconv.AppendInt(line, int64(w.status), 10)
	line = append(append(append(line, ' '), http.StatusText(w.status)...), crlf...)
	_, _ = out.Write(line)
	_ = h.Write(out)
	say := func(name, value string) {
		_, _ = out.WriteString(name)
		_, _ = out.WriteString(value)
		_, _ = out.WriteString(crlf)
	}
	if !has("Date") {
		say("Date: ", v.of.clock.date(time.Now()))
	}
	if bodied(w.status) && !has("Content-Length") {
		say("Content-Length: ", strconv.Itoa(len(w.body)))
	}
	if len(w.body) > 0 && !has("Content-Type") && !has("Content-Encoding") {
		say("Content-Type: ", http.DetectContentType(w.body))
	}
	if !goesOn && !has("Connection") {
		say("Connection: ", "close")
	}
	_, _ = out.WriteString(crlf)
	_, _ = out.Write(w.body)
	_, err := v.c.Write(out.Bytes())
	if out.Cap() > kept {
		v.out = bytes.Buffer{}
	}
	return err == nil && goesOn
}
