package fastlane

import (
	"bytes"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An answer is what a handler says; it's sent when that returns, but for a file, which goes out as it's handed over.
type answer struct {
	lane   *lane
	header http.Header
	status int
	body   []byte
	file   file
}

// A file of an answer is on its way once its header is out.
type file struct {
	begun, broken, goesOn bool
	length, sent          int64
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
	if w.file.begun { // Nothing of bootd's comes behind a file.
		return 0, http.ErrContentLength
	}
	w.body = append(w.body, text...)
	return len(text), nil
}

// ReadFrom sends a file by the connection's own way, behind the header. One whose length or kind isn't said is a body like any other.
func (w *answer) ReadFrom(src io.Reader) (int64, error) {
	to, ok := w.lane.c.(io.ReaderFrom)
	if !w.file.begun && (!ok || !w.begin()) {
		return io.Copy(struct{ io.Writer }{w}, src)
	}
	if w.file.broken { // A file behind half a header would be read as one.
		return 0, io.ErrClosedPipe
	}
	n, err := to.ReadFrom(src)
	w.file.sent += n
	return n, err //nolint:wrapcheck // The connection's own words.
}

// begin sends the header of a file.
func (w *answer) begin() bool {
	w.WriteHeader(http.StatusOK)
	length, err := strconv.ParseInt(w.header.Get(contentLength), 10, 64)
	if err != nil || length < 0 || len(w.body) > 0 || !bodied(w.status) || w.header.Get(contentType) == "" || w.encoded() {
		return false
	}
	head, goesOn := w.head(nil)
	_, err = w.lane.c.Write(head)
	w.file = file{begun: true, broken: err != nil, goesOn: goesOn, length: length}
	return true
}

// encoded says that the handler means to word the body itself.
func (w *answer) encoded() bool {
	_, ok := w.header["Transfer-Encoding"]
	return ok
}

// SetWriteDeadline is for http.ResponseController.
func (w *answer) SetWriteDeadline(t time.Time) error {
	return w.lane.c.SetWriteDeadline(t) //nolint:wrapcheck // The connection's own words.
}

// bodied says whether answers of a status have a body.
func bodied(status int) bool {
	return status != http.StatusNoContent && status != http.StatusNotModified
}

// send sends the answer, as net/http words it, by way of out, which it gives back with what was sent; false: there's no other one on this connection.
func (w *answer) send(out []byte) ([]byte, bool) {
	if f := w.file; f.begun {
		return out, f.goesOn && !f.broken && f.sent == f.length
	}
	w.WriteHeader(http.StatusOK)
	length := w.header.Get(contentLength)
	if w.encoded() || length != "" && !says(length, len(w.body)) {
		return out, false // It isn't known what its handler meant.
	}
	out, goesOn := w.head(out)
	out = append(out, w.body...)
	// Whoever is ready makes an answer, too, before the first goes out: to wake a client that sleeps takes as long as to make one, and then they
	// come in a row.
	runtime.Gosched()
	_, err := w.lane.c.Write(out)
	return out, err == nil && goesOn
}

// head makes the header of the answer, in the place of what is in out; goesOn: another request may come behind it.
func (w *answer) head(out []byte) (_ []byte, goesOn bool) {
	v, h := w.lane, w.header
	usually := isUsual(h)
	has := func(name string) bool {
		if usually {
			return slices.Contains(usual[:], name)
		}
		_, ok := h[name]
		return ok
	}
	connection := has("Connection")
	goesOn = !connection && !v.of.ends()
	out = append(out[:0], "HTTP/1.1 "...)
	out = strconv.AppendInt(out, int64(w.status), 10)
	out = append(append(append(out, ' '), http.StatusText(w.status)...), crlf...)
	out = appendHeader(out, h, usually)
	if !has("Date") {
		out = appendLine(out, "Date", v.of.clock.date(time.Now()))
	}
	if bodied(w.status) && !has(contentLength) {
		out = appendLine(out, contentLength, strconv.Itoa(len(w.body)))
	}
	if len(w.body) > 0 && !has(contentType) && !has("Content-Encoding") {
		out = appendLine(out, contentType, http.DetectContentType(w.body))
	}
	if !goesOn && !connection {
		out = appendLine(out, "Connection", "close")
	}
	return append(out, crlf...), goesOn
}

func appendLine(b []byte, name, value string) []byte {
	b = append(append(b, name...), ": "...)
	return append(append(b, value...), crlf...)
}

// usual are the lines of a script, as they're sorted.
var usual = [...]string{cacheControl, contentLength, contentType} //nolint:gochecknoglobals // Nobody changes it.

// isUsual says that a header has a script's lines, and no others.
func isUsual(h http.Header) bool {
	for _, name := range usual {
		if values := h[name]; len(h) != len(usual) || len(values) != 1 || !plainLine(values[0]) {
			return false
		}
	}
	return true
}

// appendHeader appends what http.Header.Write writes. A script's lines need none of its memory.
func appendHeader(b []byte, h http.Header, usually bool) []byte {
	if !usually {
		var all bytes.Buffer
		_ = h.Write(&all)
		return append(b, all.Bytes()...)
	}
	for _, name := range usual {
		b = appendLine(b, name, h[name][0])
	}
	return b
}

// says that a text is a number's.
func says(text string, n int) bool {
	var room [20]byte
	return text == string(strconv.AppendInt(room[:0], int64(n), 10))
}

// plainLine says that a header's value is written as it stands.
func plainLine(value string) bool {
	return within(value, ' ', '~') && strings.Trim(value, " ") == value
}
