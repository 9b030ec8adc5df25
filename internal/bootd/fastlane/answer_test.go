package fastlane

import (
	"bytes"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestHeaderAsNetHTTP: a header is written as http.Header.Write writes it.
func TestHeaderAsNetHTTP(t *testing.T) {
	cases := map[string]struct {
		reason string
		header http.Header
	}{
		"None":   {"nothing is said", http.Header{}},
		"Script": {"as a script's", http.Header{"Content-Type": {"text/plain; charset=utf-8"}, "Cache-Control": {"no-store"}, "Content-Length": {"700"}}},
		"Odd":    {"as a script's, but for what a line can't have", http.Header{"Content-Type": {"text/plain\r\nX-B: 2"}, "Cache-Control": {"no-store"}, "Content-Length": {"700"}}},
		"Padded": {"or needn't", http.Header{"Content-Type": {" text/plain "}, "Cache-Control": {"no-store"}, "Content-Length": {"700"}}},
		"Twice":  {"as a script's, and one of it twice", http.Header{"Content-Type": {"text/plain"}, "Cache-Control": {"no-store", "private"}, "Content-Length": {"700"}}},
		"Other":  {"as many lines, and one is another", http.Header{"Content-Type": {"text/plain"}, "Cache-Control": {"no-store"}, "Retry-After": {"2"}}},
		"Two":    {"two values are two lines", http.Header{"X-A": {"1", "2"}, "B": {"3"}}},
		"NoLine": {"and none is no line", http.Header{"X-A": {}, "B": {"3"}}},
		"Empty":  {"an empty value is one", http.Header{"X-A": {""}}},
		"Spaces": {"spaces around a value aren't of it", http.Header{"X-A": {" 1 2 "}}},
		"Broken": {"a line break makes no line", http.Header{"X-A": {"1\r\nX-B: 2"}}},
		"Tab":    {"a tab stays", http.Header{"X-A": {"1\t2"}}},
		"Name":   {"what is no name isn't written", http.Header{"X A": {"1"}, "": {"2"}, "X-B:": {"3"}, "x-c": {"4"}, "X_D": {"5"}}},
		"Many":   {"more than there's room for", http.Header{"A": {"1"}, "B": {"1"}, "C": {"1"}, "D": {"1"}, "E": {"1"}, "F": {"1"}, "G": {"1"}, "H": {"1"}, "I": {"1"}}},
	}
	for name, tc := range cases {
		var want bytes.Buffer
		_ = tc.header.Write(&want)
		if diff := cmp.Diff(want.String(), string(appendHeader(nil, tc.header, isUsual(tc.header)))); diff != "" {
			t.Errorf("%s: %s\n-net/http +here\n%s", name, tc.reason, diff)
		}
	}
}

// TestNothingIsKept: of a request and its answer nothing is left for the next one.
func TestNothingIsKept(t *testing.T) {
	w, _ := newWork().(*work)
	if !w.read([]byte(script+"\r\n"), &said{}) {
		t.Fatal("it isn't understood")
	}
	w.answer.Header().Set("X-Of", "another")
	w.answer.WriteHeader(http.StatusNotFound)
	_ = bodied(w.answer.status)
	_, _ = w.answer.WriteString(string(make([]byte, kept+1)))
	w.out = make([]byte, kept+1)
	w.done()
	if len(w.answer.header)+len(w.answer.body)+w.answer.status+len(w.out) != 0 || w.request.URL != nil || w.url.Path != "" || w.answer.lane != nil || w.here.lane != nil {
		t.Errorf("%+v", w)
	}
	if cap(w.answer.body)+cap(w.out) > 2*kept {
		t.Error("the memory of a large answer stays")
	}
}
