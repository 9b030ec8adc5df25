package fastlane

import (
	"context"
	"net/http"
	"net/url"
	"strings"
)

// A work is what a request and its answer are made in, and then others. A handler that keeps something of them, but for a context that it has asked for
// its end, keeps what will be another's: as with net/http it mustn't.
type work struct {
	// request is made of blank, and both have here as their context.
	request, blank *http.Request
	here           *presence
	url            url.URL
	words          words
	answer         answer
	out            []byte
}

// words are texts in one piece of memory, one behind the other, until that is full: each in one of its own would cost more than reading it. What was given
// stays as it is.
type words struct{ b strings.Builder }

// manyWords is how much that piece has.
const manyWords = 2 << 10

func (w *words) of(b []byte) string {
	if w.b.Len()+len(b) > w.b.Cap() {
		w.b.Reset()
		w.b.Grow(max(manyWords, len(b)))
	}
	at := w.b.Len()
	w.b.Write(b)
	return w.b.String()[at:]
}

// kept is how much memory for an answer stays.
const kept = 4 << 10

func newWork() any {
	w := &work{answer: answer{header: make(http.Header, 4)}}
	w.meet()
	return w
}

// meet gives it a context that nobody knows.
func (w *work) meet() {
	w.here = &presence{Context: context.Background()}
	w.blank = (&http.Request{Method: http.MethodGet, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Body: http.NoBody}).WithContext(w.here)
	w.request = w.blank.WithContext(w.here)
}

// begin has what was read answered on a lane.
func (w *work) begin(v *lane) {
	if w.here.begin(v) {
		return
	}
	asked := w.request
	w.meet()
	w.request = asked.WithContext(w.here)
	w.here.begin(v)
}

// end ends the request. Whoever keeps its context hears of that, and of no other one's end.
func (w *work) end() {
	if w.here.end() {
		w.meet()
	}
}

// done gives one back for the next request.
func (f *Listener) done(w *work) {
	w.done()
	f.works.Put(w)
}

// done forgets what was asked and answered.
func (w *work) done() {
	*w.request, w.url = *w.blank, url.URL{}
	body := w.answer.body[:0]
	if cap(body) > kept {
		body = nil
	}
	if cap(w.out) > kept {
		w.out = nil
	}
	clear(w.answer.header)
	w.answer = answer{header: w.answer.header, body: body}
}
