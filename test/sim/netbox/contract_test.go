package netbox_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// A transcript is one recorded exchange with a real NetBox.
type transcript struct {
	Name          string            `json:"name"`
	Token         string            `json:"token"`
	Method        string            `json:"method"`
	Path          string            `json:"path"`
	Headers       map[string]string `json:"headers"`
	Body          json.RawMessage   `json:"body"`
	Status        int               `json:"status"`
	AnswerHeaders map[string]string `json:"answerHeaders"`
	Answer        json.RawMessage   `json:"answer"`
}

func (tr transcript) number() string {
	n, _, _ := strings.Cut(tr.Name, "-")
	return n
}

func versions() []string { return []string{"4.2.9", "4.4.10", "4.6.8", "4.7.0-beta1"} }

func transcripts(t *testing.T, version string) []transcript {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "internal", "clients", "netbox", "testdata", version+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var out []transcript
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var tr transcript
		if err := json.Unmarshal(s.Bytes(), &tr); err != nil {
			t.Fatal(err)
		}
		out = append(out, tr)
	}
	return out
}

// outside are the transcripts of the subset that the emulator doesn't play, and why.
func outside() map[string]string {
	return map[string]string{
		"200": "prefixes are seeded, not created by REST", "201": "as 200", "202": "as 200",
		"330": "assignment to interfaces isn't in use", "361": "two errors in one body are tested below",
		"380": "lists aren't in use", "383": "as 380", "386": "as 380",
		"834":        "prefixes are seen by all tokens that may view any",
		"4.4.10/600": "records of one host come in any order", "4.4.10/601": "as 600",
		"720": "writes on a detail path", "751": "made by hand below", "765": "one language only", "769": "as 765",
		"791": "custom fields aren't renamed by REST", "795": "as 791", "797": "as 791",
		"930": "faults have their own test", "931": "as 930", "932": "as 930", "940": "as 930", "941": "as 930", "942": "as 930", "943": "as 930", "910": "as 930", "912": "as 930",
	}
}

// world seeds what the recorded NetBox held, as far as the transcript needs it.
func world(version string, tr transcript) *netbox.Server {
	now := time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
	if tag := tr.Headers["If-Match"]; tr.number() == "534" {
		now, _ = time.Parse(`W/"2006-01-02T15:04:05.000000-07:00"`, tag)
	}
	s := netbox.New(netbox.Options{Version: version, Now: func() time.Time { return now }})
	seedTokens(s, tr.number())
	s.AddVRF(netbox.VRF{ID: 1, Name: "prod", RD: "65000:1", EnforceUnique: true})
	s.AddVRF(netbox.VRF{ID: 2, Name: "loose", RD: "65000:2"})
	s.AddVRF(netbox.VRF{ID: 3, Name: "prod", EnforceUnique: true})
	for id, p := range map[int64]netbox.Prefix{
		1: {Prefix: cidr("10.10.0.0/24"), Description: "nodes"}, 2: {Prefix: cidr("10.10.0.0/24"), VRF: 1},
		3: {Prefix: cidr("10.10.0.0/24"), VRF: 2}, 4: {Prefix: cidr("10.10.0.0/24"), VRF: 3},
		5: {Prefix: cidr("10.20.0.0/16"), Status: "container"}, 9: {Prefix: cidr("10.30.0.9/32")},
		8: {Prefix: cidr("10.30.0.0/31")}, 10: {Prefix: cidr("10.30.0.16/30")}, 11: {Prefix: cidr("10.30.0.20/30"), IsPool: true},
		16: {Prefix: cidr("2001:db8:11::/127")}, 12: {Prefix: cidr("10.30.1.0/29"), MarkUtilized: true}, 15: {Prefix: cidr("2001:db8:10::/64")},
		17: {Prefix: cidr("2001:db8:12::1/128")}, 18: {Prefix: cidr(map[bool]string{true: "10.40.0.0/29", false: "10.40.0.0/30"}[tr.number() == "315"])},
		19: {Prefix: cidr("10.41.0.0/24")}, 20: {Prefix: cidr("10.42.0.0/24")},
	} {
		p.ID = id
		s.AddPrefix(p)
	}
	s.AddTenant(netbox.Named{ID: 1, Name: "Tenant A", Slug: "tenant-a"})
	s.AddTag(netbox.Named{ID: 1, Name: "Managed", Slug: "managed"})
	s.AddTag(netbox.Named{ID: 4, Name: "human", Slug: "human"})
	if n := tr.number(); n != "100" && n != "110" {
		s.AddMarkerField("claim_id")
	}
	for _, f := range []string{"cf_flag", "cf_number", "cf_site", "cf_zone", "loose_text"} {
		s.AddCustomField(netbox.CustomField{Name: f, Type: "text", FilterLogic: "loose", ObjectTypes: []string{"ipam.ipaddress"}})
	}
	seedAddresses(s, tr)
	return s
}

