package redfish

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
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
			survived(t, "in the middle of an inventory: "+strings.ToLower(tc.reason[:1])+strings.TrimSuffix(tc.reason[1:], "."))
		})
	}
}

// sameTag is a BMC that has one ETag for everything, as factory-fresh ones of one kind may.
type sameTag struct {
	aBMC

	mu sync.Mutex
}

func (b *sameTag) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.Header.Get("If-None-Match") != "" {
		w.WriteHeader(http.StatusNotModified)

		return
	}
	w.Header().Set("ETag", `"1"`)
	b.aBMC.ServeHTTP(w, r)
}

// TestStrangerInAWalk: an inventory is never another machine's, though its BMC has the address, and the ETags, of the one that was looked at.
func TestStrangerInAWalk(t *testing.T) {
	const a, b = "00000000-0000-0000-0000-0000000000aa", "00000000-0000-0000-0000-0000000000bb"
	named := func(serial, uuid string) string { return `,"SerialNumber":"` + serial + `","UUID":"` + uuid + `"` }
	cases := map[string]struct {
		reason   string
		was, is  string
		stranger bool
	}{
		"Same":   {reason: "Nothing has changed.", was: named("S", a), is: named("S", a)},
		"Serial": {reason: "Another serial.", was: named("S", a), is: named("T", a), stranger: true},
		"UUID":   {reason: "Another UUID, and no serial.", was: named("", a), is: named("", b), stranger: true},
		"Lent":   {reason: "A UUID that was lent anew.", was: named("S", a), is: named("S", b)},
		"Mute":   {reason: "One that tells nothing just now.", was: named("S", a), is: named("", "")},
		"New":    {reason: "A serial that is told only now.", was: named("", a), is: named("S", a)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			bmc := &sameTag{aBMC: machine(tc.was)}
			c, m := connectTo(t, bmc), &Memory{}
			s := theOnly(t, c)
			if done, err := c.Walk(t.Context(), NewWalk(s, m), 99); !done || err != nil {
				t.Fatalf("Walk(...): %v, %v", done, err)
			}
			bmc.mu.Lock()
			bmc.aBMC = machine(tc.is)
			bmc.mu.Unlock()
			w := NewWalk(s, m)
			done, err := c.Walk(t.Context(), w, 99)
			if stranger := !done && KindOf(err) == Protocol && w.Stuck(err); stranger != tc.stranger {
				t.Errorf("%s\nWalk(...): %v, %v; want a stranger: %t", tc.reason, done, err, tc.stranger)
			}
			if n := w.Inventory().Requests; tc.stranger && n != 1 {
				t.Errorf("%s\n%d requests, want the System's alone", tc.reason, n)
			}
		})
	}
}

// TestWalkYields: an inventory goes on when somebody who waited for the BMC is done, and a resource that takes long keeps nobody for ever.
func TestWalkYields(t *testing.T) {
	hang := make(chan struct{})
	defer close(hang)
	c := connectTo(t, poisoned{machine(""), "/cpus/1", func(http.ResponseWriter) { <-hang }})
	w, waits := NewWalk(theOnly(t, c), nil), false
	turn := func(impatient bool) (bool, error) {
		yield, now := context.WithCancel(t.Context())
		defer now()
		if impatient {
			time.AfterFunc(50*time.Millisecond, now)
		}

		return c.Walk(WithPatience(t.Context(), &Patience{Yield: yield, Wanted: func() bool { return waits || yield.Err() != nil }}), w, 99)
	}
	waits = true
	if done, err := turn(false); done || err != nil || w.Inventory().Requests != 0 {
		t.Fatalf("Walk(...) while somebody waits: %v, %v after %d requests", done, err, w.Inventory().Requests)
	}
	waits = false
	broken := 0
	for done := false; !done; {
		var err error
		if done, err = turn(true); err == nil {
			continue
		}
		if w.Stuck(err) || broken > maxYields {
			t.Fatalf("Walk(...): %v; want what was broken off, and to go on", err)
		}
		broken++
	}
	if inv := w.Inventory(); broken != maxYields+1 || !slices.Equal(inv.Refused, []string{inventory.PartProcessors}) || inv.Memory.Bytes == 0 || len(inv.MACs) != 1 || inv.Partial {
		t.Errorf("broken off %d times: %+v; want %d, and all but a processor", broken, inv, maxYields+1)
	}
}
