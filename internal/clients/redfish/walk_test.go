package redfish

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/inventory"
)

// counted is a BMC that notes what it is asked.
type counted struct {
	next http.Handler

	mu    sync.Mutex
	asked []string
}

func (c *counted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	c.asked = append(c.asked, r.URL.Path)
	c.mu.Unlock()
	c.next.ServeHTTP(w, r)
}

func (c *counted) was(path string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()

	return slices.Contains(c.asked, path)
}

const walked = "/redfish/v1/Systems/1"

// machine is a small machine whose System has more than that as well.
func machine(more string) aBMC {
	return aBMC{
		"GET /redfish/v1/":        {body: emptyRoot},
		"GET /redfish/v1/Systems": {body: `{"Members":[{"@odata.id":"` + walked + `"}]}`},
		"GET " + walked: {body: `{"Id":"1","EthernetInterfaces":{"@odata.id":"/nics"},"Processors":{"@odata.id":"/cpus"},"Memory":{"@odata.id":"/dimms"},
			"Actions":{"#ComputerSystem.Reset":{"target":"/r"}}` + more + `}`},
		"GET /nics":    {body: `{"Members":[{"@odata.id":"/nics/1"}]}`},
		"GET /nics/1":  {body: `{"Id":"1","MACAddress":"70:B5:E8:00:00:01"}`},
		"GET /cpus":    {body: `{"Members":[{"@odata.id":"/cpus/1"},{"@odata.id":"/cpus/2"}]}`},
		"GET /cpus/1":  {body: `{"Model":"Xeon"}`},
		"GET /cpus/2":  {body: `{"Model":"Xeon"}`},
		"GET /dimms":   {body: `{"Members":[{"@odata.id":"/dimms/1"}]}`},
		"GET /dimms/1": {body: `{"CapacityMiB":1024}`},
	}
}

// with adds an answer.
func (b aBMC) with(path, body string, status int) aBMC {
	a := b["GET "+path]
	a.status, a.body = status, body
	b["GET "+path] = a

	return b
}

// theOnly is the System of a BMC that has one.
func theOnly(t *testing.T, c *Client) System {
	t.Helper()
	s, err := c.System(t.Context(), Selector{})
	if err != nil {
		t.Fatalf("System(...): %v", err)
	}

	return s
}

