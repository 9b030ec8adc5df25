package netbox_test

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// lagged is a NetBox of devices whose address is on a VLAN of a LAG of two ports: parts have numbers from 1 on, LAGs 1,000 more, and ports 2,000 and
// 3,000 more. Those of gone aren't there, and their numbers are refused, as those of a relation are.
type lagged struct {
	lags int
	deaf bool

	mu    sync.Mutex
	asked []string
	gone  map[int]bool
}

func (n *lagged) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	q := r.URL.Query()
	w.Header().Set("Content-Type", "application/json")
	var out []string
	port := func(id, lag int) string {
		return fmt.Sprintf(`{"id":%d,"name":"eno%d","device":{"id":%d},"type":{"value":"1000base-t"},"lag":{"id":%d},"mac_address":"52:54:00:00:00:02","mac_addresses":[{"mac_address":"52:54:00:00:00:01"},{"mac_address":"52:54:00:00:00:02"}]}`, id, id/1000-1, lag-1000, lag)
	}
	switch {
	case strings.HasSuffix(r.URL.Path, "/ip-addresses/"):
		for i := 1; i <= n.lags; i++ {
			out = append(out, fmt.Sprintf(`{"id":%d,"address":"10.0.0.1/16","custom_fields":{"claim":"c1/ns/a-%d/u"},"assigned_object_type":"dcim.interface",`+
				`"assigned_object_id":%d,"assigned_object":{"id":%d,"name":"bond0.7","device":{"id":%d,"name":"d"}}}`, i, i, i, i, i))
		}
	case q.Has("lag_id"):
		n.asked = append(n.asked, "lags "+strconv.Itoa(len(q["lag_id"])))
		for i := 1; i <= n.lags; i++ {
			switch {
			case !has(q["lag_id"], i+1000) && !n.deaf:
			case n.gone[i]:
				w.WriteHeader(http.StatusBadRequest)
				_, _ = w.Write([]byte(`{"lag_id":["Select a valid choice."]}`))
				return
			default:
				out = append(out, port(i+3000, i+1000), port(i+2000, i+1000))
			}
		}
	default:
		from, _ := strconv.Atoi(q.Get("id__gte"))
		to, _ := strconv.Atoi(q.Get("id__lte"))
		words := fmt.Sprintf("%d-%d", from, to)
		if len(q["id"]) > 0 {
			words = strconv.Itoa(len(q["id"]))
		}
		n.asked = append(n.asked, words)
		wanted := func(id int) bool { return has(q["id"], id) || len(q["id"]) == 0 && id >= from && id <= to }
		for i := 1; i <= n.lags; i++ {
			if wanted(i) {
				out = append(out, fmt.Sprintf(`{"id":%d,"name":"bond0.7","device":{"id":%d},"type":"virtual","mode":{"value":"access"},"untagged_vlan":{"id":3,"vid":7},"tagged_vlans":[{"id":9,"vid":30},{"vid":20},{"vid":"x"},4],"parent":{"id":%d}}`, i, i, i+1000))
			}
			if wanted(i + 1000) {
				out = append(out, fmt.Sprintf(`{"id":%d,"name":"bond0","device":{"id":%d},"type":{"value":"lag","label":"x"},"mtu":9000,"lag":null}`, i+1000, i))
			}
		}
	}
	_, _ = fmt.Fprintf(w, `{"count":%d,"next":null,"previous":null,"results":[%s]}`, len(out), strings.Join(out, ","))
}

// sees has all that an address's network is made of read, as the controller does, and says what is wrong with it.
func sees(t *testing.T, c *netbox.Client, n *lagged, i int, age time.Duration) string {
	t.Helper()
	part, ok, err := c.SeenInterface(t.Context(), netbox.Device, int64(i), age)
	if err != nil || !ok || part.Parent != int64(i+1000) || part.Untagged != 7 || part.Mode != netbox.ModeAccess || !slices.Equal(part.Tagged, []int{20, 30}) {
		return fmt.Sprintf("part %+v, %v, %v", part, ok, err)
	}
	lag, ok, err := c.SeenInterface(t.Context(), netbox.Device, part.Parent, age)
	if err != nil || !ok || lag.Type != netbox.TypeLAG || lag.MTU != 9000 {
		return fmt.Sprintf("LAG %+v, %v, %v", lag, ok, err)
	}
	ports, err := c.SeenMembers(t.Context(), lag.ID, age)
	if n.gone[i] && err == nil && len(ports) == 0 {
		return ""
	}
	if err != nil || len(ports) != 2 || ports[0].Name != "eno1" || ports[1].Name != "eno2" || !slices.Equal(ports[0].MACs, []string{"52:54:00:00:00:02", "52:54:00:00:00:01"}) {
		return fmt.Sprintf("ports %+v, %v", ports, err)
	}
	return ""
}

// TestSeenMembers: what 400 machines' networks are made of costs a page for their parts, one for their LAGs, and one for the ports of 300; and again in
// half an hour. One that's gone keeps nobody else from being seen.
func TestSeenMembers(t *testing.T) {
	const age = time.Minute
	n := &lagged{lags: 400, gone: map[int]bool{}}
	now := time.Now()
	c := serveMarked(t, n, func() time.Time { return now })
	all := []string{"1-1000", "1001-2000", "lags 300", "lags 100"}
	steps := []struct {
		reason string
		after  time.Duration
		happen func()
		want   []string
	}{
		{"all are read together,", 0, func() {}, all},
		{"which is good for long;", 20 * time.Minute, func() {}, nil},
		{"then they are read again;", 11 * time.Minute, func() {}, all},
		{"where one is refused, this one is asked for alone, and the others together", 31 * time.Minute, func() { n.gone[1] = true }, []string{
			"1-1000", "1001-2000", "lags 300", "lags 1", "lags 300", "lags 99",
		}},
	}
	for _, step := range steps {
		now = now.Add(step.after)
		step.happen()
		if _, _, err := c.Seen(t.Context(), 1, age); err != nil {
			t.Fatal(err)
		}
		n.asked = nil
		for i := 1; i <= n.lags; i++ {
			if why := sees(t, c, n, i, age); why != "" {
				t.Fatalf("%s: %d: %s", step.reason, i, why)
			}
		}
		if diff := cmp.Diff(step.want, n.asked); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.reason, diff)
		}
	}
	n.asked = nil
	if _, err := c.SeenMembers(t.Context(), 1002, 0); err != nil || !slices.Equal(n.asked, []string{"lags 1"}) {
		t.Errorf("who wants it now reads it now, and alone: %q, %v", n.asked, err)
	}
	n.deaf, n.gone = true, nil
	if ports, err := c.SeenMembers(t.Context(), 1002, 0); netbox.KindOf(err) != netbox.KindUnexpected {
		t.Errorf("a NetBox that doesn't filter by the LAG shows others' ports: %d, %v", len(ports), err)
	}
}
