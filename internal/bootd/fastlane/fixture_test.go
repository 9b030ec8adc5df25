package fastlane

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// handler answers as bootd does, and some other ways.
func handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(time.Minute))
		switch {
		case strings.HasPrefix(r.URL.Path, "/script/missing"):
			http.NotFound(w, r)
		case strings.HasPrefix(r.URL.Path, "/script/busy"):
			w.Header().Set("Retry-After", "2")
			http.Error(w, "try again", http.StatusServiceUnavailable)
		case strings.HasPrefix(r.URL.Path, "/script/empty"):
			w.WriteHeader(http.StatusNoContent)
		case strings.HasPrefix(r.URL.Path, "/script/odd"):
			w.Header().Set("X-Odd", "a\r\nX-Injected: b")
			_, _ = io.WriteString(w, "<html>")
		case strings.HasPrefix(r.URL.Path, "/script/last"):
			w.Header().Set("Connection", "close")
			_, _ = io.WriteString(w, "bye")
		case strings.HasPrefix(r.URL.Path, "/script/file"):
			http.ServeContent(w, r, "kernel.bin", time.Unix(1e9, 0), strings.NewReader(strings.Repeat("kernel\n", 40_000)))
		case strings.HasPrefix(r.URL.Path, "/script/nofile"):
			http.ServeContent(w, r, "kernel.bin", time.Unix(1e9, 0), strings.NewReader(""))
		case strings.HasPrefix(r.URL.Path, "/script/unsaid"): // Neither its length nor its kind.
			_, _ = io.Copy(w, io.LimitReader(strings.NewReader("<html>"), 6))
		case strings.HasPrefix(r.URL.Path, "/script/short"):
			w.Header().Set("Content-Type", "a/b")
			w.Header().Set("Content-Length", "7")
			_, _ = io.Copy(w, io.LimitReader(strings.NewReader("kernel"), 6))
		case strings.HasPrefix(r.URL.Path, "/script/torn"):
			w.Header().Set("Content-Type", "a/b")
			w.Header().Set("Content-Length", "70001")
			_, _ = io.Copy(w, io.LimitReader(strings.NewReader(strings.Repeat("kernel\n", 10_000)), 70_000))
			panic(http.ErrAbortHandler)
		case strings.HasPrefix(r.URL.Path, "/script/panic"):
			panic(http.ErrAbortHandler)
		default:
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.Header().Set("Cache-Control", "no-store")
			_, _ = io.WriteString(w, "#!ipxe\n"+r.Method+" "+r.Host+" "+r.URL.Path+" "+r.URL.RawQuery+" "+r.RequestURI+" "+r.Proto+"\n") //nolint:gosec // Plain text, read by no browser.
			_ = r.Header.Write(w)
			b, _ := io.ReadAll(r.Body)
			_, _ = w.Write(b)
		}
	})
}

// takes is what the tests have for here.
func takes(path string) bool { return strings.HasPrefix(path, "/script/") }

// A server is one that is listened to by net/http, with or without what stands in front of it.
type server struct {
	*http.Server

	lane *Listener
	to   net.Listener
}

// serve begins to serve; a nil fast says that net/http does alone.
func serve(tb testing.TB, l net.Listener, fast bool, h http.Handler) *server {
	tb.Helper()
	quiet := slog.New(slog.DiscardHandler)
	s := &server{to: l, Server: &http.Server{Handler: h, ReadHeaderTimeout: time.Second, IdleTimeout: time.Second, ErrorLog: slog.NewLogLogger(quiet.Handler(), 0)}}
	if fast {
		s.lane = Listen(l, Options{Handler: h, Takes: takes, First: time.Second, Idle: time.Second, Logger: quiet})
		l = s.lane
	}
	go func() { _ = s.Serve(l) }()
	tb.Cleanup(func() { _ = s.Close() })
	return s
}

// loopback listens there.
func loopback(tb testing.TB) net.Listener {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

// dial connects.
func dial(tb testing.TB, l net.Listener) net.Conn {
	tb.Helper()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	return c
}

// ending is a request that ends the connection.
const ending = "GET /end HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

var dates = regexp.MustCompile(`Date: [^\r]*\r\n`)

// talk says each part when what came before was answered, or a moment later, and gives all that is answered, but for its date.
func talk(tb testing.TB, c net.Conn, parts ...string) string {
	tb.Helper()
	var all bytes.Buffer
	b := make([]byte, 64<<10)
	for _, part := range parts {
		if _, err := io.WriteString(c, part); err != nil {
			break
		}
		_ = c.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		n, _ := c.Read(b)
		all.Write(b[:n])
	}
	_ = c.SetReadDeadline(time.Now().Add(150 * time.Millisecond))
	_, _ = io.Copy(&all, c)
	return dates.ReplaceAllString(all.String(), "Date: \r\n")
}

// read reads a request twice, so that the second time its header is known.
func read(b []byte) (*http.Request, bool) {
	var known said
	first, _ := newWork().(*work)
	again, _ := newWork().(*work)
	first.read(b, &known)
	ok := again.read(b, &known)
	return again.request, ok
}
