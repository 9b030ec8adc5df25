package redfish

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/inventory"
)

const expands = `{"Systems":{"@odata.id":"/redfish/v1/Systems"},"ProtocolFeaturesSupported":{"ExpandQuery":{"NoLinks":true}}}`

// saying is a BMC that answers with a text where its memory is to be expanded, and can expand nothing else.
type saying struct {
	aBMC

	text string
}

func (s saying) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.RawQuery != "$expand=.":
		s.aBMC.ServeHTTP(w, r)

		return
	case r.URL.Path != "/dimms":
		w.WriteHeader(http.StatusNotImplemented)

		return
	}
	_, _ = io.WriteString(w, s.text)
}

// dimms is a machine with so many memory modules, whose BMC says what its root says.
func dimms(root string, n int) aBMC {
	b := machine("").with("/redfish/v1/", root, http.StatusOK)
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf(`{"@odata.id":"/dimms/%d"}`, i))
		b.with(fmt.Sprintf("/dimms/%d", i), dimm(i), http.StatusOK)
	}

	return b.with("/dimms", `{"Members":[`+strings.Join(list, ",")+`]}`, http.StatusOK)
}

func dimm(i int) string {
	return fmt.Sprintf(`{"@odata.id":"/dimms/%d","Id":"%d","CapacityMiB":1024,"Manufacturer":"M"}`, i, i)
}