func cidr(s string) netip.Prefix { return netip.MustParsePrefix(s) }

// allocatorRights grow in the course of the recording.
func allocatorRights(number string) []string {
	all := []string{"view prefix", "add ipaddress", "view ipaddress"}
	switch {
	case number < "806":
		return []string{}
	case number < "808":
		return all[:1]
	case number < "813":
		return all[:2]
	}
	return all
}

func seedTokens(s *netbox.Server, number string) {
	for _, name := range []string{"admin", "admin-v1", "admin-readonly", "expired", "nobody", "allocator", "viewer", "scoped"} {
		for _, secret := range []string{"<" + name + "-secret>", "nbt_<" + name + "-secret>.<" + name + "-secret>"} {
			t := netbox.Token{Name: name, Secret: secret, ReadOnly: name == "admin-readonly", Expired: name == "expired"}
			switch name {
			case "nobody":
				t.Rights = []string{}
			case "allocator":
				t.Rights = allocatorRights(number)
			case "viewer", "scoped":
				t.Rights = []string{"view prefix", "add ipaddress", "view ipaddress", "change ipaddress", "delete ipaddress"}
				t.Sees = func(a netbox.Address) bool { return a.Description != "hidden" }
			}
			s.AddToken(t)
		}
	}
}

// seedAddresses makes the addresses that the transcript finds, under the number in its path.
func seedAddresses(s *netbox.Server, tr transcript) {
	if tr.number() < "100" {
		return
	}
	marked := func(a, marker string) netbox.Address {
		return netbox.Address{Address: netip.MustParsePrefix(a), CustomFields: map[string]any{"claim_id": marker}}
	}
	s.AddAddress(netbox.Address{Address: netip.MustParsePrefix("10.40.0.1/30"), CustomFields: map[string]any{"claim_id": "full-1"}})
	s.AddAddress(marked("10.40.0.2/30", "x"))
	s.AddAddress(marked("10.42.0.1/24", "cluster-a/ns/node-1"))
	hidden := marked("10.42.0.2/24", "hidden-1")
	hidden.Description = "hidden"
	s.AddAddress(hidden)
	seedTarget(s, tr, hidden, marked("10.90.0.5/24", "static-1"))
	s.AddAddress(netbox.Address{Address: netip.MustParsePrefix("10.10.0.1/24")})
	s.AddAddress(marked("10.90.0.6/24", "range-1"))
	for _, vrf := range []int64{1, 2, 2} {
		if tr.number() != "504" {
			s.AddAddress(netbox.Address{Address: netip.MustParsePrefix("10.90.0.5/24"), VRF: vrf})
		}
	}
}

// seedTarget makes the record that a detail path names, or that a filter finds.
func seedTarget(s *netbox.Server, tr transcript, hidden, static netbox.Address) {
	static.Description, static.Tags, static.ID = "static", []int64{1, 4}, numberIn(tr.Path)
	switch n := tr.number(); {
	case n == "838" || n == "840" || n == "841":
		hidden.ID, hidden.Address = numberIn(tr.Path), netip.MustParsePrefix("10.42.0.99/24")
		hidden.CustomFields = nil
		s.AddAddress(hidden)
	case n == "813":
		s.AddAddress(netbox.Address{Address: netip.MustParsePrefix("10.42.0.9/24"), CustomFields: map[string]any{"claim_id": "perm-1"}})
	case n == "375":
		for _, a := range []string{"10.40.0.1/30", "10.40.0.2/30"} {
			s.AddAddress(netbox.Address{Address: netip.MustParsePrefix(a)})
		}
	case n == "382":
		s.AddAddress(netbox.Address{Address: netip.MustParsePrefix("10.30.0.9/32")})
	case n == "794":
		s.AddMarkerField("renamed")
		s.AddAddress(netbox.Address{Address: netip.MustParsePrefix("10.93.0.1/24"), CustomFields: map[string]any{"renamed": "v"}})
	case n != "500" && tr.Status != http.StatusNotFound:
		s.AddAddress(static)
	}
}

func numberIn(path string) int64 {
	var n int64
	for p := range strings.SplitSeq(path, "/") {
		_, _ = fmt.Sscanf(p, "%d", &n)
	}
	return n
}

