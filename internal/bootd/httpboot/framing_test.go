package httpboot

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestFraming: a proxy that takes a request's end for elsewhere than bootd does would give what's behind it, and its answer, to another machine.
func TestFraming(t *testing.T) {
	r := newRig(t, owned)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, l, r.http.Config.Handler, slog.New(slog.DiscardHandler)) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	const chunks, smuggled = "2\r\n{}\r\n0\r\n\r\n", "GET /smuggled HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
	post := "POST /v1/boot/" + r.bootToken() + "/progress HTTP/1."
	cases := map[string]struct {
		reason, send string
		want         []int
	}{
		"Length":   {"one request after the other", post + "1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", []int{204, 404}},
		"NoBody":   {"one without a body", post + "1\r\nHost: x\r\n\r\n", []int{204, 404}},
		"Chunked":  {"a body in chunks ends it", post + "1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks, []int{204}},
		"Both":     {"its length isn't what it says, or isn't to somebody", post + "1\r\nHost: x\r\nContent-Length: 99\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks, []int{204}},
		"Old":      {"HTTP/1.0 has no chunks: net/http doesn't see that they are said", post + "0\r\nConnection: keep-alive\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}", []int{204}},
		"OldEmpty": {"nor without a length", post + "0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n", []int{204}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			_ = c.SetDeadline(time.Now().Add(20 * time.Second))
			if _, err := io.WriteString(c, tc.send+smuggled); err != nil {
				t.Fatal(err)
			}
			var got []int
			for in := bufio.NewReader(c); ; {
				resp, err := http.ReadResponse(in, nil)
				if err != nil {
					break
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				got = append(got, resp.StatusCode)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}
