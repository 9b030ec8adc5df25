package fastlane

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// asNetHTTP reads a request as net/http does, and says how much of the octets it left.
func asNetHTTP(b []byte) (*http.Request, int, error) {
	in := bufio.NewReader(bytes.NewReader(b))
	r, err := http.ReadRequest(in)
	return r, in.Buffered(), err
}

// exchange sends a request and reads its answer.
func exchange(c net.Conn, request string) (status int, body string, err error) {
	if _, err := io.WriteString(c, request); err != nil {
		return 0, "", err
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}

// TestFileAfterScript: the connection of a script goes on with a file, which is still sent by the kernel, by the connection's own way.
func TestFileAfterScript(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kernel")
	if err := os.WriteFile(path, bytes.Repeat([]byte("kernel\n"), 100_000), 0o600); err != nil {
		t.Fatal(err)
	}
	var sent atomic.Int64
	l := sending{loopback(t), &sent}
	serve(t, l, true, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if takes(r.URL.Path) {
			_, _ = io.WriteString(w, "#!ipxe\n")
			return
		}
		http.ServeFile(w, r, path)
	}))
	c := dial(t, l)
	for range 3 {
		if status, body, err := exchange(c, script+"\r\n"); status != http.StatusOK || body != "#!ipxe\n" || err != nil {
			t.Fatalf("%d %q %v", status, body, err)
		}
	}
	if status, body, err := exchange(c, "GET /kernel HTTP/1.1\r\nHost: x\r\n\r\n"); status != http.StatusOK || len(body) != 700_000 || err != nil || sent.Load() == 0 {
		t.Errorf("%d, %d octets, %v; %d of them sent by the kernel", status, len(body), err, sent.Load())
	}
	if status, _, err := exchange(c, script+"\r\n"); status != http.StatusOK || err != nil {
		t.Errorf("a script after it: %d %v", status, err)
	}
}

// sending is a listener whose connections count what they send for a file.
type sending struct {
	net.Listener

	sent *atomic.Int64
}

func (l sending) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return sender{c, l.sent}, err
}

type sender struct {
	net.Conn

	sent *atomic.Int64
}

func (c sender) ReadFrom(r io.Reader) (int64, error) {
	n, err := io.Copy(c.Conn, r)
	c.sent.Add(n)
	return n, err
}

// TestGone: a handler that waits hears of a client that has gone, and doesn't of one that says more.
func TestGone(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		act    func(net.Conn)
		want   error
	}{
		"Gone":      {"nobody waits for the answer any more", func(c net.Conn) { _ = c.Close() }, context.Canceled},
		"SaysMore":  {"what it says is for afterwards", func(c net.Conn) { _, _ = io.WriteString(c, ending) }, nil},
		"SaysAFew":  {"one octet, too", func(c net.Conn) { _, _ = io.WriteString(c, "G") }, nil},
		"SaysNothg": {"it waits", func(net.Conn) {}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			begun, ended := make(chan struct{}), make(chan error, 1)
			l := loopback(t)
			serve(t, l, true, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !takes(r.URL.Path) {
					_, _ = io.WriteString(w, "end")
					return
				}
				ctx, cancel := context.WithTimeout(r.Context(), 100*time.Millisecond)
				defer cancel()
				close(begun)
				<-ctx.Done()
				ended <- r.Context().Err()
				_, _ = io.WriteString(w, "late")
			}))
			c := dial(t, l)
			_, _ = io.WriteString(c, script+"\r\n")
			<-begun
			tc.act(c)
			if err := <-ended; !errors.Is(err, tc.want) {
				t.Errorf("%s: %v", tc.reason, err)
			}
			if tc.want != nil {
				return
			}
			rest := map[string]string{"SaysAFew": ending[1:], "SaysNothg": ending}[name]
			if got := talk(t, c, rest); !strings.Contains(got, "late") || !strings.HasSuffix(got, "end") {
				t.Errorf("%s: %q", tc.reason, got)
			}
		})
	}
}

// TestContextEnds: the context of an answered request has ended for who asked for that in time, whatever comes next on its connection.
func TestContextEnds(t *testing.T) {
	seen := make(chan context.Context, 1)
	l := loopback(t)
	serve(t, l, true, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); !ok || a.String() != l.Addr().String() {
			t.Errorf("our end is %v", a)
		}
		r.Context().Done()
		seen <- r.Context()
		_, _ = io.WriteString(w, r.RemoteAddr) //nolint:gosec // Plain text, read by no browser.
	}))
	c := dial(t, l)
	if _, body, err := exchange(c, script+"\r\n"); err != nil || body != c.LocalAddr().String() {
		t.Errorf("the client is %q, %v", body, err)
	}
	ctx := <-seen
	if _, _, err := exchange(c, script+"\r\n"); err != nil { // The answer is sent before its request ends.
		t.Fatal(err)
	}
	<-ctx.Done()
	if !errors.Is(ctx.Err(), context.Canceled) {
		t.Error(ctx.Err())
	}
}