func TestContract(t *testing.T) {
	for _, v := range versions() {
		played := 0
		for _, tr := range transcripts(t, v) {
			if outside()[tr.number()] != "" || outside()[v+"/"+tr.number()] != "" {
				continue
			}
			played++
			t.Run(v+"/"+tr.Name, func(t *testing.T) { replay(t, v, tr) })
		}
		if played < 100 {
			t.Errorf("%s: only %d transcripts played", v, played)
		}
	}
}

func replay(t *testing.T, version string, tr transcript) {
	t.Helper()
	body := []byte(tr.Body)
	var raw string // a body that wasn't JSON is recorded as a text
	if json.Unmarshal(body, &raw) == nil {
		body = []byte(raw)
	}
	r := httptest.NewRequestWithContext(t.Context(), tr.Method, "http://netbox.example"+tr.Path, bytes.NewReader(body))
	r.Header.Set("Authorization", tr.Token)
	if tr.Token == "" {
		r.Header.Del("Authorization")
	}
	for k, v := range tr.Headers {
		r.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	world(version, tr).ServeHTTP(w, r)
	res := w.Result()
	got, _ := io.ReadAll(res.Body)
	if res.StatusCode != tr.Status {
		t.Fatalf("status %d, recorded %d: %s", res.StatusCode, tr.Status, got)
	}
	if diff := cmp.Diff(headers(func(k string) string { return header(tr.AnswerHeaders, k) }), headers(res.Header.Get)); diff != "" {
		t.Errorf("headers (-recorded +emulated):\n%s", diff)
	}
	if tr.Status == http.StatusNoContent || strings.Contains(header(tr.AnswerHeaders, "Content-Type"), "html") {
		return
	}
	compareBodies(t, tr, got)
}

func header(m map[string]string, key string) string {
	for k, v := range m {
		if strings.EqualFold(k, key) {
			return v
		}
	}
	return ""
}

// headers are those that matter; of tags and places only that they are there, and their form.
func headers(get func(string) string) map[string]string {
	out := map[string]string{}
	for _, k := range []string{"Content-Type", "API-Version", "Allow", "Content-Language"} {
		out[k] = get(k)
	}
	out["ETag"] = strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '0'
		}
		return r
	}, get("ETag"))
	out["Location"] = strings.TrimRight(get("Location"), "0123456789/")
	return out
}

// compareBodies wants errors word for word (but for the JSON parser's own), and of records the shape
// and those values that don't come from the rest of the recorded database.
func compareBodies(t *testing.T, tr transcript, got []byte) {
	t.Helper()
	var want, have any
	if err := json.Unmarshal(tr.Answer, &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(got, &have); err != nil {
		t.Fatalf("not JSON: %s", got)
	}
	if tr.Status >= 400 {
		if tr.number() == "725" || tr.number() == "328" {
			want, have = shape(want, ""), shape(have, "")
		}
		if diff := cmp.Diff(want, have); diff != "" {
			t.Errorf("error (-recorded +emulated):\n%s", diff)
		}
		return
	}
	if tr.Method != http.MethodGet && !cmp.Equal(marker(want), marker(have)) {
		t.Errorf("marker %v, recorded %v", marker(have), marker(want))
	}
	if diff := cmp.Diff(shape(want, ""), shape(have, "")); diff != "" {
		t.Errorf("shape (-recorded +emulated):\n%s", diff)
	}
}

// marker is the value of the marker field in a record.
func marker(v any) any {
	m, _ := v.(map[string]any)
	fields, _ := m["custom_fields"].(map[string]any)
	return fields["claim_id"]
}

// exact are the keys whose values, too, must be as recorded.
func exact() []string {
	return []string{
		"family", "status", "role", "dns_name", "type", "filter_logic", "unique", "object_types", "ui_editable",
		"netbox-version", "netbox-full-version", "required", "data_type", "prefix",
	}
}

// shape replaces values by their types, and a list by its first element's shape. What the recorded
// prefix 1 has beside (scope, role, tenant, tags, custom fields) isn't in use.
func shape(v any, key string) any {
	switch {
	case slices.Contains(exact(), key):
		return v
	case key == "installed_apps", key == "installed-apps":
		return "object"
	case strings.HasPrefix(key, "cf_"), key == "loose_text", key == "claim_id": // only that they are there
		return "any"
	}
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if _, isPrefix := v["is_pool"]; isPrefix && slices.Contains([]string{"scope", "scope_id", "scope_type", "role", "tenant", "tags", "custom_fields"}, k) {
				continue
			}
			out[k] = shape(v[k], k)
		}
		return out
	case []any:
		if len(v) == 0 || key == "tags" {
			return "list"
		}
		return []any{shape(v[0], "")}
	case nil:
		return "null"
	}
	return fmt.Sprintf("%T", v)
}
