package httpboot

import (
	"cmp"
	"net/http"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/artifacts"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

// TestRange holds what a Range comes to (RFC 9110 §14), of a file that holds "kernel".
func TestRange(t *testing.T) {
	const none, huge = "bytes */6", "99999999999999999999999999"
	cases := map[string]struct {
		reason, asks string
		method       string
		status       int
		body, part   string
	}{
		"First":        {reason: "from the beginning", asks: "bytes=0-1", status: 206, body: "ke", part: "bytes 0-1/6"},
		"Rest":         {reason: "a broken transfer goes on", asks: "bytes=4-", status: 206, body: "el", part: "bytes 4-5/6"},
		"Last":         {reason: "the end", asks: "bytes=-2", status: 206, body: "el", part: "bytes 4-5/6"},
		"PastTheEnd":   {reason: "as far as there is something", asks: "bytes=4-99", status: 206, body: "el", part: "bytes 4-5/6"},
		"MoreThanAll":  {reason: "all", asks: "bytes=-99", status: 206, body: "kernel", part: "bytes 0-5/6"},
		"Beyond":       {reason: "there is nothing", asks: "bytes=6-", status: 416, part: none},
		"NoneOfIt":     {reason: "the last none", asks: "bytes=-0", status: 416, part: none},
		"NoneInZeros":  {reason: "in more digits", asks: "bytes=-000", status: 416, part: none},
		"NoneAndSome":  {reason: "the last none, and something", asks: "bytes=-0, 0-1", status: 206, body: "ke", part: "bytes 0-1/6"},
		"Unit":         {reason: "a unit that nobody knows is ignored", asks: "items=0-1", status: 200, body: "kernel"},
		"NoUnit":       {reason: "and so is what names none", asks: "0-1", status: 200, body: "kernel"},
		"SpaceInUnit":  {reason: "a unit has no space", asks: "bytes =0-1", status: 200, body: "kernel"},
		"Capital":      {reason: "units are of either case", asks: "Bytes=0-1", status: 206, body: "ke", part: "bytes 0-1/6"},
		"Capitals":     {reason: "units are of either case", asks: "BYTES=-2", status: 206, body: "el", part: "bytes 4-5/6"},
		"Spaces":       {reason: "spaces may stand around", asks: "bytes= 0-1 , ", status: 206, body: "ke", part: "bytes 0-1/6"},
		"Nothing":      {reason: "no range at all", asks: "bytes=", status: 200, body: "kernel"},
		"Backwards":    {reason: "it ends before it begins", asks: "bytes=5-2", status: 416},
		"Letters":      {reason: "no number", asks: "bytes=a-b", status: 416},
		"Sign":         {reason: "a number has none", asks: "bytes=-+0", status: 416},
		"SpaceWithin":  {reason: "nor a space", asks: "bytes=- 0", status: 416},
		"NoneAtAll":    {reason: "neither beginning nor end", asks: "bytes=-", status: 416},
		"NoDash":       {reason: "no range", asks: "bytes=5", status: 416},
		"HugeEnd":      {reason: "numbers have no end", asks: "bytes=4-" + huge, status: 206, body: "el", part: "bytes 4-5/6"},
		"HugeStart":    {reason: "numbers have no end", asks: "bytes=" + huge + "-", status: 416, part: none},
		"HugeLast":     {reason: "numbers have no end", asks: "bytes=-" + huge, status: 206, body: "kernel", part: "bytes 0-5/6"},
		"Zeros":        {reason: "a long number may be a small one", asks: "bytes=" + strings.Repeat("0", 40) + "1-2", status: 206, body: "er", part: "bytes 1-2/6"},
		"BeyondOfTwo":  {reason: "the one that's there", asks: "bytes=9-10,0-1", status: 206, body: "ke", part: "bytes 0-1/6"},
		"MoreThanFile": {reason: "ranges that are more than the file are the file", asks: "bytes=0-,0-", status: 200, body: "kernel"},
		"Head":         {reason: "a range is of a GET", asks: "bytes=0-1", method: http.MethodHead, status: 200},
		"HeadBeyond":   {reason: "a range is of a GET", asks: "bytes=6-", method: http.MethodHead, status: 200},
	}
	r := newRig(t, nil)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			method := tc.method
			if method == "" {
				method = http.MethodGet
			}
			got := r.do(method, "/v1/boot/"+r.bootToken()+"/files/sha256-aaaa", "", "Range", tc.asks)
			if got.status != tc.status || tc.status < 300 && got.body != tc.body || got.header.Get("Content-Range") != tc.part {
				t.Errorf("%s: %q: %d %q %q, want %d %q %q", tc.reason, tc.asks, got.status, got.body, got.header.Get("Content-Range"), tc.status, tc.body, tc.part)
			}
			if length := got.header.Get("Content-Length"); method == http.MethodHead && length != "6" {
				t.Errorf("%s: it has %s bytes", tc.reason, length)
			}
		})
	}
	got := r.do(http.MethodGet, "/v1/boot/"+r.bootToken()+"/files/sha256-aaaa", "", "Range", "bytes=0-0,-1,-0")
	if parts := strings.Count(got.body, "Content-Range: bytes "); got.status != http.StatusPartialContent || parts != 2 {
		t.Errorf("two parts: %d, %d of them\n%s", got.status, parts, got.body)
	}
}

