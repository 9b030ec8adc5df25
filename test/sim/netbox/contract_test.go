package netbox_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// TestContract replays each recorded exchange of the endpoints in use, in the order of the recording, against one emulator of that
// version, and compares status, the headers that matter and the body. What isn't played has a reason in leftOut; what stands there and
// would pass fails, too.
func TestContract(t *testing.T) {
	for _, v := range versions() {
		t.Run(v, func(t *testing.T) { contract(t, v, own(t, v)) })
	}
}

func contract(t *testing.T, version string, all []transcript) {
	t.Helper()
	w := newWorld(t, version)
	played, left := 0, map[string]int{}
	for _, tr := range inOrder(version, all) {
		if !inUse(tr) {
			continue
		}
		why := leftOut(version, tr)
		diff := w.replay(tr)
		switch {
		case why != "" && diff == "":
			t.Errorf("%s is left out (%s), and would pass", tr.Name, why)
		case why != "":
			left[why]++
		case diff != "":
			t.Errorf("%s: %s %s: %s", tr.Name, tr.Method, tr.Path, diff)
		default:
			played++
		}
	}
	t.Logf("%s: %d exchanges replayed", version, played)
	for why, n := range left {
		t.Logf("%s: %d left out: %s", version, n, why)
	}
	if played < 480 {
		t.Errorf("only %d exchanges replayed", played)
	}
}

// An exception is what the emulator doesn't play, by a pattern of "VERSION NUMBER METHOD PATH", and why.
type exception struct{ pattern, reason string }

// exceptions: each must be needed by every transcript that it's about.
func exceptions() []exception {
	return []exception{
		{`POST /api/(ipam/(prefixes|ip-ranges|vrfs|roles)|tenancy/tenants|extras/tags|dcim/[a-z-]+)/ `, "people make these: they are seeded"},
		{`PATCH /api/(ipam/prefixes|dcim/interfaces)/|DELETE /api/ipam/(prefixes|vrfs)/`, "people change these: they are seeded"},
		{` /api/ipam/prefixes/\d+/available-prefixes/`, "the provider carves no prefixes"},
		{` OPTIONS `, "the provider asks OPTIONS of collections alone"},
		{` (522|765|767|769) `, "the provider asks for English"},
		{`^(4.6.8|4.7.0-beta1) 804 `, "people have no numbers here"},
		{`^4.2.9 590 `, "the recorded NetBox logged one change less, nobody knows which"},
		{`^4.4.10 (600|601|608|609|669) `, "records of one host come in any order"},
		{`^4.4.10 (622|752) `, "a record that an unknown custom field was dropped from is found neither by isn't nor by null"},
		{` 736 `, "a number that is too big for Go's JSON"},
		{` 85[56]b `, "after what many clients did at once, which is not an exchange"},
		{` (91[0-6]|92[2-4]|943) `, "a database that takes no writes: as other troubles, in other words"},
		{` 734 `, "a list to a record, which is a mistake of nobody's but a test's"},
	}
}

func leftOut(version string, tr transcript) string {
	line := version + " " + tr.number() + " " + tr.Method + " " + tr.Path + " "
	for _, e := range exceptions() {
		if regexp.MustCompile(e.pattern).MatchString(line) {
			return e.reason
		}
	}
	return ""
}

// replay plays one exchange and says how the answer differs, or "".
func (w *world) replay(tr transcript) string {
	w.before(tr.number())
	defer w.trouble(tr.number())()
	if tr.Hook != nil {
		return w.hook(tr)
	}
	if at, ok := writtenAt(tr); ok {
		w.now = at
	}
	w.number(tr)
	body := []byte(tr.Body)
	var raw string // a body that wasn't JSON is recorded as a text
	if json.Unmarshal(body, &raw) == nil {
		body = []byte(raw)
	}
	r := httptest.NewRequest(tr.Method, "http://netbox.example"+tr.Path, bytes.NewReader(body))
	for k, v := range tr.Headers {
		r.Header.Set(k, v)
	}
	if tr.Token != "" {
		r.Header.Set("Authorization", tr.Token)
	}
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, r)
	res := rec.Result()
	got, _ := io.ReadAll(res.Body)
	return compare(tr, res, got)
}

// number lets a new record have its recorded number: what isn't recorded took those before.
func (w *world) number(tr transcript) {
	if tr.Status != http.StatusCreated {
		return
	}
	type numbered struct {
		ID int64 `json:"id"`
	}
	var many []numbered
	if json.Unmarshal(tr.Answer, &many) != nil {
		var one numbered
		if json.Unmarshal(tr.Answer, &one) != nil {
			return
		}
		many = append(many, one)
	}
	kind := "address"
	if strings.Contains(tr.Path, "/custom-fields/") {
		kind = "field"
	}
	if len(many) > 0 {
		w.Next(kind, many[0].ID)
	}
}

// writtenAt is when a write was done, by the record that it answered.
func writtenAt(tr transcript) (time.Time, bool) {
	var one struct {
		LastUpdated time.Time `json:"last_updated"`
	}
	if tr.Method == http.MethodGet || json.Unmarshal(tr.Answer, &one) != nil || one.LastUpdated.IsZero() {
		return time.Time{}, false
	}
	return one.LastUpdated, true
}

// hook compares what a webhook would be told of a like change.
func (w *world) hook(tr transcript) string {
	var want map[string]any
	if err := json.Unmarshal(tr.Hook, &want); err != nil {
		return err.Error()
	}
	data, _ := want["data"].(map[string]any)
	id := int64(data["id"].(float64))
	hooked := netbox.Address{ID: id, Address: cidr(data["address"].(string)), Description: "hooked", Tags: []int64{1}, CustomFields: map[string]any{"claim_id": "hook-1"}}
	switch tr.number() {
	case "872":
		w.AddAddress(hooked)
	case "875":
		w.RemoveAddress(id)
	default:
		w.ChangeAddress(id, func(a *netbox.Address) { a.Description = "hooked 2" })
	}
	b, err := json.Marshal(w.HookBody())
	if err != nil {
		return err.Error()
	}
	var have map[string]any
	_ = json.Unmarshal(b, &have)
	for _, m := range []map[string]any{want, have} { // how it was asked for isn't the same by hand
		delete(m, "request_id")
		if r, ok := m["request"].(map[string]any); ok {
			m["request"] = len(r)
		}
	}
	return difference(want, have)
}
