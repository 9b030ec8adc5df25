package fastlane

import (
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
)

// understood says of a header that machines say it, and that it may be anywhere. Of others nothing is understood here.
func understood(name string) bool {
	switch name {
	case "Host", "User-Agent", "Accept", "Accept-Encoding", "Accept-Language", "Cache-Control", "Pragma", "Connection":
		return true
	}
	return false
}

const crlf = "\r\n"

// read makes of the octets of one whole request what net/http makes of them (RFC 9112). false: they're anything else, or anything about them is a
// matter of opinion.
func read(b []byte) (*http.Request, bool) {
	text, ok := strings.CutSuffix(string(b), crlf+crlf)
	if !ok || strings.HasSuffix(text, crlf) { // One empty line ends it, and another is of the next.
		return nil, false
	}
	line, rest, _ := strings.Cut(text, crlf)
	target, ok := strings.CutPrefix(line, "GET ")
	if !ok {
		return nil, false
	}
	if target, ok = strings.CutSuffix(target, " HTTP/1.1"); !ok || !strings.HasPrefix(target, "/") || !within(target, '!', '~') {
		return nil, false
	}
	u, err := url.ParseRequestURI(target)
	if err != nil || u.RawPath != "" {
		return nil, false
	}
	r := &http.Request{Method: http.MethodGet, URL: u, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Body: http.NoBody, RequestURI: target}
	if r.Header, ok = headers(rest); !ok {
		return nil, false
	}
	if r.Host = r.Header.Get("Host"); !plainHost(r.Host) {
		return nil, false
	}
	delete(r.Header, "Host")
	return r, true
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
