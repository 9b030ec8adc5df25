package netbox_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// TestContract replays each recorded exchange of the endpoints in use, in the order of the recording, against one emulator of that
// version, and compares status, headers and body. Whatever isn't played, of whichever endpoint and kind, is listed with its reason; what
// has one and would pass fails, too.
func TestContract(t *testing.T) {
	left, ran := map[string]int{}, 0
	for _, v := range versions() {
		t.Run(v, func(t *testing.T) {
			ran++
			for why, n := range contract(t, v, own(t, v)) {
				left[why] += n
			}
		})
	}
	for _, e := range exceptions() {
		if left[e.reason] == 0 && ran == len(versions()) {
			t.Errorf("no recording is left out since %q: take the exception away", e.reason)
		}
	}
}

// contract returns how many were left out for which reason.
func contract(t *testing.T, version string, all []transcript) map[string]int {
	t.Helper()
	w := newWorld(t, version)
	played, left := 0, map[string]int{}
	for _, tr := range inOrder(version, all) {
		why := leftOut(version, tr)
		if tr.bare() {
			if why == "" {
				t.Errorf("%s: %s %s isn't replayed, and nothing says why: give it a reason in exceptions, or have inUse keep it", tr.Name, tr.Method, tr.Path)
			}
			left[why]++
			continue
		}
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
	t.Logf("%s: %d of %d recordings replayed", version, played, len(all))
	for _, why := range slices.Sorted(maps.Keys(left)) {
		t.Logf("%s: %d left out: %s", version, left[why], why)
	}
	if played < 480 {
		t.Errorf("only %d exchanges replayed", played)
	}
	return left
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
