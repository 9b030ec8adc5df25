package netbox_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// A hall is a NetBox of devices with addresses on their interfaces, that counts what it's asked.
type hall struct {
	devices int

	mu    sync.Mutex
	asked []string
	gone  map[int]bool
	// seated are the addresses of devices where it isn't that of their number, and changed is when a device was.
	seated  map[int]int
	changed map[int]time.Time
	// base is when all others were, each some minutes before; the zero time: it isn't told. deaf are filters that are ignored, and refused what is answered by refusal, or 400.
	base    time.Time
	deaf    []string
	refused []string
	refusal *transcript
}

// wants says how a query is told in asked, and what of it is about a record.
func (h *hall) wants(q url.Values) (words string, want func(id int, changed time.Time) bool) {
	heard := func(name string) string {
		if slices.Contains(h.deaf, name) {
			return ""
		}
		return q.Get(name)
	}
	from, _ := strconv.Atoi(heard("id__gte"))
	to, _ := strconv.Atoi(heard("id__lte"))
	since, _ := time.Parse(time.RFC3339, heard("last_updated__gte"))
	words = strconv.Itoa(len(q["id"]))
	switch {
	case q.Has("id__gte"):
		words = q.Get("id__gte") + "-" + q.Get("id__lte")
	case q.Has("last_updated__gte"):
		words = "changed"
	}
	return words, func(id int, changed time.Time) bool {
		return (len(q["id"]) == 0 || has(q["id"], id)) && id >= from && (to == 0 || id <= to) && !changed.Before(since)
	}
}

func (h *hall) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	words, want := h.wants(r.URL.Query())
	h.asked = append(h.asked, r.URL.Path+" "+words)
	w.Header().Set("Content-Type", "application/json")
	if len(r.URL.RequestURI()) > 4000 || slices.ContainsFunc(h.refused, r.URL.Query().Has) {
		a := made(http.StatusBadRequest, `{"id":["no"]}`)
		if h.refusal != nil {
			a = *h.refusal
		}
		for name, value := range a.AnswerHeaders {
			w.Header().Set(name, value)
		}
		w.WriteHeader(a.Status)
		_, _ = w.Write(a.Answer)
		return
	}
	var out []string
	for n := range h.devices {
		id := n + 1
		at := h.base
		if !at.IsZero() {
			at = at.Add(-time.Duration(id) * time.Minute)
		}
		if t, ok := h.changed[id]; ok {
			at = t
		}
		updated := ""
		if !at.IsZero() {
			updated = fmt.Sprintf(`,"last_updated":%q`, at.UTC().Format(time.RFC3339Nano))
		}
		switch {
		case strings.HasSuffix(r.URL.Path, "/ip-addresses/"):
			out = append(out, fmt.Sprintf(`{"id":%d,"address":"10.0.0.1/16","custom_fields":{"claim":"c1/ns/a-%d/u"},"assigned_object_type":"dcim.interface",`+
				`"assigned_object_id":%d,"assigned_object":{"id":%d,"name":"eno1","device":{"id":%d,"name":"d"}}}`, id, id, id+10000, id+10000, id))
		case h.gone[id]:
		case strings.HasSuffix(r.URL.Path, "/devices/") && want(id, at):
			seat := id
			if n, ok := h.seated[id]; ok {
				seat = n
			}
			out = append(out, fmt.Sprintf(`{"id":%d,"name":"d","primary_ip4":{"id":%d,"address":"10.0.0.1/16"}%s}`, id, seat, updated))
		case strings.HasSuffix(r.URL.Path, "/interfaces/") && want(id+10000, at):
			out = append(out, fmt.Sprintf(`{"id":%d,"name":"eno1","device":{"id":%d},"mac_addresses":[{"mac_address":"52:54:00:00:00:01"}]}`, id+10000, id))
		}
	}
	offset, _ := strconv.Atoi(r.URL.Query().Get("offset"))
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	out = out[min(offset, len(out)):]
	next := "null"
	if limit > 0 && len(out) > limit {
		out, next = out[:limit], `"http://elsewhere/"`
	}
	_, _ = fmt.Fprintf(w, `{"count":%d,"next":%s,"previous":null,"results":[%s]}`, h.devices, next, strings.Join(out, ","))
}

