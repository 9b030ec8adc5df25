package fastlane

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const script = "GET /script/x?arch=7 HTTP/1.1\r\nHost: 10.77.0.1:8080\r\n"

// TestSameAsNetHTTP: whatever is said, and in whichever pieces, is answered as net/http alone answers it, octet for octet.
func TestSameAsNetHTTP(t *testing.T) {
	h := handler()
	fast, alone := serve(t, loopback(t), true, h), serve(t, loopback(t), false, h)
	cases := map[string]struct {
		reason string
		parts  []string
		// here says that the first part is answered without net/http.
		here bool
	}{
		"Plain":       {"as wrk asks", []string{script + "\r\n", ending}, true},
		"IPXE":        {"as iPXE asks", []string{"GET /script/x HTTP/1.1\r\nUser-Agent: iPXE/1.21.1+\r\nConnection: keep-alive\r\nHost: 10.77.0.1\r\n\r\n", ending}, true},
		"Curl":        {"as curl asks", []string{"GET /script/x HTTP/1.1\r\nHost: [fd00::1]:8080\r\nUser-Agent: curl/8\r\nAccept: */*\r\n\r\n", ending}, true},
		"Twice":       {"again on the same connection", []string{script + "\r\n", script + "\r\n", ending}, true},
		"NotFound":    {"a script that isn't there", []string{"GET /script/missing HTTP/1.1\r\nHost: x\r\n\r\n", ending}, true},
		"Busy":        {"one that must wait", []string{"GET /script/busy HTTP/1.1\r\nHost: x\r\n\r\n", ending}, true},
		"Empty":       {"without a body", []string{"GET /script/empty HTTP/1.1\r\nHost: x\r\n\r\n", ending}, true},
		"Odd":         {"a header that would be two, and a body whose type isn't said", []string{"GET /script/odd HTTP/1.1\r\nHost: x\r\n\r\n", ending}, true},
		"Last":        {"the handler ends the connection", []string{"GET /script/last HTTP/1.1\r\nHost: x\r\n\r\n", ending}, true},
		"Panic":       {"the handler fails", []string{"GET /script/panic HTTP/1.1\r\nHost: x\r\n\r\n", ending}, true},
		"File":        {"a file", []string{"GET /script/file HTTP/1.1\r\nHost: x\r\n\r\n", script + "\r\n", ending}, true},
		"NoFile":      {"one that's empty", []string{"GET /script/nofile HTTP/1.1\r\nHost: x\r\n\r\n", script + "\r\n", ending}, true},
		"Unsaid":      {"one of which nothing is known", []string{"GET /script/unsaid HTTP/1.1\r\nHost: x\r\n\r\n", ending}, true},
		"Short":       {"one that has less than was said", []string{"GET /script/short HTTP/1.1\r\nHost: x\r\n\r\n", ending}, true},
		"Torn":        {"the handler fails in the middle of it", []string{"GET /script/torn HTTP/1.1\r\nHost: x\r\n\r\n"}, true},
		"Unchanged":   {"one that the machine has", []string{"GET /script/file HTTP/1.1\r\nHost: x\r\nIf-Modified-Since: Sun, 09 Sep 2001 01:46:40 GMT\r\n\r\n", ending}, false},
		"Other":       {"another path", []string{"GET /files/x HTTP/1.1\r\nHost: x\r\n\r\n", ending}, false},
		"Head":        {"another method", []string{"HEAD /script/x HTTP/1.1\r\nHost: x\r\n\r\n", ending}, false},
		"Post":        {"with a body", []string{"POST /script/x HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", ending}, false},
		"Smuggled":    {"a GET with one", []string{"GET /script/x HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", ending}, false},
		"Chunked":     {"or in chunks", []string{"GET /script/x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", ending}, false},
		"Close":       {"the last of a connection", []string{"GET /script/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"}, false},
		"Pieces":      {"in pieces", []string{"GET /script/x HTTP/1.1\r\nHo", "st: x\r\n\r\n", ending}, false},
		"Pipelined":   {"two at once", []string{script + "\r\n" + script + "\r\n", ending}, false},
		"Begun":       {"one and a part of the next", []string{script + "\r\nGET /scr", "ipt/y HTTP/1.1\r\nHost: x\r\n\r\n", ending}, false},
		"HTTP10":      {"an older version", []string{"GET /script/x HTTP/1.0\r\n\r\n"}, false},
		"Absolute":    {"as to a proxy", []string{"GET http://x/script/x HTTP/1.1\r\nHost: x\r\n\r\n", ending}, false},
		"NoHost":      {"no host", []string{"GET /script/x HTTP/1.1\r\n\r\n"}, false},
		"TwoHosts":    {"two", []string{"GET /script/x HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n"}, false},
		"BadHost":     {"none that is one", []string{"GET /script/x HTTP/1.1\r\nHost: a b\r\n\r\n"}, false},
		"Folded":      {"a header on two lines", []string{"GET /script/x HTTP/1.1\r\nHost: x\r\nAccept: a\r\n b\r\n\r\n", ending}, false},
		"BareLF":      {"lines that end otherwise", []string{"GET /script/x HTTP/1.1\nHost: x\n\n", ending}, false},
		"SpaceInName": {"a name with a space", []string{"GET /script/x HTTP/1.1\r\nHost : x\r\n\r\n"}, false},
		"Control":     {"a control character", []string{"GET /script/x HTTP/1.1\r\nHost: x\r\nAccept: \x01\r\n\r\n"}, false},
		"Unicode":     {"letters of others in the path", []string{"GET /script/ä HTTP/1.1\r\nHost: x\r\n\r\n", ending}, false},
		"Escaped":     {"and escaped", []string{"GET /script/%2e%2e%2fx HTTP/1.1\r\nHost: x\r\n\r\n", ending}, false},
		"BadEscape":   {"badly", []string{"GET /script/%zz HTTP/1.1\r\nHost: x\r\n\r\n"}, false},
		"Expect":      {"what is asked before a body", []string{"GET /script/x HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n\r\n", ending}, false},
		"Upgrade":     {"another protocol", []string{"GET /script/x HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n", ending}, false},
		"H2":          {"another protocol's first words", []string{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"}, false},
		"TLS":         {"a TLS client", []string{"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"}, false},
		"Long":        {"more than is read at once", []string{"GET /script/x?" + strings.Repeat("a", most) + " HTTP/1.1\r\nHost: x\r\n\r\n", ending}, false},
		"Range":       {"a part", []string{"GET /script/x HTTP/1.1\r\nHost: x\r\nRange: bytes=0-1\r\n\r\n", ending}, false},
		"Blank":       {"an empty line before", []string{"\r\n" + script + "\r\n", ending}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := talk(t, dial(t, alone.to), tc.parts...)
			if diff := cmp.Diff(want, talk(t, dial(t, fast.to), tc.parts...)); diff != "" {
				t.Errorf("%s: -net/http +here\n%s", tc.reason, diff)
			}
			if r, ok := read([]byte(tc.parts[0][:min(len(tc.parts[0]), most)])); ok && takes(r.URL.Path) != tc.here || !ok && tc.here {
				t.Errorf("%s: answered here: %t", tc.reason, !tc.here)
			}
		})
	}
}

// FuzzRead: what is understood here, net/http understands in the same way.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		script + "\r\n", "GET /script/x HTTP/1.1\r\nUser-Agent: iPXE/1.21.1+\r\nConnection: keep-alive\r\nHost: 10.77.0.1\r\n\r\n",
		"GET /script/x#y?z HTTP/1.1\r\nhost: x\r\naccept:\r\n\r\n", "GET //x/../y;a=b?%zz HTTP/1.1\r\nHost: [::1%25lo]:0\r\nPragma:  a  \r\n\r\n", "GET / HTTP/1.1\r\nHost:x\r\nHost:x\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, ok := read(b)
		if !ok {
			return
		}
		want, rest, err := asNetHTTP(b)
		if err != nil || rest != 0 {
			t.Fatalf("%q is understood, and net/http says %v, with %d octets left", b, err, rest)
		}
		type parts struct {
			Method, URI, Path, Query, Fragment, Proto, Host string
			Header                                          http.Header
			Close                                           bool
			Length                                          int64
		}
		of := func(r *http.Request) parts {
			return parts{r.Method, r.RequestURI, r.URL.Path, r.URL.RawQuery, r.URL.Fragment, r.Proto, r.Host, r.Header, r.Close, r.ContentLength}
		}
		if diff := cmp.Diff(of(want), of(got)); diff != "" {
			t.Fatalf("%q: -net/http +here\n%s", b, diff)
		}
	})
}

// TestWords: what was asked stays as it was while others ask, and a text that's longer than the memory for many is one, too.
func TestWords(t *testing.T) {
	var w words
	var want, got []string
	for i := range 4 * manyWords {
		text := strings.Repeat(string(rune('a'+i%26)), i%(2*manyWords))
		b := []byte(text)
		want, got = append(want, text), append(got, w.of(b))
		clear(b)
		if len(want) == 100 {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatal(diff)
			}
			want, got = nil, nil
		}
	}
	if n := testing.AllocsPerRun(1000, func() { w.of([]byte("/v1/boot/x")) }); n > 0.1 {
		t.Errorf("%v pieces of memory a text", n)
	}
}
