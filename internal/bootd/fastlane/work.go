package fastlane

import (
	"net/http"
	"net/url"
)

// A work is what a request and its answer are made in, and then others. A handler that keeps something of them, but for their context, keeps what will
// be another's: as with net/http it mustn't.
type work struct {
	request http.Request
	url     url.URL
	answer  answer
	out     []byte
}

// kept is how much memory for an answer stays.
const kept = 4 << 10

func newWork() any { return &work{answer: answer{header: make(http.Header, 4)}} }

// done gives one back for the next request.
func (f *Listener) done(w *work) {
	w.done()
	f.works.Put(w)
}

// done forgets what was asked and answered.
func (w *work) done() {
	w.request, w.url = http.Request{}, url.URL{}
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