// TestSilent: who says nothing is cut off, before a first request and between two.
func TestSilent(t *testing.T) {
	l := loopback(t)
	serve(t, l, true, handler())
	fresh, used := dial(t, l), dial(t, l)
	if _, _, err := exchange(used, script+"\r\n"); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]net.Conn{"Fresh": fresh, "Used": used} {
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestShutdown: what is being answered is answered, who is silent is cut off, and nobody new is heard.
func TestShutdown(t *testing.T) {
	begun, goes := make(chan struct{}), make(chan struct{})
	l := loopback(t)
	s := serve(t, l, true, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "slow") {
			close(begun)
			<-goes
		}
		_, _ = io.WriteString(w, "answered")
	}))
	silent, slow := dial(t, l), dial(t, l)
	if _, _, err := exchange(silent, script+"\r\n"); err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(slow, "GET /script/slow HTTP/1.1\r\nHost: x\r\n\r\n")
	<-begun
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.Shutdown(t.Context())
		s.lane.Shutdown(t.Context())
	}()
	if _, err := silent.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("who is silent: %v", err)
	}
	select {
	case <-ended:
		t.Error("it didn't wait for an answer")
	case <-time.After(20 * time.Millisecond):
	}
	close(goes)
	resp, err := http.ReadResponse(bufio.NewReader(slow), nil)
	if err != nil || !resp.Close || resp.StatusCode != http.StatusOK {
		t.Errorf("%+v, %v", resp, err)
	}
	<-ended
	if _, err := net.Dial("tcp", l.Addr().String()); err == nil {
		t.Error("somebody new is heard")
	}
}

// TestCutOff: a handler that doesn't end doesn't keep a shutdown from ending.
func TestCutOff(t *testing.T) {
	begun := make(chan struct{})
	l := loopback(t)
	s := serve(t, l, true, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { close(begun); <-r.Context().Done() }))
	c := dial(t, l)
	_, _ = io.WriteString(c, script+"\r\n")
	<-begun
	late, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_ = s.Shutdown(late)
	s.lane.Shutdown(late)
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("it's answered")
	}
}

// TestContextServesOn: a context whose end nobody asked for is the next request's, too, and one that was asked is nobody's else.
func TestContextServesOn(t *testing.T) {
	l := loopback(t)
	for name, tc := range map[string]struct {
		reason string
		ask    func(ctx context.Context)
		same   bool
	}{
		"Silent":  {"it takes no memory for each", func(context.Context) {}, true},
		"Done":    {"somebody may still wait for it", func(ctx context.Context) { ctx.Done() }, false},
		"Err":     {"somebody may ask again", func(ctx context.Context) { _ = ctx.Err() }, false},
		"Derived": {"another one ends with it", func(ctx context.Context) { ctx, stop := context.WithCancel(ctx); defer stop(); _ = ctx }, false},
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := newWork().(*work)
			before, v := w.request.Context(), &lane{c: dial(t, l), where: t.Context()}
			w.begin(v)
			tc.ask(before)
			w.end()
			w.done()
			if same := w.request.Context() == before; same != tc.same {
				t.Errorf("%s: the same one: %v", tc.reason, same)
			}
			if !errors.Is(before.Err(), context.Canceled) {
				t.Errorf("%s: it hasn't ended: %v", tc.reason, before.Err())
			}
			select {
			case <-before.Done():
			default:
				t.Errorf("%s: it isn't done", tc.reason)
			}
			w.begin(v) // Who asked too late isn't the next one's end.
			if now := w.request.Context(); now == before || now.Err() != nil {
				t.Errorf("%s: the next one has ended: %v", tc.reason, now.Err())
			}
		})
	}
}

// TestNobodyLooksOn: whoever asks of a context while its request ends doesn't read from the connection afterwards.
func TestNobodyLooksOn(t *testing.T) {
	l := loopback(t)
	v := &lane{c: dial(t, l), where: t.Context()}
	for n := range 4000 {
		p := &presence{}
		p.begin(v)
		_ = p.Err()
		var asked sync.WaitGroup
		begin := make(chan struct{})
		asked.Go(func() {
			<-begin
			p.Done()
		})
		close(begin)
		for range n % 64 {
			_ = p.Value(nil)
		}
		p.end()
		asked.Wait()
		if p.looked == nil {
			continue
		}
		select {
		case <-p.looked:
		default:
			t.Fatal("somebody still looks")
		}
	}
}
