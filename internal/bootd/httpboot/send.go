package httpboot

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func serveBytes(w http.ResponseWriter, r *http.Request, b []byte) { serve(w, r, bytes.NewReader(b)) }

// serve answers GET, HEAD and Range.
func serve(w http.ResponseWriter, r *http.Request, content io.ReadSeeker) {
	serveWithin(w, r, content, writePatience)
}

func serveWithin(w http.ResponseWriter, r *http.Request, content io.ReadSeeker, patience time.Duration) {
	plainRange(r)
	s := &steady{ResponseWriter: w, c: http.NewResponseController(w), patience: patience}
	http.ServeContent(s, r, "", time.Time{}, content)
	s.finish()
}

const (
	// writePatience is how long one piece of an answer may take to be taken.
	writePatience = time.Minute
	// piece of a file that the kernel sends by itself, under one deadline: little enough that ten thousand machines behind one
	// link of 1 Gb/s each get theirs in time. None begins anew where it was cut off.
	piece = 256 << 10
)

// steady bounds each write instead of all of them: an image may take an hour, a machine that takes
// nothing for a minute is gone.
type steady struct {
	http.ResponseWriter

	c        *http.ResponseController
	patience time.Duration // of one piece
	// file is what is to be sent yet, left how much of it, and to who sends it; nil: there's none. It was written to last then.
	file *os.File
	then time.Time
	left int64
	to   io.ReaderFrom
}

func (s *steady) Write(b []byte) (int, error) {
	s.patient()
	return s.ResponseWriter.Write(b)
}

func (s *steady) patient() {
	_ = s.c.SetWriteDeadline(time.Now().Add(s.patience)) // A test's recorder has none.
}

// ReadFrom is how http.ServeContent hands over what it sends, last of all. What lies in memory is written with its header at once. A file waits until
// ServeContent has returned: ten thousand machines that load have a stack each, which is half as large without it.
func (s *steady) ReadFrom(src io.Reader) (int64, error) {
	rest, ok := src.(*io.LimitedReader)
	if ok && s.file == nil {
		file, isFile := rest.R.(*os.File)
		if to, direct := s.ResponseWriter.(io.ReaderFrom); isFile && direct {
			s.file, s.then, s.left, s.to = file, written(file), rest.N, to
			return rest.N, nil
		}
	}
	return io.Copy(struct{ io.Writer }{s}, src)
}

// written is when a file was written to last; the zero time: it can't be said.
func written(f *os.File) time.Time {
	i, err := f.Stat()
	if err != nil {
		return time.Time{}
	}
	return i.ModTime()
}

// finish sends what is left of a file, piece by piece, until the client has it or has gone: then nobody needs to be told. Of a file that somebody writes to
// meanwhile it never has the end, so that no client takes for whole what isn't what its digest says: firmware looks at none. It's here that it waits for the
// client to take more, and not in ReadFrom: net/http has 32 KiB of memory for whoever is in there, which ten thousand slow machines would have at once.
func (s *steady) finish() {
	for under := int64(0); s.left > 0; {
		if under <= 0 {
			s.patient()
			under = piece
		}
		if s.left <= piece && !written(s.file).Equal(s.then) {
			return
		}
		p := part{LimitedReader: io.LimitedReader{R: s.file, N: min(s.left, under)}}
		want := p.N
		n, err := s.to.ReadFrom(&p)
		s.left, under = s.left-n, under-n
		switch {
		case err != nil || n < want && p.room == nil:
			return
		case n < want:
			if p.room() != nil {
				return
			}
			under = 0 // It took what made the room, which is half of what the kernel holds, whatever of the piece that is.
		}
	}
}

// A part of a file is sent by whoever can without waiting, as far as it goes.
type part struct {
	io.LimitedReader

	// room waits until more of it can be sent; nil: there's no more, or it's sent by one who waits.
	room func() error
}

// sendNow has the kernel send as much of a part as the connection takes now; false: it can't.
func sendNow(c net.Conn, p *part) (n int64, ok bool, err error) {
	s, isConn := c.(syscall.Conn)
	f, isFile := p.R.(*os.File)
	if !isConn || !isFile {
		return 0, false, nil
	}
	to, err := s.SyscallConn()
	if err != nil {
		return 0, true, err //nolint:wrapcheck // The connection's own words.
	}
	from, err := f.SyscallConn()
	if err != nil {
		return 0, true, err //nolint:wrapcheck // The file's own words.
	}
	var sent int
	var why, ferr error
	err = to.Write(func(out uintptr) bool {
		ferr = from.Control(func(in uintptr) {
			for why = unix.EINTR; errors.Is(why, unix.EINTR); {
				sent, why = unix.Sendfile(int(out), int(in), nil, int(p.N))
			}
		})
		return true
	})
	sent = max(sent, 0)
	if sent == 0 && (errors.Is(why, unix.EINVAL) || errors.Is(why, unix.ENOSYS) || errors.Is(why, unix.EOPNOTSUPP)) {
		return 0, false, nil // The kernel can't from the file system that it lies on: it's copied.
	}
	p.N -= int64(sent)
	full := errors.Is(why, unix.EAGAIN)
	if full || why == nil && sent > 0 && p.N > 0 {
		p.room = func() error { return room(to) }
	}
	if full {
		why = nil
	}
	return int64(sent), true, errors.Join(err, ferr, why)
}

// room waits until a connection takes something, or its deadline.
func room(c syscall.RawConn) error {
	return c.Write(func(fd uintptr) bool { //nolint:wrapcheck // The connection's own words.
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}} //nolint:gosec // A descriptor.
		n, err := unix.Poll(p, 0)
		return n > 0 || err != nil && !errors.Is(err, unix.EINTR)
	})
}