func has(ids []string, id int) bool {
	for _, s := range ids {
		if s == strconv.Itoa(id) {
			return true
		}
	}
	return false
}

// TestSeenHolders: what a thousand addresses are assigned to costs a page each, and what is asked for now is read now.
func TestSeenHolders(t *testing.T) {
	const age = time.Minute
	h := &hall{devices: 1000, gone: map[int]bool{7: true}}
	now := time.Now()
	s := serveMarked(t, h, func() time.Time { return now })
	if _, _, err := s.Seen(t.Context(), 1, age); err != nil {
		t.Fatal(err)
	}
	for id := range int64(1000) {
		d, ok, err := s.SeenHolder(t.Context(), netbox.Device, id+1, age)
		if err != nil || ok != (id+1 != 7) || ok && d.Seated[netbox.SeatPrimary4].ID != id+1 {
			t.Fatalf("device %d: %+v, %v, %v", id+1, d, ok, err)
		}
		i, ok, err := s.SeenInterface(t.Context(), netbox.Device, id+10001, age)
		if err != nil || ok && !i.HasMAC("52-54-00-00-00-01") {
			t.Fatalf("interface %d: %+v, %v", id+10001, i, err)
		}
	}
	want := []string{
		"/api/ipam/ip-addresses/ 0", "/api/dcim/devices/ 1-1000", "/api/dcim/interfaces/ 10001-11000",
	}
	if diff := cmp.Diff(want, h.asked); diff != "" {
		t.Errorf("requests for 1,000 addresses (-want +got):\n%s", diff)
	}
	h.asked = nil
	if _, ok, err := s.SeenHolder(t.Context(), netbox.Device, 1, 0); err != nil || !ok {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"/api/dcim/devices/ 1"}, h.asked); diff != "" {
		t.Errorf("read now, and alone (-want +got):\n%s", diff)
	}
	now = now.Add(2 * age)
	h.devices = 0
	if _, ok, err := s.SeenHolder(t.Context(), netbox.Device, 2, age); err != nil || ok {
		t.Errorf("what is old is read anew, where NetBox doesn't tell what has changed: %v, %v", ok, err)
	}
}

// TestHoldersRefused: a NetBox that refuses what it was never seen to be asked for, or that has something in front which does, is asked by numbers,
// each time.
func TestHoldersRefused(t *testing.T) {
	for name, refusal := range map[string]transcript{
		"Invalid":   made(400, `{"id":["no"]}`),
		"Forbidden": made(403, `{"detail":"You do not have permission to perform this action."}`),
		"NotFound":  made(404, `{"detail":"Not found."}`),
		"Firewall":  html(403),
		"NoPage":    html(404),
		"Page":      html(200),
		"Foreign":   made(200, `{"results":{}}`),
	} {
		t.Run(name, func(t *testing.T) { holdersRefused(t, refusal) })
	}
}

func holdersRefused(t *testing.T, refusal transcript) {
	t.Helper()
	const age = time.Minute
	now := time.Now()
	h := &hall{devices: 400, base: now, refused: []string{"id__gte", "last_updated__gte"}, refusal: &refusal}
	s := serveMarked(t, h, func() time.Time { return now })
	if _, _, err := s.Seen(t.Context(), 1, age); err != nil {
		t.Fatal(err)
	}
	byNumbers := []string{"/api/dcim/devices/ 300", "/api/dcim/devices/ 100"}
	for _, want := range [][]string{
		append([]string{"/api/dcim/devices/ 1-1000"}, byNumbers...), append([]string{"/api/dcim/devices/ changed"}, byNumbers...), byNumbers,
	} {
		h.asked = nil
		for id := range int64(400) {
			if d, ok, err := s.SeenHolder(t.Context(), netbox.Device, id+1, age); err != nil || !ok || d.ID != id+1 {
				t.Fatalf("device %d: %+v, %v, %v", id+1, d, ok, err)
			}
		}
		h.asked = slices.DeleteFunc(h.asked, func(r string) bool { return strings.HasPrefix(r, "/api/status/") })
		if diff := cmp.Diff(want, h.asked); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
		now = now.Add(age)
	}
}

