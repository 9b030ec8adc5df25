package netbox_test

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// update writes our own copies of the recordings anew.
var update = flag.Bool("update", false, "write our own copies of the recordings from ../shared")

// A transcript is one recorded exchange with a real NetBox, or a recorded call of a webhook. Of what our copies leave out there's the name,
// and method and path where it was one exchange.
type transcript struct {
	Name          string            `json:"name"`
	Token         string            `json:"token,omitempty"`
	Method        string            `json:"method,omitempty"`
	Path          string            `json:"path,omitempty"`
	Headers       map[string]string `json:"headers,omitempty"`
	Body          json.RawMessage   `json:"body,omitempty"`
	Status        int               `json:"status,omitempty"`
	AnswerHeaders map[string]string `json:"answerHeaders,omitempty"`
	Answer        json.RawMessage   `json:"answer,omitempty"`
	// Hook is the body of a call.
	Hook json.RawMessage `json:"hook,omitempty"`
}

func (tr transcript) number() string {
	n, _, _ := strings.Cut(tr.Name, "-")
	return n
}

// bare says whether only the name of a recording is there.
func (tr transcript) bare() bool { return tr.Status == 0 && tr.Hook == nil }

func versions() []string { return []string{"4.2.9", "4.4.10", "4.6.8", "4.7.0-beta1"} }

func ownCopy(version string) string {
	return filepath.Join("..", "..", "..", "internal", "clients", "netbox", "testdata", "all", version+".jsonl.gz")
}

// own are the recordings of a version that are part of this repository: those of the endpoints in use, and the names of all others.
func own(t *testing.T, version string) []transcript {
	t.Helper()
	f, err := os.Open(ownCopy(version))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var out []transcript
	s := bufio.NewScanner(z)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var tr transcript
		if err := json.Unmarshal(s.Bytes(), &tr); err != nil {
			t.Fatal(err)
		}
		out = append(out, tr)
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// shared are all recordings of a version that there are, where they are at hand: those of the endpoints in use, and the names of all others.
func shared(t *testing.T, version string) []transcript {
	t.Helper()
	names, _ := filepath.Glob(filepath.Join("..", "..", "..", "..", "shared", "testdata", "netbox", version, "*.json"))
	var out []transcript
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var w struct {
			Request *struct {
				Method  string            `json:"method"`
				Path    string            `json:"path"`
				Headers map[string]string `json:"headers"`
				Body    json.RawMessage   `json:"body"`
			} `json:"request"`
			Response *struct {
				Status  int               `json:"status"`
				Headers map[string]string `json:"headers"`
				Body    json.RawMessage   `json:"body"`
			} `json:"response"`
			Delivery *struct {
				Body json.RawMessage `json:"body"`
			} `json:"delivery"`
		}
		if err := json.Unmarshal(b, &w); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		tr := transcript{Name: strings.TrimSuffix(filepath.Base(name), ".json")}
		switch {
		case w.Request != nil && w.Response != nil:
			tr.Token, tr.Method, tr.Path, tr.Body = w.Request.Headers["Authorization"], w.Request.Method, w.Request.Path, w.Request.Body
			tr.Headers = w.Request.Headers
			delete(tr.Headers, "Authorization")
			tr.Status, tr.AnswerHeaders, tr.Answer = w.Response.Status, w.Response.Headers, w.Response.Body
		case w.Delivery != nil:
			tr.Hook = w.Delivery.Body
		}
		if !inUse(tr) { // What many clients at once saw, or how long it took, is of no endpoint.
			tr = transcript{Name: tr.Name, Method: tr.Method, Path: tr.Path}
		}
		out = append(out, compact(t, tr))
	}
	return out
}

// compact takes the white space out.
func compact(t *testing.T, tr transcript) transcript {
	t.Helper()
	for _, m := range []*json.RawMessage{&tr.Body, &tr.Answer, &tr.Hook} {
		if len(*m) == 0 || string(*m) == "null" {
			*m = nil
			continue
		}
		var b bytes.Buffer
		if err := json.Compact(&b, *m); err != nil {
			t.Fatal(err)
		}
		*m = b.Bytes()
	}
	return tr
}

// TestSharedRecordings holds that our own copies are complete, and replays the shared ones. With -update it writes our copies.
func TestSharedRecordings(t *testing.T) {
	for _, v := range versions() {
		all := shared(t, v)
		if len(all) == 0 {
			t.Skip("skipped: ../shared/testdata/netbox isn't here: only our own copies of the recordings are replayed")
		}
		if *update {
			write(t, ownCopy(v), lines(t, all))
		}
		if !bytes.Equal(lines(t, all), lines(t, own(t, v))) {
			t.Errorf("%s isn't what ../shared holds: go test ./test/sim/netbox -run TestSharedRecordings -update", ownCopy(v))
		}
		t.Run(v, func(t *testing.T) { contract(t, v, all) })
	}
}

func lines(t *testing.T, all []transcript) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, tr := range all {
		line, err := json.Marshal(tr)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	return b.Bytes()
}

func write(t *testing.T, name string, b []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		t.Fatal(err)
	}
	var z bytes.Buffer
	w, _ := gzip.NewWriterLevel(&z, gzip.BestCompression)
	if _, err := io.Copy(w, bytes.NewReader(b)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, z.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// inUse says whether a transcript is of an endpoint that the provider uses, or about how it is let in there.
func inUse(tr transcript) bool {
	if tr.Hook != nil {
		return true
	}
	used := []string{
		"status", "authentication-check", "ipam/prefixes", "ipam/ip-ranges", "ipam/ip-addresses", "ipam/vrfs", "ipam/roles", "ipam/nope", "nope",
		"tenancy/tenants", "extras/tags", "extras/custom-fields", "dcim/sites", "dcim/devices", "dcim/interfaces", "dcim/mac-addresses",
		"core/object-changes",
	}
	return slices.Contains(used, tr.endpoint())
}

// endpoint is the first two parts of the path below /api/; "" of none.
func (tr transcript) endpoint() string {
	path, _, _ := strings.Cut(tr.Path, "?")
	parts := strings.Split(strings.Trim(strings.TrimPrefix(path, "/api"), "/"), "/")
	return strings.Join(parts[:min(2, len(parts))], "/")
}

// inOrder sorts transcripts as they were recorded, which isn't everywhere by number.
func inOrder(version string, all []transcript) []transcript {
	place := func(tr transcript) string {
		n := tr.number()
		in := func(from, to string) bool { return n[:3] >= from && n[:3] <= to }
		switch {
		case in("763", "769"):
			return "90"
		case in("799", "799"):
			return "91"
		case n == "828b", n == "828c":
			return "94"
		case in("828", "828"):
			return "92"
		case in("829", "829"), in("849", "849"):
			return "93"
		case in("627", "633") && version == "4.6.8":
			return "5"
		case in("600", "699"):
			return "1" // after 519, before 520
		case in("520", "762"):
			return "2"
		case in("770", "798") && version == "4.2.9":
			return "3"
		case in("770", "798"):
			return "8"
		case in("900", "999"):
			return "6"
		case in("800", "899"):
			return "4"
		}
		return "0"
	}
	out := slices.Clone(all)
	slices.SortStableFunc(out, func(a, b transcript) int { return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a.Name, b.Name)) })
	return out
}
