package fastlane

import (
	"bytes"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
	"sync/atomic"
)

// understood says of a header that machines say it, and that it may be anywhere. Of others nothing is understood here.
func understood(name string) bool {
	switch name {
	case "Host", "User-Agent", "Accept", "Accept-Encoding", "Accept-Language", cacheControl, "Pragma", "Connection":
		return true
	}
	return false
}

const (
	crlf = "\r\n"

	cacheControl  = "Cache-Control"
	contentLength = "Content-Length"
	contentType   = "Content-Type"
)

// read makes of the octets of one whole request what net/http makes of them (RFC 9112). false: they're anything else, or anything about them is a
// matter of opinion.
func (w *work) read(b []byte, said *said) bool {
	text, ok := bytes.CutSuffix(b, []byte(crlf+crlf))
	if !ok || bytes.HasSuffix(text, []byte(crlf)) { // One empty line ends it, and another is of the next.
		return false
	}
	line, rest, _ := bytes.Cut(text, []byte(crlf))
	asked, ok := bytes.CutPrefix(line, []byte("GET "))
	if !ok {
		return false
	}
	if asked, ok = bytes.CutSuffix(asked, []byte(" HTTP/1.1")); !ok {
		return false
	}
	target := w.words.of(asked)
	if !strings.HasPrefix(target, "/") || !within(target, '!', '~') || !w.locate(target) {
		return false
	}
	h := said.header(rest)
	if h == nil {
		return false
	}
	w.request.URL, w.request.RequestURI, w.request.Header, w.request.Host = &w.url, target, h.header, h.host
	return true
}

// locate reads a target. One of letters that mean themselves is what it is, but for its query; of others net/url says what they mean.
func (w *work) locate(target string) bool {
	path, query, asks := strings.Cut(target, "?")
	if plainPath(path) && asks == (query != "") {
		w.url = url.URL{Path: path, RawQuery: query}
		return true
	}
	u, err := url.ParseRequestURI(target)
	if err != nil || u.RawPath != "" {
		return false
	}
	w.url = *u
	return true
}

// plainPath says that a path is made of letters, digits, slashes, dots, dashes and underscores.
func plainPath(s string) bool {
	for i := range len(s) {
		if !plain[s[i]] {
			return false
		}
	}
	return true
}

// plain are those. To look each one up takes a third of comparing it.
var plain = func() (in [256]bool) { //nolint:gochecknoglobals // Nobody changes it.
	for _, c := range []byte("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/-_.") {
		in[c] = true
	}
	return in
}()

// said is what was said last behind the first line of a request. Machines say there the same, again and again.
type said struct{ last atomic.Pointer[spoken] }

// spoken are those lines, and what they mean. Nobody changes it any more.
type spoken struct {
	text   string
	header http.Header
	host   string
}

// header is what lines mean; nil: something else than what is understood here.
func (s *said) header(text []byte) *spoken {
	if last := s.last.Load(); last != nil && last.text == string(text) {
		return last
	}
	x := &spoken{text: string(text)}
	var ok bool
	if x.header, ok = headers(x.text); !ok {
		return nil
	}
	if x.host = x.header.Get("Host"); !plainHost(x.host) {
		return nil
	}
	delete(x.header, "Host")
	s.last.Store(x)
	return x
}

// headers reads the lines behind the first one.
func headers(text string) (http.Header, bool) {
	n := strings.Count(text, crlf) + 1
	h, values := make(http.Header, n), make([]string, 0, n)
	for text != "" {
		var line string
		line, text, _ = strings.Cut(text, crlf)
		name, value, ok := strings.Cut(line, ":")
		name = textproto.CanonicalMIMEHeaderKey(name)
		if _, twice := h[name]; !ok || twice || !understood(name) || !within(value, ' ', '~') {
			return nil, false
		}
		if value = strings.Trim(value, " "); name == "Connection" && !strings.EqualFold(value, "keep-alive") {
			return nil, false
		}
		values = append(values, value)
		h[name] = values[len(values)-1 : len(values) : len(values)]
	}
	return h, true
}

// within says that all octets of a text are of a range.
func within(s string, least, most byte) bool {
	for i := range len(s) {
		if s[i] < least || s[i] > most {
			return false
		}
	}
	return true
}

// plainHost says that a Host is an address or a name, with or without a port.
func plainHost(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', strings.IndexByte(".-:[]", c) >= 0:
		default:
			return false
		}
	}
	return s != ""
}