// TestWalkInTurns: an inventory that is read in turns is the one that is read in one go.
func TestWalkInTurns(t *testing.T) {
	c := connectTo(t, machine(""))
	s := theOnly(t, c)
	whole, err := c.Inventory(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	w, turns := NewWalk(s, nil), 1
	for ; ; turns++ {
		done, err := c.Walk(t.Context(), w, 2)
		if err != nil {
			t.Fatal(err)
		}
		if done {
			break
		}
		if inv := w.Inventory(); w.Addresses() && len(inv.MACs) != 1 {
			t.Errorf("addresses are said to be known: %v after %d requests", inv.MACs, inv.Requests)
		}
	}
	if !w.Addresses() {
		t.Error("addresses aren't known in the end")
	}
	if diff := cmp.Diff(whole, w.Inventory()); diff != "" {
		t.Errorf("in turns: -one go, +turns:\n%s", diff)
	}
	if whole.Requests < 9 || turns < whole.Requests/2 || len(whole.MACs) != 1 || whole.Processors[0].Count != 2 || whole.Memory.Bytes != 1<<30 {
		t.Errorf("%d requests in %d turns: %+v", whole.Requests, turns, whole)
	}
	if done, err := c.Walk(t.Context(), w, 2); !done || err != nil {
		t.Errorf("Walk(...) of one that is done: %v, %v", done, err)
	}
}

// turns walks to the end, and counts the turns in which nothing was answered.
func turns(t *testing.T, c *Client, w *Walk) (errs int, stuck bool) {
	t.Helper()
	for {
		done, err := c.Walk(t.Context(), w, 99)
		if err != nil {
			errs++
		}
		if done || err != nil && w.Stuck(err) {
			return errs, !done
		}
	}
}

// TestWalkStalls: one resource that isn't answered twice is passed over, several in a row end it.
func TestWalkStalls(t *testing.T) {
	away := http.StatusServiceUnavailable
	c := connectTo(t, machine("").with("/cpus/1", "", away))
	w := NewWalk(theOnly(t, c), nil)
	if errs, stuck := turns(t, c, w); errs != 0 || stuck {
		t.Fatalf("%d turns without any answer, stuck %v; want none: the BMC answers", errs, stuck)
	}
	inv := w.Inventory()
	if inv.Partial || !slices.Equal(inv.Refused, []string{inventory.PartProcessors}) || inv.Processors[0].Count != 1 || inv.Memory.Bytes == 0 {
		t.Errorf("got %+v; want all but one processor", inv)
	}

	c = connectTo(t, machine("").with("/cpus/1", "", away).with("/cpus/2", "", away))
	w = NewWalk(theOnly(t, c), nil)
	if errs, stuck := turns(t, c, w); errs != 1 || !stuck {
		t.Errorf("%d turns without any answer, stuck %v; want the end of it", errs, stuck)
	}
	if unauthorized := (&Error{Kind: Unauthorized}); !NewWalk(System{}, nil).Stuck(unauthorized) {
		t.Error("a refused password ends it at once")
	}
}

// TestWalkAsksWhatHelps: what another resource has told already isn't asked for.
func TestWalkAsksWhatHelps(t *testing.T) {
	const more = `,"SimpleStorage":{"@odata.id":"/simple"},"Storage":{"@odata.id":"/storage"},"Oem":{"Nvidia":{"@odata.id":"/base"}},"NetworkInterfaces":{"@odata.id":"/interfaces"},
		"PCIeDevices":[{"@odata.id":"/devices/1"},{"@odata.id":"/devices/1/"}],"Links":{"Chassis":[{"@odata.id":"/chassis"}]}`
	const chassis = `{"Power":{"@odata.id":"/power"},"PowerSubsystem":{"@odata.id":"/subsystem"},"PCIeDevices":{"@odata.id":"/devices"},"NetworkAdapters":{"@odata.id":"/adapters"}}`
	cases := map[string]struct {
		reason string
		bmc    aBMC
		asked  []string
		spared []string
	}{
		"All": {
			reason: "The first place has it.", asked: []string{"/devices/2"}, spared: []string{"/simple", "/base", "/interfaces", "/subsystem", "/devices/1"},
			bmc: machine(more).with("/chassis", chassis, 200).with("/power", `{"PowerSupplies":[{"Name":"1"}]}`, 200).
				with("/storage", `{"Members":[{"@odata.id":"/storage/1"}]}`, 200).with("/storage/1", `{"Drives":[{"@odata.id":"/drives/1"}]}`, 200).with("/drives/1", `{"Model":"D"}`, 200).
				with("/devices", `{"Members":[{"@odata.id":"/devices/2"}]}`, 200).with("/devices/2", `{"Model":"D"}`, 200).
				with("/adapters", `{"Members":[{"@odata.id":"/adapters/1"}]}`, 200).with("/adapters/1", `{"Id":"1"}`, 200),
		},
		"None": {
			reason: "The others are asked.", asked: []string{"/simple", "/base", "/interfaces", "/subsystem", "/devices/1"},
			bmc: machine(more).with("/chassis", chassis, 200).with("/nics", `{"Members":[]}`, 200),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h := &counted{next: tc.bmc}
			c := connectTo(t, h)
			if _, err := c.Inventory(t.Context(), theOnly(t, c)); err != nil {
				t.Fatal(err)
			}
			for _, path := range tc.asked {
				if !h.was(path) {
					t.Errorf("\n%s\n%s wasn't asked for, of %v", tc.reason, path, h.asked)
				}
			}
			for _, path := range tc.spared {
				if h.was(path) {
					t.Errorf("\n%s\n%s was asked for", tc.reason, path)
				}
			}
		})
	}
}

// TestBoards: GPUs of a board are the machine's, unless others could have it too.
func TestBoards(t *testing.T) {
	const gpus = `{"Members":[{"@odata.id":"/gpus/1"},{"@odata.id":"/gpus/2"}]}`
	board := func(b aBMC, members string) aBMC {
		return b.with("/redfish/v1/Systems", members, 200).with("/redfish/v1/Systems/Board", `{"Processors":{"@odata.id":"/gpus"}}`, 200).
			with("/redfish/v1/Systems/2", `{"Id":"2","Actions":{"#ComputerSystem.Reset":{"target":"/r"}}}`, 200).
			with("/gpus", gpus, 200).with("/gpus/1", `{"ProcessorType":"GPU","Model":"GB200"}`, 200).with("/gpus/2", `{"ProcessorType":"CPU","Model":"Grace"}`, 200)
	}
	const one = `{"Members":[{"@odata.id":"/redfish/v1/Systems/1"},{"@odata.id":"/redfish/v1/Systems/Board"}]}`
	const two = `{"Members":[{"@odata.id":"/redfish/v1/Systems/1"},{"@odata.id":"/redfish/v1/Systems/Board"},{"@odata.id":"/redfish/v1/Systems/2"}]}`
	for members, want := range map[string]int{one: 1, two: 0} {
		c := connectTo(t, board(machine(""), members))
		s, err := c.System(t.Context(), Selector{ID: "1"})
		if err != nil {
			t.Fatal(err)
		}
		inv, err := c.Inventory(t.Context(), s)
		if err != nil || len(inv.Accelerators) != want || inv.Processors[0].Count != 2 {
			t.Errorf("%s: accelerators %v, processors %v, %v; want %d of the first", members, inv.Accelerators, inv.Processors, err, want)
		}
	}
}