// TestTag holds that a file is known by its digest: what a client has of another one is never gone on with.
func TestTag(t *testing.T) {
	const ours, other, known = `"` + kernelDigest + `"`, `"` + initrdDigest + `"`, "If-None-Match"
	cases := map[string]struct {
		reason string
		header []string
		status int
		body   string
	}{
		"Same":       {"the rest of it", []string{"Range", "bytes=4-", "If-Range", ours}, 206, "el"},
		"Other":      {"all of this one", []string{"Range", "bytes=4-", "If-Range", other}, 200, "kernel"},
		"Date":       {"a file has none", []string{"Range", "bytes=4-", "If-Range", "Sat, 01 Aug 2026 10:00:00 GMT"}, 200, "kernel"},
		"Known":      {"it needn't come again", []string{known, ours}, 304, ""},
		"KnownOther": {"this one isn't known", []string{known, other}, 200, "kernel"},
	}
	r := newRig(t, nil)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := r.do(http.MethodGet, "/v1/boot/"+r.bootToken()+"/files/sha256-aaaa", "", tc.header...)
			if got.status != tc.status || got.body != tc.body || got.header.Get("ETag") != ours || got.header.Get("Last-Modified") != "" {
				t.Errorf("%s: %d %q %v, want %d %q", tc.reason, got.status, got.body, got.header, tc.status, tc.body)
			}
		})
	}
}

// TestKernelSeen: a kernel is seen once its machine has any of it, before the first byte, and by no answer that has none.
func TestKernelSeen(t *testing.T) {
	cases := map[string]struct {
		reason, method string
		header         []string
		missing        bool
		status, seen   int
	}{
		"Whole":   {reason: "it goes out", status: 200, seen: 1},
		"Part":    {reason: "some of it does", header: []string{"Range", "bytes=4-"}, status: 206, seen: 1},
		"Beyond":  {reason: "there's nothing to send", header: []string{"Range", "bytes=6-"}, status: 416},
		"Known":   {reason: "it's there already", header: []string{"If-None-Match", `"` + kernelDigest + `"`}, status: 304},
		"Head":    {reason: "it's only asked about", method: http.MethodHead, status: 200},
		"Missing": {reason: "it's being fetched, and asked for again", missing: true, status: 503},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(r *rig) {
				if tc.missing {
					r.files.err = artifacts.ErrFetching
				}
			})
			got := r.do(cmp.Or(tc.method, http.MethodGet), "/v1/boot/"+r.bootToken()+"/files/sha256-aaaa", "", tc.header...)
			seen := 0
			for _, x := range r.sessions.sights {
				if x.Kind == session.SawKernel {
					seen++
				}
			}
			if got.status != tc.status || seen != tc.seen {
				t.Errorf("%s: %d, seen %d times, want %d, %d times", tc.reason, got.status, seen, tc.status, tc.seen)
			}
		})
	}
}
