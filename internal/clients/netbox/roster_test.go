package netbox

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestRosterRoom: what addresses are assigned to is remembered as far as there's room for it. Where there's none, each is read by itself.
func TestRosterRoom(t *testing.T) {
	const all, some = 20, 10 << 10
	now := time.Unix(1000, 0)
	room := NewRoom(Limits{Each: 4 * some, All: 40 * some})
	r := newRoster[Interface](func() time.Time { return now }, room.beside.lodge("team-a"), &face{})
	var asked []int
	read := func(_ context.Context, k call, _ int, _ func(Interface) bool) (found []Interface, whole bool, err error) {
		asked = append(asked, len(k.query["id"]))
		found, err = numbered(k, strings.Repeat("x", 1000))
		return found, true, err
	}
	steps := []struct {
		why    string
		after  time.Duration
		number int64
		want   []int
	}{
		{"all are read together,", 0, all, []int{all}},
		{"and some remembered;", 0, all, nil},
		{"others aren't, and are read by themselves", 0, all - 1, []int{1}},
		{"as long as there's no room,", fieldTTL - time.Second, all - 1, []int{1}},
		{"and all together again once there is.", 2*fieldTTL + time.Second, all - 1, []int{all}},
	}
	for _, step := range steps {
		now, asked = now.Add(step.after), nil
		i, shown, err := r.look(t.Context(), step.number, time.Minute, upTo(all), call{query: url.Values{}}, read)
		if err != nil || !shown || i.ID != step.number {
			t.Errorf("%s: %+v, %v, %v", step.why, i, shown, err)
		}
		if d := cmp.Diff(step.want, asked); d != "" {
			t.Errorf("%s: records of a call (-want +got):\n%s", step.why, d)
		}
		if p := room.beside.parts["team-a"]; p == nil || p.kept > some || p.kept != r.weight || len(r.known) < 5 {
			t.Errorf("%s: %+v of %d for %d", step.why, p, some, len(r.known))
		}
	}
	r.close()
	r.put(1, Interface{Place: Place{ID: 1}})
	if len(room.beside.parts) != 0 || room.beside.kept != 0 || room.kept != 0 {
		t.Errorf("afterwards: %+v", room.beside)
	}
}

// numbered are the interfaces that a call asks for by their numbers.
func numbered(k call, name string) (found []Interface, err error) {
	for _, id := range k.query["id"] {
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil {
			return nil, err
		}
		found = append(found, Interface{Place: Place{Kind: Device, ID: n, Holder: 1, Name: name}})
	}
	return found, nil
}

// upTo are the numbers of the records that are asked for: 1 to last.
func upTo(last int64) func() []int64 {
	return func() (all []int64) {
		for n := range last {
			all = append(all, n+1)
		}
		return all
	}
}

// TestRosterTooLarge: interfaces whose answer is larger than one may be, as trunks with many VLANs, are read fewer at a time, the one that's asked
// about always.
func TestRosterTooLarge(t *testing.T) {
	const all = 300
	for name, tc := range map[string]struct {
		reason string
		most   int
		want   []int
		err    bool
	}{
		"Some": {"an eighth fits", 40, []int{all, 37}, false},
		"One":  {"one fits", 1, []int{all, 37, 4, 1}, false},
		"None": {"it's told, and ends, where not even one does", 0, []int{all, 37, 4, 1}, true},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Unix(1000, 0)
			r := newRoster[Interface](func() time.Time { return now }, NewRoom(Limits{Each: 8 << 20, All: 8 << 20}).beside.lodge("team-a"), &face{})
			r.unranged = now.Add(time.Hour)
			var asked []int
			read := func(_ context.Context, k call, _ int, _ func(Interface) bool) (found []Interface, whole bool, err error) {
				asked = append(asked, len(k.query["id"]))
				if len(k.query["id"]) > tc.most {
					return nil, false, k.failed(KindUnreachable, "the answer is larger than 4 MiB", errTorn)
				}
				found, err = numbered(k, "")
				return found, true, err
			}
			i, shown, err := r.look(t.Context(), all, time.Minute, upTo(all), call{query: url.Values{}}, read)
			if tc.err != (err != nil) || !tc.err && (!shown || i.ID != all) {
				t.Errorf("%s: %+v, %v, %v", tc.reason, i, shown, err)
			}
			if d := cmp.Diff(tc.want, asked); d != "" {
				t.Errorf("%s: records of a call (-want +got):\n%s", tc.reason, d)
			}
		})
	}
}

// TestManyMACs: an interface has no more of them than one may have, nor longer ones.
func TestManyMACs(t *testing.T) {
	b := `{"id":1,"name":"eth0","device":{"id":2,"name":"d"},"mac_addresses":[{"mac_address":"` + strings.Repeat("x", longestMAC+1) + `"}`
	for n := range 2 * mostMACs {
		b += fmt.Sprintf(`,{"mac_address":"52:54:00:00:00:%02X"}`, n)
	}
	i, err := decodeInterface(Device, []byte(b+"]}"))
	if err != nil || len(i.MACs) != mostMACs-1 || i.MACs[0] != "52:54:00:00:00:00" || i.weight() > 8<<10 {
		t.Errorf("%v, %d of %d bytes, %.1q", err, len(i.MACs), i.weight(), i.MACs)
	}
}
