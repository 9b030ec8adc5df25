package netbox

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A recording is one answer of a real NetBox.
type recording struct {
	Name    string            `json:"name"`
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Status  int               `json:"status"`
	Headers map[string]string `json:"answerHeaders"`
	Answer  json.RawMessage   `json:"answer"`
}

// recordings reads our own subset, and all that were ever made where they are at hand.
func recordings(t *testing.T) []recording {
	t.Helper()
	var out []recording
	files, _ := filepath.Glob("testdata/*.jsonl")
	sources, _ := filepath.Glob("testdata/sources/*.jsonl")
	files = append(files, sources...)
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		s := bufio.NewScanner(f)
		s.Buffer(nil, 1<<20)
		for s.Scan() {
			var r recording
			if err := json.Unmarshal(s.Bytes(), &r); err != nil {
				t.Fatal(err)
			}
			out = append(out, r)
		}
		_ = f.Close()
	}
	all, _ := filepath.Glob("../../../../shared/testdata/netbox/*/*.json")
	if len(all) == 0 {
		t.Log("../shared/testdata/netbox isn't here: only our own subset of it is tested")
	}
	for _, name := range all {
		if r, ok := shared(t, name); ok {
			out = append(out, r)
		}
	}
	return out
}

// shared reads one file of the whole collection; ok is false for those that aren't one answer.
func shared(t *testing.T, name string) (r recording, ok bool) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var w struct {
		Request *struct {
			Method string `json:"method"`
			Path   string `json:"path"`
		} `json:"request"`
		Response *struct {
			Status  int               `json:"status"`
			Headers map[string]string `json:"headers"`
			Body    json.RawMessage   `json:"body"`
		} `json:"response"`
	}
	if json.Unmarshal(b, &w) != nil || w.Request == nil || w.Response == nil {
		return recording{}, false
	}
	return recording{filepath.Base(name), w.Request.Method, w.Request.Path, w.Response.Status, w.Response.Headers, w.Response.Body}, true
}

// TestEveryRecording puts each recorded answer before the judge, to its own method: by status alone it must fall into one of the
// classes listed here, and nothing that the server said may be in the text.
func TestEveryRecording(t *testing.T) {
	read := map[int][]Kind{
		301: {KindUnexpected}, 400: {KindInvalid, KindMarkerTaken}, 403: {KindForbidden}, 404: {KindNotFound, KindUnexpected},
		405: {KindInvalid}, 406: {KindInvalid}, 409: {KindConflict}, 412: {KindConflict}, 415: {KindInvalid}, 500: {KindServerError},
	}
	write := map[int][]Kind{404: {KindNotFound, KindUnknownOutcome}, 500: {KindUnknownOutcome}}
	for _, r := range recordings(t) {
		want := map[string]int{http.MethodPost: 201, http.MethodDelete: 204}[r.Method]
		if want == 0 {
			want = http.StatusOK
		}
		k := call{op: "do it", method: r.Method, want: want}
		kinds := read[r.Status]
		if w := write[r.Status]; k.writes() && w != nil {
			kinds = w
		}
		_, err := judge(k, r.Status, header(r), r.Answer, nil)
		switch {
		case r.Method == http.MethodHead || r.Method == http.MethodOptions:
		case r.Status < 300:
			if err != nil && strings.Contains(header(r).Get("Content-Type"), "json") && r.Status == want {
				t.Errorf("%s: a good answer: %v", r.Name, err)
			}
		case !slices.Contains(kinds, KindOf(err)):
			t.Errorf("%s: %d to %s is %v, want one of %q", r.Name, r.Status, r.Method, err, kinds)
		case quotes(err.Error(), r.Answer):
			t.Errorf("%s: the server's words are in %q", r.Name, err)
		}
	}
}

func header(r recording) http.Header {
	h := http.Header{}
	for k, v := range r.Headers {
		h.Set(k, v)
	}
	return h
}

// quotes says whether text holds one of the answer's own sentences.
func quotes(text string, answer []byte) bool {
	var m map[string]any
	_ = json.Unmarshal(answer, &m)
	for _, v := range m {
		switch v := v.(type) {
		case string:
			if len(v) > 8 && strings.Contains(text, v) {
				return true
			}
		case []any:
			for _, s := range v {
				if s, ok := s.(string); ok && strings.Contains(text, s) {
					return true
				}
			}
		}
	}
	return false
}

// TestRecordedRecords decodes every address and prefix that was ever answered.
func TestRecordedRecords(t *testing.T) {
	addresses, prefixes, ranges := 0, 0, 0
	for _, r := range recordings(t) {
		path, _, _ := strings.Cut(r.Path, "?")
		switch {
		case r.Status >= 300 || !strings.HasPrefix(string(r.Answer), "{") || strings.Contains(r.Path, "fields=") || strings.Contains(r.Path, "omit="):
		case r.Method == http.MethodPost && strings.HasSuffix(path, "/available-ips/"), strings.HasPrefix(path, "/api/ipam/ip-addresses/"):
			if isPage(r) {
				continue
			}
			ip, err := decodeIPAddress(r.Answer)
			if err != nil || ip.ID == 0 || ip.LastUpdated == "" && !strings.Contains(r.Path, "brief") {
				t.Errorf("%s: %+v, %v", r.Name, ip, err)
			}
			addresses++
		case path == "/api/ipam/ip-ranges/" && r.Method == http.MethodGet:
			p, err := decodePage(r.Answer, decodeRange)
			if err != nil || p.Count < len(p.Items) {
				t.Errorf("%s: %+v, %v", r.Name, p, err)
			}
			ranges++
		case path == "/api/ipam/prefixes/" && isPage(r):
			p, err := decodePage(r.Answer, decodePrefix)
			if err != nil || p.Count < len(p.Items) && p.Count >= 0 {
				t.Errorf("%s: %+v, %v", r.Name, p, err)
			}
			prefixes++
		}
	}
	if addresses < 100 || prefixes < 20 || ranges < 10 {
		t.Errorf("only %d addresses, %d lists of prefixes and %d of ranges were decoded", addresses, prefixes, ranges)
	}
}

func isPage(r recording) bool {
	var w struct {
		Results []json.RawMessage `json:"results"`
	}
	return json.Unmarshal(r.Answer, &w) == nil && w.Results != nil
}
