package netbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecodeIPAddressIsLenient(t *testing.T) {
	same := cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })
	base := IPAddress{ID: 7, Address: netip.MustParsePrefix("10.0.0.1/24")}
	with := func(f func(*IPAddress)) IPAddress { ip := base; f(&ip); return ip }
	cases := map[string]struct {
		reason, in string
		want       IPAddress
		bad        bool
	}{
		"Least":       {"id and address are enough", `{"id":7,"address":"10.0.0.1/24"}`, base, false},
		"Nulls":       {"nulls for texts", `{"id":7,"address":"10.0.0.1/24","vrf":null,"role":null,"dns_name":null,"tags":null,"custom_fields":null}`, base, false},
		"OddTypes":    {"anything for anything", `{"id":"7","address":"10.0.0.1/24","tags":"x","custom_fields":[],"description":5,"tenant":[]}`, base, false},
		"PlainStatus": {"a status as a text", `{"id":7,"address":"10.0.0.1/24","status":"dhcp"}`, with(func(i *IPAddress) { i.Status = "dhcp" }), false},
		"NewStatus":   {"a status that go-netbox doesn't know", `{"id":7,"address":"10.0.0.1/24","status":{"value":"beamed","label":"Gebeamt"}}`, with(func(i *IPAddress) { i.Status = "beamed" }), false},
		"BareVRF":     {"a VRF as a number", `{"id":7,"address":"10.0.0.1/24","vrf":3}`, with(func(i *IPAddress) { i.VRF = &VRF{ID: 3} }), false},
		"ObjectMark":  {"a marker that isn't a text is no marker", `{"id":7,"address":"10.0.0.1/24","custom_fields":{"m":{"value":"x"}}}`, with(func(i *IPAddress) { i.CustomFields = map[string]any{"m": map[string]any{"value": "x"}} }), false},
		"Page":        {"a person opens its page", `{"id":7,"address":"10.0.0.1/24","url":"https://n/sub/api/ipam/ip-addresses/7/","display_url":"https://n/sub/ipam/ip-addresses/7/"}`, with(func(i *IPAddress) { i.URL = "https://n/sub/ipam/ip-addresses/7/" }), false},
		"NoPage":      {"also where it isn't said", `{"id":7,"address":"10.0.0.1/24","url":"https://n/sub/api/ipam/ip-addresses/7/"}`, with(func(i *IPAddress) { i.URL = "https://n/sub/ipam/ip-addresses/7/" }), false},
		"IPv6":        {"IPv6", `{"id":7,"address":"2001:db8::1/64"}`, with(func(i *IPAddress) { i.Address = netip.MustParsePrefix("2001:db8::1/64") }), false},
		"NoID":        {"no identity", `{"address":"10.0.0.1/24"}`, IPAddress{}, true},
		"NegativeID":  {"no identity", `{"id":-7,"address":"10.0.0.1/24"}`, IPAddress{}, true},
		"NoAddress":   {"nothing to give out", `{"id":7}`, IPAddress{}, true},
		"NoMask":      {"no mask", `{"id":7,"address":"10.0.0.1"}`, IPAddress{}, true},
		"List":        {"a list", `[]`, IPAddress{}, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := decodeIPAddress([]byte(tc.in))
			if (err != nil) != tc.bad {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got, same); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if got.Marker("m") != "" {
				t.Errorf("%s: marker %q", tc.reason, got.Marker("m"))
			}
		})
	}
}

// TestDecodeDense: lists and objects that would take twenty times their text stay that, beyond what any custom field has.
func TestDecodeDense(t *testing.T) {
	record := func(fields string) []byte {
		return []byte(`{"id":7,"address":"10.0.0.1/24","custom_fields":{` + fields + `}}`)
	}
	dense := "[" + strings.Repeat("[],", mostNested/3) + "[]]"
	ip, err := decodeIPAddress(record(`"m":"c1/x","small":[{"a":1}],"dense":` + dense + `,"none":null,"late":[1]`))
	want := map[string]any{"m": "c1/x", "small": []any{map[string]any{"a": 1.0}}, "dense": Undecoded(dense), "none": nil, "late": Undecoded("[1]")} // No place is left for the last.
	if diff := cmp.Diff(want, ip.CustomFields); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%.2000s", err, diff)
	}
	if w := ip.weight(); w > 2*int64(len(dense)) {
		t.Errorf("%d bytes of text weigh %d", len(dense), w)
	}
	var many strings.Builder
	for i := range mostFields + 1 {
		fmt.Fprintf(&many, `"f%d":1,`, i)
	}
	if _, err := decodeIPAddress(record(many.String() + `"m":"c1/x"`)); err == nil {
		t.Error("of more fields than any record has the marker may be left out, so it isn't a record")
	}
	if _, err := decodeIPAddress([]byte(`{"id":7,"address":"10.0.0.1/24","tags":[` + strings.Repeat("1,", mostTags) + `1]}`)); err == nil {
		t.Error("of more tags than any record has some would be lost where one is added")
	}
}

func TestParseVersion(t *testing.T) {
	cases := map[string]struct {
		in   string
		want Version
		ok   bool
	}{
		"Plain":  {"4.6.8", Version{4, 6, 8, "4.6.8"}, true},
		"Beta":   {"4.7.0-beta1", Version{4, 7, 0, "4.7.0-beta1"}, true},
		"Docker": {"4.4.10-Docker-3.3.0", Version{4, 4, 10, "4.4.10-Docker-3.3.0"}, true},
		"Short":  {"4.2", Version{4, 2, 0, "4.2"}, true},
		"Empty":  {"", Version{}, false},
		"Words":  {"four.two", Version{}, false},
		"HTML":   {"4.2-<b>", Version{}, false},
		"Long":   {"4.2.1-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", Version{}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := parseVersion(tc.in)
			if got != tc.want || (err == nil) != tc.ok {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
	v := Version{Major: 4, Minor: 5, Patch: 9}
	if !v.AtLeast(4, 5, 9) || !v.AtLeast(4, 4, 10) || v.AtLeast(4, 5, 10) || v.AtLeast(5, 0, 0) || !v.AtLeast(3, 9, 9) {
		t.Error("versions compare by number, not by text")
	}
}

// seed gives a fuzzer every recorded answer of every version.
func seed(f *testing.F) {
	f.Helper()
	names, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(names) == 0 {
		f.Fatalf("no recordings: %v", err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for line := range bytes.Lines(b) {
			var tr struct {
				Answer json.RawMessage `json:"answer"`
			}
			if json.Unmarshal(line, &tr) == nil {
				f.Add([]byte(tr.Answer))
			}
		}
	}
}

func FuzzDecodeIPAddress(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		ip, err := decodeIPAddress(b)
		if err == nil && (ip.ID <= 0 || !ip.Address.IsValid()) {
			t.Errorf("accepted %q without identity", b)
		}
	})
}

func FuzzDecodePage(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := decodePage(b, decodePrefix)
		for _, i := range p.Items {
			if err == nil && (i.ID <= 0 || !i.Prefix.IsValid()) {
				t.Errorf("accepted %q without identity", b)
			}
		}
		_, _ = decodePage(b, decodeCustomField)
		_, _ = decodePage(b, decodeVRF)
	})
}

func FuzzDecodeStatus(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		if v, err := decodeStatus(b); err == nil && (v.Full == "" || len(v.Full) > 32) {
			t.Errorf("accepted %q", b)
		}
	})
}

func FuzzRefusedFields(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		if got := refusedFields(b); len(got) > len(sentFields()) {
			t.Errorf("%q: %v", b, got)
		}
	})
}