// TestExpandedNonsense: whatever a BMC makes of an expanded collection, what is read is what the collection lists, and nothing panics.
func TestExpandedNonsense(t *testing.T) {
	plain := connectTo(t, dimms(emptyRoot, 5))
	want, err := plain.Inventory(t.Context(), theOnly(t, plain))
	if err != nil || want.Memory.Bytes != 5<<30 {
		t.Fatalf("one by one: %+v, %v", want.Memory, err)
	}
	cases := map[string]struct{ reason, text string }{
		"Empty":     {reason: "Members that are nothing.", text: `{"Members":[{},{},{},{},{}]}`},
		"Strings":   {reason: "Members that are no objects.", text: `{"Members":["/dimms/0","/dimms/1","/dimms/2"]}`},
		"Nulls":     {reason: "The same.", text: `{"Members":[null,null,null]}`},
		"Numbers":   {reason: "A place that is none.", text: `{"Members":[{"@odata.id":7,"Id":"1"},{"@odata.id":null,"Id":"2"},{"@odata.id":[],"Id":"3"}]}`},
		"Mixed":     {reason: "One of them can't be found: none is left out.", text: `{"Members":[` + dimm(0) + `,{"Id":"1","CapacityMiB":1024},` + dimm(2) + `,` + dimm(3) + `,` + dimm(4) + `]}`},
		"First":     {reason: "The first one can't be found.", text: `{"Members":[{},` + dimm(1) + `,` + dimm(2) + `,` + dimm(3) + `,` + dimm(4) + `]}`},
		"Pages":     {reason: "There's more of it elsewhere.", text: `{"Members":[` + dimm(0) + `,` + dimm(1) + `,` + dimm(2) + `],"Members@odata.nextLink":"/dimms?$skip=3"}`},
		"None":      {reason: "It has members, but not when it's expanded.", text: `{"Members":[]}`},
		"NoList":    {reason: "No list at all.", text: `{"Members":null}`},
		"NotThere":  {reason: "No members.", text: `{}`},
		"HTML":      {reason: "A page.", text: `<html>`},
		"Nothing":   {reason: "No answer.", text: ``},
		"List":      {reason: "Something else.", text: `[{},{},{}]`},
		"AllTheOne": {reason: "Several times the same one.", text: `{"Members":[` + strings.Join(slices.Repeat([]string{dimm(0)}, 5), ",") + `]}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := connectTo(t, saying{dimms(expands, 5), tc.text})
			got, err := c.Inventory(t.Context(), theOnly(t, c))
			if err != nil {
				t.Fatal(err)
			}
			if name == "AllTheOne" { // It's believed, but there's one of it.
				if got.Memory.Bytes != 1<<30 {
					t.Errorf("\n%s\n%+v", tc.reason, got.Memory)
				}

				return
			}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Inventory{}, "Requests")); diff != "" {
				t.Errorf("\n%s\n-one by one, +expanded:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFirstOfExpanded: a first member that can't be read costs no other one.
func TestFirstOfExpanded(t *testing.T) {
	all := `{"Members":[` + dimm(0) + `,` + dimm(1) + `,` + dimm(2) + `,` + dimm(3) + `]}`
	cases := map[string]struct {
		reason  string
		body    string
		status  int
		want    int64
		refused bool
	}{
		"Broken":   {reason: "One that can't be understood is missing.", body: `{"Id":`, status: http.StatusOK, want: 3, refused: true},
		"Dangling": {reason: "A link to nothing is normal.", status: http.StatusNotFound, want: 3},
		"Refused":  {reason: "One that can't be shown is missing.", status: http.StatusInternalServerError, want: 3, refused: true},
		"Away":     {reason: "One that isn't answered, twice in a row: it's said that the part is missing.", status: http.StatusServiceUnavailable, refused: true},
		"Nonsense": {reason: "One that is something else shows nothing.", body: `"x"`, status: http.StatusOK, want: 3},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := connectTo(t, saying{dimms(expands, 4).with("/dimms/0", tc.body, tc.status), all})
			w := NewWalk(theOnly(t, c), nil)
			if _, stuck := turns(t, c, w); stuck {
				t.Fatal("the walk got stuck")
			}
			got := w.Inventory()
			if got.Memory.Bytes != tc.want<<30 || slices.Contains(got.Refused, inventory.PartMemory) != tc.refused {
				t.Errorf("\n%s\n%+v, refused %v; want %d GiB, refused %v", tc.reason, got.Memory, got.Refused, tc.want, tc.refused)
			}
		})
	}
}

// TestExpandedTwice: what two chassis list is read once, in whatever order they list it.
func TestExpandedTwice(t *testing.T) {
	device := func(i int) string {
		return fmt.Sprintf(`{"@odata.id":"/devices/%d","Id":"%d","Model":"D%d","DeviceType":"SingleFunction"}`, i, i, i)
	}
	list := func(of ...int) string {
		var devices []string
		for _, i := range of {
			devices = append(devices, device(i))
		}

		return `{"Members":[` + strings.Join(devices, ",") + `]}`
	}
	bmc := func(root string) aBMC {
		b := machine(`,"Links":{"Chassis":[{"@odata.id":"/a"},{"@odata.id":"/b"}]}`).with("/redfish/v1/", root, http.StatusOK).
			with("/a", `{"PCIeDevices":{"@odata.id":"/a/devices"}}`, http.StatusOK).with("/b", `{"PCIeDevices":{"@odata.id":"/b/devices"}}`, http.StatusOK).
			with("/a/devices", list(1, 2, 3), http.StatusOK).with("/b/devices", list(1, 4, 3, 5), http.StatusOK)
		for i := 1; i <= 5; i++ {
			b.with(fmt.Sprintf("/devices/%d", i), device(i), http.StatusOK)
		}

		return b
	}
	read := func(root string) Inventory {
		t.Helper()
		c := connectTo(t, bmc(root))
		inv, err := c.Inventory(t.Context(), theOnly(t, c))
		if err != nil {
			t.Fatal(err)
		}

		return inv
	}
	want := read(emptyRoot)
	if diff := cmp.Diff(want, read(expands), cmpopts.IgnoreFields(Inventory{}, "Requests")); diff != "" || len(want.PCIe) != 5 {
		t.Errorf("%d devices; -one by one, +expanded:\n%s", len(want.PCIe), diff)
	}
}

// FuzzExpanded holds, of whatever a BMC sends for an expanded collection and for its first member, that nothing panics and each member is taken once.
func FuzzExpanded(f *testing.F) {
	for _, body := range []string{
		`{"Members":[{},{},{}]}`, `{"Members":["a",null,[1]]}`, `{"Members":null}`, `[]`, ``, `{"Members":{"@odata.id":"/a"}}`,
		`{"Members":[{"@odata.id":"/a","Id":"a"},{},{"@odata.id":"/a/","Id":"b"},{"@odata.id":7,"Id":"c"}]}`,
		`{"Members":[{"@odata.id":"/a","Id":"a"},{"@odata.id":"/b","Id":"b"},{"@odata.id":"/c","Id":"c"}]}`,
	} {
		f.Add([]byte(body), []byte(`{"Id":"a","More":1}`))
		f.Add([]byte(body), []byte(`"x"`))
	}
	f.Fuzz(func(t *testing.T, body, first []byte) {
		w, taken := &Walk{expands: true, seen: map[string]bool{}}, map[string]bool{}
		h := takeAs(func(_ *Walk, uri string, _ struct{ Model text }) {
			if key := strings.ToLower(strings.TrimRight(uri, "/")); taken[key] {
				t.Errorf("%q is taken twice", uri)
			} else {
				taken[key] = true
			}
		})
		w.now(w.manyOf("/list", inventory.PartMemory, h))
		for answers := [][]byte{body, first}; len(w.tasks) > 0; {
			next := w.tasks[0]
			w.tasks = w.tasks[1:]
			if len(answers) == 0 {
				w.missed(next, &Error{Kind: NotFound})

				continue
			}
			w.got(next, answer{body: answers[0]}, remembered{})
			answers = answers[1:]
		}
		w.Inventory()
	})
}