// TestWalkIsBounded: pages without end, and a machine that is too big to be read.
func TestWalkIsBounded(t *testing.T) {
	endless := connectTo(t, machine("").with("/cpus", `{"Members":[],"Members@odata.nextLink":"/cpus"}`, 200))
	inv, err := endless.Inventory(t.Context(), theOnly(t, endless))
	if err != nil || inv.Requests > 30 {
		t.Errorf("pages without end: %d requests, %v", inv.Requests, err)
	}

	huge := machine(`,"Storage":{"@odata.id":"/storage"}`)
	var stores []string
	for i := range 20 {
		store := fmt.Sprintf("/storage/%d", i)
		stores = append(stores, `{"@odata.id":"`+store+`"}`)
		var drives []string
		for j := range 99 {
			drive := fmt.Sprintf("%s/%d", store, j)
			drives = append(drives, `{"@odata.id":"`+drive+`"}`)
			huge.with(drive, `{"Id":"`+drive+`","Model":"D"}`, 200)
		}
		huge.with(store, `{"Drives":[`+strings.Join(drives, ",")+`]}`, 200)
	}
	huge.with("/storage", `{"Members":[`+strings.Join(stores, ",")+`]}`, 200)
	c := connectTo(t, huge)
	inv, err = c.Inventory(t.Context(), theOnly(t, c))
	if err != nil || inv.Requests != maxInventoryReads || !slices.Contains(inv.Refused, inventory.PartDrives) || len(inv.Drives) != 64 || len(inv.MACs) != 1 {
		t.Errorf("%d requests, %d drives, %d MACs, refused %v, %v; want %d requests, and that drives are missing",
			inv.Requests, len(inv.Drives), len(inv.MACs), inv.Refused, err, maxInventoryReads)
	}
}

// tagged is a BMC whose answers have ETags, and aren't sent again to whoever knows them.
type tagged struct {
	aBMC

	mu   sync.Mutex
	same int
}

func (b *tagged) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	etag := fmt.Sprintf(`W/"%x"`, sha256.Sum256([]byte(b.aBMC["GET "+r.URL.Path].body)))
	if r.Method == http.MethodGet && r.Header.Get("If-None-Match") == etag {
		b.same++
		w.WriteHeader(http.StatusNotModified)

		return
	}
	w.Header().Set("ETag", etag)
	b.aBMC.ServeHTTP(w, r)
}

// TestConditional: what a BMC has told already isn't sent again, and what has changed is seen.
func TestConditional(t *testing.T) {
	const adapters = `,"Links":{"Chassis":[{"@odata.id":"/chassis"}]}`
	b := &tagged{aBMC: machine(adapters).with("/chassis", `{"Model":"C","NetworkAdapters":{"@odata.id":"/adapters"}}`, 200).
		with("/adapters", `{"Members":[{"@odata.id":"/adapters/1"}]}`, 200).with("/adapters/1", `{"Id":"1","Ports":{"@odata.id":"/ports"}}`, 200).
		with("/ports", `{"Members":[{"@odata.id":"/ports/1"}]}`, 200).with("/ports/1", `{"Id":"1","Ethernet":{"AssociatedMACAddresses":["70:B5:E8:00:00:02"]}}`, 200)}
	c := connectTo(t, b)
	s, m := theOnly(t, c), &Memory{}
	read := func() Inventory {
		t.Helper()
		w := NewWalk(s, m)
		if done, err := c.Walk(t.Context(), w, 99); !done || err != nil {
			t.Fatalf("Walk(...): %v, %v", done, err)
		}

		return w.Inventory()
	}
	first, again := read(), read()
	if first.Unchanged != 0 || again.Unchanged < 10 || again.Unchanged != b.same {
		t.Errorf("%d, then %d of %d requests weren't sent again; the BMC says %d", first.Unchanged, again.Unchanged, again.Requests, b.same)
	}
	again.Unchanged = 0
	if diff := cmp.Diff(first, again); diff != "" || len(first.MACs) != 2 || len(first.NICs) != 1 {
		t.Errorf("-first, +again:\n%s", diff)
	}
	b.with("/dimms/1", `{"CapacityMiB":2048}`, 200).with("/ports/1", `{"Id":"1","Ethernet":{"AssociatedMACAddresses":["70:B5:E8:00:00:03"]}}`, 200)
	if inv := read(); inv.Memory.Bytes != 2<<30 || inv.MACs[1].Address != "70:b5:e8:00:00:03" || inv.Unchanged < 8 {
		t.Errorf("what has changed isn't seen: %+v", inv)
	}
	m.since = m.since.Add(-2 * rememberedFor)
	if inv := read(); inv.Unchanged != 0 {
		t.Errorf("a day later %d resources were believed", inv.Unchanged)
	}
}

// TestUnasked: a BMC that says that nothing has changed to who knows nothing isn't believed.
func TestUnasked(t *testing.T) {
	c := connectTo(t, machine("").with("/dimms/1", "", http.StatusNotModified))
	inv, err := c.Inventory(t.Context(), theOnly(t, c))
	if err != nil || !slices.Contains(inv.Refused, inventory.PartMemory) {
		t.Errorf("got %+v, %v; want a part that was refused", inv.Refused, err)
	}
}
