package httpboot

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"time"
)

func serveBytes(w http.ResponseWriter, r *http.Request, b []byte) { serve(w, r, bytes.NewReader(b)) }

// serve answers GET, HEAD and Range.
func serve(w http.ResponseWriter, r *http.Request, content io.ReadSeeker) {
	plainRange(r)
	http.ServeContent(&steady{ResponseWriter: w, c: http.NewResponseController(w), patience: writePatience}, r, "", time.Time{}, content)
}

const (
	// writePatience is how long one piece of an answer may take to be taken.
	writePatience = time.Minute
	// piece of a file that the kernel sends by itself, under one deadline: little enough that ten thousand machines behind one
	// link of 1 Gb/s each get theirs in time. None begins anew where it was cut off.
	piece = 128 << 10
)

// steady bounds each write instead of all of them: an image may take an hour, a machine that takes
// nothing for a minute is gone.
type steady struct {
	http.ResponseWriter

	c        *http.ResponseController
	patience time.Duration // of one piece
}

func (s *steady) Write(b []byte) (int, error) {
	s.patient()
	return s.ResponseWriter.Write(b)
}

func (s *steady) patient() {
	_ = s.c.SetWriteDeadline(time.Now().Add(s.patience)) // A test's recorder has none.
}

// ReadFrom is how http.ServeContent hands over what it sends. A file goes on to the kernel, piece by piece; what lies in memory
// is written with its header at once.
func (s *steady) ReadFrom(src io.Reader) (int64, error) {
	rest, ok := src.(*io.LimitedReader)
	to, direct := s.ResponseWriter.(io.ReaderFrom)
	if ok && direct {
		if f, ok := rest.R.(*os.File); ok {
			return s.send(to, f, rest)
		}
	}
	return io.Copy(struct{ io.Writer }{s}, src)
}

// send hands over pieces of a file. Only a reader that's limited once, right before the file, is one that the kernel can take.
func (s *steady) send(to io.ReaderFrom, f *os.File, rest *io.LimitedReader) (sent int64, err error) {
	for rest.N > 0 {
		s.patient()
		want := min(rest.N, piece)
		n, err := to.ReadFrom(&io.LimitedReader{R: f, N: want})
		sent, rest.N = sent+n, rest.N-n
		if err != nil || n < want {
			return sent, err //nolint:wrapcheck // The connection's own words.
		}
	}
	return sent, nil
}
