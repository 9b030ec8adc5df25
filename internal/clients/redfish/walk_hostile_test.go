package redfish

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/inventory"
)

// poisoned is a BMC that answers one path in its own way.
type poisoned struct {
	aBMC

	path   string
	answer func(w http.ResponseWriter)
}

func (p poisoned) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != p.path {
		p.aBMC.ServeHTTP(w, r)

		return
	}
	p.answer(w)
}

// TestHostileInventory: whatever one resource is, the others are read, in bounded time and space.
func TestHostileInventory(t *testing.T) {
	text := func(body string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { _, _ = w.Write([]byte(body)) }
	}
	cases := map[string]struct {
		reason string
		answer func(w http.ResponseWriter)
		// whole says that nothing is missing for it.
		whole bool
	}{
		"GiB": {reason: "An answer of a gigabyte.", answer: func(w http.ResponseWriter) {
			chunk := bytes.Repeat([]byte(" "), 1<<20)
			for range 1 << 10 {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		}},
		"Braces":  {reason: "A million of them.", answer: text(strings.Repeat("[", 1_000_000))},
		"Deep":    {reason: "The same in an object.", answer: text(`{"Members":` + strings.Repeat(`{"a":`, 700_000))},
		"HTML":    {reason: "A page.", answer: text("<html>")},
		"Nothing": {reason: "An empty answer.", answer: text("")},
		"Elsewhere": {reason: "A redirect to somebody else.", answer: func(w http.ResponseWriter) {
			w.Header().Set("Location", "https://evil.example/x")
			w.WriteHeader(http.StatusFound)
		}},
		"Links":   {reason: "Members that lead to somebody else.", answer: text(`{"Members":[{"@odata.id":"https://evil.example/x"},{"@odata.id":"@evil.example"},{"@odata.id":"//evil.example/x"}]}`)},
		"Circle":  {reason: "A collection that holds itself.", answer: text(`{"Members":[{"@odata.id":"/cpus"},{"@odata.id":"/CPUS/"}],"Members@odata.nextLink":"/cpus"}`), whole: true},
		"Numbers": {reason: "Members that are none.", answer: text(`{"Members":[1,null,{},"x",[]],"Members@odata.nextLink":7}`)},
		"Null":    {reason: "BlueField says null.", answer: text(`{"Members":null}`), whole: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := connectTo(t, poisoned{machine(""), "/cpus", tc.answer})
			s, began := theOnly(t, c), time.Now()
			inv, err := c.Inventory(t.Context(), s)
			if err != nil || len(inv.MACs) != 1 || inv.Memory.Bytes != 1<<30 || inv.Partial {
				t.Errorf("\n%s\ngot %+v, %v; want all the rest", tc.reason, inv, err)
			}
			if whole := !slices.Contains(inv.Refused, inventory.PartProcessors); whole != tc.whole {
				t.Errorf("\n%s\nrefused %v", tc.reason, inv.Refused)
			}
			if took := time.Since(began); took > 20*time.Second || inv.Requests > 40 {
				t.Errorf("\n%s\n%d requests in %v", tc.reason, inv.Requests, took)
			}
		})
	}
}