// TestHoldersChanges: devices that were read once cost a request for all of them, as long as NetBox says what has changed.
func TestHoldersChanges(t *testing.T) {
	const age, devices = time.Minute, 1500
	now := time.Now()
	h := &hall{devices: devices, base: now.Add(-24 * time.Hour), changed: map[int]time.Time{}, seated: map[int]int{}}
	s := serveMarked(t, h, func() time.Time { return now })
	if _, _, err := s.Seen(t.Context(), 1, age); err != nil {
		t.Fatal(err)
	}
	change := func(ago time.Duration, ids ...int) func() {
		return func() {
			for _, id := range ids {
				h.seated[id], h.changed[id] = id+5000, now.Add(-ago)
			}
		}
	}
	all := func(from int) (out []int) {
		for id := from; id <= devices; id++ {
			out = append(out, id)
		}
		return out
	}
	whole := []string{"/api/dcim/devices/ 1-1000", "/api/dcim/devices/ 1001-2000"}
	steps := []struct {
		reason string
		after  time.Duration
		happen func()
		want   []string
	}{
		{"all are read a page each", 0, func() {}, whole},
		{"which is good for a while", age / 2, change(0, 1), nil},
		{"then what has changed is a request for all", age, change(0, 3), []string{"/api/dcim/devices/ changed"}},
		{"and again, also of what was written a while before others see it", age, change(2*time.Minute, 4, 5), []string{"/api/dcim/devices/ changed"}},
		{"who isn't shown any more is as he was: his addresses go with him", age, func() { h.gone = map[int]bool{9: true} }, []string{"/api/dcim/devices/ changed"}},
		{"after twenty minutes all are read again, be it that something was written without a time", 20 * time.Minute, func() { h.seated[11], h.gone = 99, nil }, whole},
		{"a clock that is wrong hides nothing", age, change(-24*time.Hour, 12), []string{"/api/dcim/devices/ changed"}},
		{"nor afterwards", age, change(0, 13), []string{"/api/dcim/devices/ changed"}},
		{"a NetBox that ignores the question is asked for all", age, func() { h.deaf = []string{"last_updated__gte"} }, append([]string{"/api/dcim/devices/ changed"}, whole...)},
		{"for a while", age, change(0, 14), whole},
		{"and one that ignores numbers in a row by the numbers", age, func() { h.deaf = append(h.deaf, "id__gte", "id__lte"); change(0, all(1400)...)() }, []string{
			"/api/dcim/devices/ 1-1000", "/api/dcim/devices/ 1-1000", "/api/dcim/devices/ 300", "/api/dcim/devices/ 300", "/api/dcim/devices/ 300", "/api/dcim/devices/ 300", "/api/dcim/devices/ 300",
		}},
	}
	for _, step := range steps {
		now = now.Add(step.after)
		step.happen()
		h.asked = nil
		for id := 1; id <= devices; id++ {
			d, ok, err := s.SeenHolder(t.Context(), netbox.Device, int64(id), age)
			want := int64(id)
			if n, moved := h.seated[id]; moved && len(step.want) > 0 {
				want = int64(n)
			} else if moved {
				continue
			}
			if err != nil || !ok || d.Seated[netbox.SeatPrimary4].ID != want {
				t.Fatalf("%s: device %d: %+v, %v, %v", step.reason, id, d, ok, err)
			}
		}
		if diff := cmp.Diff(step.want, h.asked); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.reason, diff)
		}
	}
}
