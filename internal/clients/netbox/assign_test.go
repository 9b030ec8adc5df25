package netbox_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

func started(t *testing.T, h http.Handler) string {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv.URL
}

// eth0 is what the transcripts assign to.
func eth0() netbox.Place {
	return netbox.Place{Kind: netbox.Device, ID: 1, Name: "eth0", Holder: 1, HolderName: "node-1"}
}

func TestFindInterface(t *testing.T) {
	node := &netbox.Holder{Kind: netbox.Device, ID: 1, Name: "node-1"}
	for _, v := range versions() {
		all := transcripts(t, v)
		want := netbox.Interface{Place: eth0(), MACs: []string{"52:54:00:00:00:01"}, Type: "1000base-t"}
		byName := &script{t: t, answers: []transcript{page(string(all["190"].Answer))}}
		i, err := serve(t, byName).FindInterface(t.Context(), node, netbox.InterfaceRef{Name: "eth0"})
		if diff := cmp.Diff(want, i); err != nil || diff != "" {
			t.Errorf("%s: by name: %v (-want +got):\n%s", v, err, diff)
		}
		if q := byName.seen[0].Query; !strings.Contains(q, "device_id=1") || !strings.Contains(q, "name=eth0") {
			t.Errorf("%s: asked ?%s", v, q)
		}
		c, _ := play(t, v, "190", "190", "158", "158", "158")
		if i, err := c.FindInterface(t.Context(), node, netbox.InterfaceRef{ID: 1}); err != nil || !cmp.Equal(want, i) {
			t.Errorf("%s: by number: %+v, %v", v, i, err)
		}
		other := &netbox.Holder{Kind: netbox.Device, ID: 2, Name: "node-2"}
		if _, err := c.FindInterface(t.Context(), other, netbox.InterfaceRef{ID: 1}); !netbox.IsNotFound(err) || !strings.Contains(err.Error(), `on device "node-2"`) {
			t.Errorf("%s: another device's number: %v", v, err)
		}
		mac := netbox.InterfaceRef{MACs: []string{"52-54-00-00-00-01"}}
		if i, err := c.FindInterface(t.Context(), node, mac); err != nil || i.Place != eth0() {
			t.Errorf("%s: by MAC address: %+v, %v", v, i, err)
		}
		if _, err := c.FindInterface(t.Context(), nil, mac); !netbox.IsAmbiguous(err) || !strings.Contains(err.Error(), `interface "eth0" of device "node-2"`) {
			t.Errorf("%s: two devices have it: %v", v, err)
		}
		if _, err := c.FindInterface(t.Context(), &netbox.Holder{Kind: netbox.VirtualMachine, ID: 1}, mac); !netbox.IsNotFound(err) {
			t.Errorf("%s: a device isn't a virtual machine: %v", v, err)
		}
	}
	cases := map[string]struct {
		reason  string
		ref     netbox.InterfaceRef
		objects []string
		want    netbox.Kind
	}{
		"None":      {"a device without that interface", netbox.InterfaceRef{Name: "eno9"}, nil, netbox.KindNotFound},
		"Ignored":   {"a filter that is ignored", netbox.InterfaceRef{Name: "eno9"}, []string{`{"id":1,"name":"eno1","device":{"id":1}}`}, netbox.KindNotFound},
		"Elsewhere": {"that of another device", netbox.InterfaceRef{Name: "eno1"}, []string{`{"id":1,"name":"eno1","device":{"id":2}}`}, netbox.KindNotFound},
		"NoDevice":  {"what isn't an interface", netbox.InterfaceRef{Name: "eno1"}, []string{`{"id":1,"name":"eno1"}`}, netbox.KindUnexpected},
		"LooseMAC":  {"a MAC address that nothing has", netbox.InterfaceRef{MACs: []string{"52:54:00:00:00:01"}}, []string{`{"id":1,"mac_address":"52:54:00:00:00:01","assigned_object_type":null,"assigned_object_id":null,"assigned_object":null}`}, netbox.KindNotFound},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := serve(t, &script{t: t, answers: []transcript{page(tc.objects...)}}).FindInterface(t.Context(), node, tc.ref); netbox.KindOf(err) != tc.want {
				t.Errorf("%s: %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
	c, _ := play(t, "4.6.8")
	if _, err := c.FindInterface(t.Context(), nil, netbox.InterfaceRef{}); !netbox.IsInvalid(err) {
		t.Errorf("no MAC address: %v", err)
	}
	vm := page(`{"id":9,"mac_address":"52:54:00:00:00:09","assigned_object_type":"virtualization.vminterface","assigned_object_id":4,` +
		`"assigned_object":{"id":4,"name":"eth0","virtual_machine":{"id":3,"name":"vm-1"}}}`)
	i, err := serve(t, &script{t: t, answers: []transcript{vm}}).FindInterface(t.Context(), nil, netbox.InterfaceRef{MACs: []string{"52:54:00:00:00:09"}})
	if want := (netbox.Place{Kind: netbox.VirtualMachine, ID: 4, Name: "eth0", Holder: 3, HolderName: "vm-1"}); err != nil || i.Place != want {
		t.Errorf("a virtual machine's: %+v, %v", i, err)
	}
}

// TestManyMACs: a machine has more MAC addresses than a URL has room for. They are asked for in several, and a sentence names the first few.
func TestManyMACs(t *testing.T) {
	node := &netbox.Holder{Kind: netbox.Device, ID: 1, Name: "node-1"}
	none, last := page(), page(`{"id":9,"mac_address":"52:54:00:00:00:7F","assigned_object_type":"dcim.interface","assigned_object_id":4,"assigned_object":{"id":4,"name":"eth4","device":{"id":1,"name":"node-1"}}}`)
	for name, tc := range map[string]struct {
		reason string
		macs   int
		// answers are to as many requests, the last one with the interface where found is set.
		answers int
		found   bool
		says    string
	}{
		"Few":     {"all are named", 3, 1, false, `"52:54:00:00:00:00, 52:54:00:00:00:01, 52:54:00:00:00:02"`},
		"More":    {"the first are", 5, 1, false, `"52:54:00:00:00:00, 52:54:00:00:00:01, 52:54:00:00:00:02 and 2 more"`},
		"Many":    {"none of them is there", 128, 2, false, "and 125 more"},
		"ManyOne": {"the last one of them is", 128, 2, true, ""},
		"Most":    {"and so on", 256, 4, false, "and 253 more"},
	} {
		t.Run(name, func(t *testing.T) {
			var macs []string
			for i := range tc.macs {
				macs = append(macs, fmt.Sprintf("52:54:00:00:00:%02x", i))
			}
			s := &script{t: t, answers: slices.Repeat([]transcript{none}, tc.answers)}
			if tc.found {
				s.answers[tc.answers-1] = last
			}
			i, err := serve(t, s).FindInterface(t.Context(), node, netbox.InterfaceRef{MACs: macs})
			if (err == nil) != tc.found || i.ID != 0 != tc.found || err != nil && (!netbox.IsNotFound(err) || !strings.Contains(err.Error(), tc.says)) {
				t.Errorf("%s: %+v, %v, want %q", tc.reason, i, err, tc.says)
			}
			var asked []string
			for _, r := range s.seen {
				q, _ := url.ParseQuery(r.Query)
				asked = append(asked, q["mac_address"]...)
				if len(r.Query) > 4000 {
					t.Errorf("%s: a query of %d bytes", tc.reason, len(r.Query))
				}
			}
			if diff := cmp.Diff(macs, asked); diff != "" || len(s.seen) != tc.answers {
				t.Errorf("%s: asked for in %d requests (-want +got):\n%s", tc.reason, len(s.seen), diff)
			}
		})
	}
}

// TestAssign moves an address, as the transcripts have it: within a device always, away or elsewhere only when it's in no seat.
func TestAssign(t *testing.T) {
	for _, v := range versions() {
		all := transcripts(t, v)
		id := number(t, all["570"])
		ip := netbox.IPAddress{ID: id, ETag: "W/x"}
		c, s := play(t, v, "570", "574", "575", "576")
		there := eth0()
		got, err := c.Patch(t.Context(), ip, netbox.Patch{Assigned: &there})
		if err != nil || !got.Assigned.Same(&there) || *got.Assigned != there {
			t.Errorf("%s: assigned: %+v, %v", v, got.Assigned, err)
		}
		if diff := cmp.Diff(map[string]any{"assigned_object_type": "dcim.interface", "assigned_object_id": 1.0}, s.seen[0].Body); diff != "" {
			t.Errorf("%s: both halves (-want +got):\n%s", v, diff)
		}
		if _, err := c.Patch(t.Context(), ip, netbox.Patch{Assigned: &netbox.Place{}}); !netbox.IsMarkerTaken(err) {
			t.Errorf("%s: a primary can't be unassigned: %v", v, err)
		}
		if diff := cmp.Diff(map[string]any{"assigned_object_type": nil, "assigned_object_id": nil}, s.seen[1].Body); diff != "" {
			t.Errorf("%s: unassigned (-want +got):\n%s", v, diff)
		}
		if got, err := c.Patch(t.Context(), ip, netbox.Patch{Assigned: &netbox.Place{Kind: netbox.Device, ID: 2}}); err != nil || got.Assigned.ID != 2 {
			t.Errorf("%s: within the device: %+v, %v", v, got.Assigned, err)
		}
		if _, err := c.Patch(t.Context(), ip, netbox.Patch{Assigned: &netbox.Place{Kind: netbox.Device, ID: 3}}); !netbox.IsMarkerTaken(err) {
			t.Errorf("%s: a primary can't move elsewhere: %v", v, err)
		}
	}
	c, s := play(t, "4.6.8", "330")
	if _, err := c.Allocate(t.Context(), prefix("10.42.0.0/24"), netbox.Request{
		Marker: "cluster-a/ns/node-1", Comments: "c", Assigned: &netbox.Place{Kind: netbox.VirtualMachine, ID: 4},
	}); err != nil {
		t.Fatal(err)
	}
	if b := s.seen[0].Body; b["assigned_object_type"] != "virtualization.vminterface" || b["assigned_object_id"] != 4.0 || b["comments"] != "c" {
		t.Errorf("in the same POST: %v", b)
	}
	group := made(200, `{"id":5,"address":"10.0.0.1/24","assigned_object_type":"ipam.fhrpgroup","assigned_object_id":8,"assigned_object":{"id":8,"display":"VRRP 8"}}`)
	ip, err := serve(t, &script{t: t, answers: []transcript{group}}).Get(t.Context(), 5)
	if err != nil || ip.Assigned == nil || ip.Assigned.Kind != "" || !strings.Contains(ip.Assigned.String(), "neither") {
		t.Errorf("what is no interface: %+v, %v", ip.Assigned, err)
	}
}

// TestPatchLooksFirst: before 4.6, and where a record is known from a list, a change in between is seen by reading once more.
func TestPatchLooksFirst(t *testing.T) {
	text := "changed"
	for _, v := range versions() {
		all := transcripts(t, v)
		known, _ := play(t, v, "520")
		ip, err := known.Get(t.Context(), number(t, all["520"]))
		if err != nil {
			t.Fatal(err)
		}
		ip.ETag = "" // As from a list.
		c, s := play(t, v, "520", "530")
		if _, err := c.Patch(t.Context(), ip, netbox.Patch{Description: &text}); err != nil {
			t.Errorf("%s: as it was: %v", v, err)
		}
		if got, want := s.seen[1].Header.Get("If-Match"), all["520"].AnswerHeaders["ETag"]; got != want {
			t.Errorf("%s: If-Match %q, want %q", v, got, want)
		}
		ip.LastUpdated = "2026-01-01T00:00:00Z"
		c, s = play(t, v, "520")
		if _, err := c.Patch(t.Context(), ip, netbox.Patch{Description: &text}); !netbox.IsConflict(err) || len(s.seen) != 1 {
			t.Errorf("%s: changed in between: %v, %v", v, err, s.requests())
		}
	}
}
