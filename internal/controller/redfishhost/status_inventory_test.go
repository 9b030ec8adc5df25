package redfishhost

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/inventory"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/lenient"
)

// TestUnread: until this process has read an inventory, status has that of the last one.
func TestUnread(t *testing.T) {
	const a, b = "52:54:00:00:00:0a", "52:54:00:00:00:0b"
	at := metav1.NewTime(t0)
	before := v1alpha1.RedfishHostObservation{
		Identity:      v1alpha1.HostIdentity{SystemURI: "/redfish/v1/Systems/1", Serial: "ABC", UUID: "u", Model: "of the chassis"},
		MACs:          []v1alpha1.HostMAC{{Address: a, Source: "Ports"}, {Address: b, Source: sourceSpec}},
		MACsDiscarded: []v1alpha1.DiscardedMAC{{Address: "x", Reason: "BMC"}},
		BMC:           v1alpha1.BMCFacts{Firmware: "1.0", Model: "iDRAC", Quirks: []string{"q"}},
		Inventory:     &v1alpha1.HostInventory{BIOSVersion: "2", RefreshedAt: &at},
	}
	cases := map[string]struct {
		reason string
		is     redfish.Identity
		kept   bool
	}{
		"Same":    {reason: "The same machine.", is: redfish.Identity{URI: "/redfish/v1/Systems/1", Serial: "abc"}, kept: true},
		"Renamed": {reason: "Under another URI.", is: redfish.Identity{URI: "/redfish/v1/Systems/Self", Serial: "ABC"}, kept: true},
		"Silent":  {reason: "That doesn't tell its serial just now.", is: redfish.Identity{URI: "/redfish/v1/Systems/1", UUID: "U"}, kept: true},
		"Other":   {reason: "Another machine's aren't this one's.", is: redfish.Identity{URI: "/redfish/v1/Systems/1", Serial: "XYZ"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, bound := range []bool{true, false} {
				h := &v1alpha1.RedfishHost{}
				if bound {
					claimed(h)
				}
				h.Spec.ForProvider.MACs = []string{"52:54:00:00:00:0C"}
				before.DeepCopyInto(&h.Status.AtProvider)
				e := &external{connector: NewConnector(Options{}), system: redfish.System{Identity: tc.is}}
				got := e.observed(h, "", nil)
				want := []string{a, "52:54:00:00:00:0c"}
				if !tc.kept {
					want = want[1:]
				}
				if diff := cmp.Diff(want, addresses(got.MACs)); diff != "" {
					t.Errorf("\n%s\nMACs, bound %v: -want, +got:\n%s", tc.reason, bound, diff)
				}
				if kept := got.Inventory != nil && got.BMC.Firmware == "1.0" && got.BMC.Model == "iDRAC" && got.Identity.Model != "" && len(got.BMC.Quirks) == 1; kept != tc.kept {
					t.Errorf("\n%s\nkept %v, want %v: %+v", tc.reason, kept, tc.kept, got)
				}
			}
		})
	}
}

func addresses(macs []v1alpha1.HostMAC) []string {
	var out []string
	for _, m := range macs {
		out = append(out, m.Address)
	}

	return out
}

// TestRefusedParts: what a BMC refuses to show stays as it was known, and is named.
func TestRefusedParts(t *testing.T) {
	identity := v1alpha1.HostIdentity{Serial: "ABC"}
	full := func(name string) inventory.Machine {
		return inventory.Machine{
			BIOSVersion: name, TPM: name, SecureBoot: name, Architecture: name,
			Processors: []inventory.Processor{{Model: name, Count: 1}}, Memory: inventory.Memory{Bytes: 1 << 30, Modules: []inventory.Module{{Bytes: 1 << 30, Type: name, Count: 1}}},
			Drives: []inventory.Drive{{ID: name}}, NICs: []inventory.NIC{{ID: name}}, Accelerators: []inventory.Device{{Model: name}}, PCIe: []inventory.Device{{Model: name}},
			PowerSupplies: []inventory.PowerSupply{{ID: name}},
		}
	}
	h := &v1alpha1.RedfishHost{}
	show := func(m inventory.Machine, refused []string, now time.Time) v1alpha1.RedfishHostObservation {
		inv := inventoryOf{read: true, Inventory: redfish.Inventory{Machine: m, Refused: refused}}
		h.Status.AtProvider = withInventory(v1alpha1.RedfishHostObservation{Identity: identity}, h, inv, now)

		return *h.Status.AtProvider.DeepCopy()
	}
	was := show(full("was"), nil, t0)
	every := []string{
		inventory.PartDrives, inventory.PartMACs, inventory.PartMemory, inventory.PartPCIe, inventory.PartPowerSupplies, inventory.PartProcessors,
		inventory.PartSecureBoot, inventory.PartSystem,
	}
	got := show(inventory.Machine{}, every, t0.Add(time.Hour))
	if diff := cmp.Diff(every, got.Inventory.Partial); diff != "" {
		t.Errorf("partial: -want, +got:\n%s", diff)
	}
	got.Inventory.Partial, got.Inventory.RefreshedAt = nil, was.Inventory.RefreshedAt
	if diff := cmp.Diff(was, got); diff != "" {
		t.Errorf("all is refused: -before, +after:\n%s", diff)
	}
	got = show(full("is"), []string{inventory.PartDrives}, t0.Add(2*time.Hour))
	if got.Inventory.Drives[0].ID != "was" || got.Inventory.BIOSVersion != "is" || got.Inventory.NICs[0].ID != "is" {
		t.Errorf("drives are refused: %+v", got.Inventory)
	}
	got = show(full("new"), nil, t0.Add(3*time.Hour))
	if got.Inventory.Drives[0].ID != "new" || got.Inventory.Partial != nil {
		t.Errorf("all is shown: %+v", got.Inventory)
	}
}

// TestRefreshedAt: it's the time of the last change, and so changes with one only.
func TestRefreshedAt(t *testing.T) {
	h := &v1alpha1.RedfishHost{}
	show := func(bios string, now time.Time) time.Time {
		inv := inventoryOf{read: true, Inventory: redfish.Inventory{Machine: inventory.Machine{BIOSVersion: bios, Memory: inventory.Memory{Bytes: 1 << 30}}}}
		h.Status.AtProvider = withInventory(v1alpha1.RedfishHostObservation{}, h, inv, now)

		return h.Status.AtProvider.Inventory.RefreshedAt.UTC()
	}
	for i, tc := range []struct {
		bios string
		want int
	}{{"1", 0}, {"1", 0}, {"2", 2}, {"2", 2}} {
		if got, want := show(tc.bios, t0.Add(time.Duration(i)*time.Hour)), t0.Add(time.Duration(tc.want)*time.Hour).UTC(); !got.Equal(want) {
			t.Errorf("look %d: refreshed at %v, want %v", i, got, want)
		}
		// As it comes back from the API server.
		b, err := json.Marshal(h.Status)
		if err != nil {
			t.Fatal(err)
		}
		h.Status = v1alpha1.RedfishHostStatus{}
		if err := json.Unmarshal(b, &h.Status); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWorstStatusIsBounded feeds the worst that a BMC can say to all that is shown.
func TestWorstStatusIsBounded(t *testing.T) {
	long := strings.Repeat(`"`, 999)
	r := &inventory.Raw{}
	named := func(i int) inventory.Named {
		return inventory.Named{ID: said(fmt.Sprintf("%03d%s", i, long)), Model: said(fmt.Sprintf("%d%s", i, long)), SerialNumber: said(long), Manufacturer: said(long), Status: inventory.Status{Health: "Critical"}}
	}
	for i := range 400 {
		r.Processors = append(r.Processors, inventory.ProcessorBody{Named: named(i)}, inventory.ProcessorBody{Named: named(i), Type: "GPU"})
		r.Drives = append(r.Drives, inventory.DriveBody{Named: named(i)})
		r.Devices = append(r.Devices, inventory.DeviceBody{Named: named(i)})
		r.Supplies = append(r.Supplies, inventory.SupplyBody{Named: named(i)})
		r.Interface("/i", inventory.NICBody{ID: said(fmt.Sprintf("%03d%s", i, long)), Permanent: said(fmt.Sprintf("70:B5:E8:00:%02x:%02x", i/256, i%256))})
		a := r.Adapter("/a", inventory.AdapterBody{Named: named(i)})
		a.Port("/p", inventory.NICBody{MAC: said(fmt.Sprintf("not one: %d%s", i, long))})
	}
	inv := inventory.Merge(r)
	if len(inv.MACs) != 400 || len(inv.Discarded) == 0 {
		t.Fatalf("%d MACs, %d discarded", len(inv.MACs), len(inv.Discarded))
	}
	words := strings.Repeat("x", 128)
	s := redfish.System{Identity: redfish.Identity{URI: "/" + words, Serial: words, Model: words, Manufacturer: words, SKU: words}}
	h := &v1alpha1.RedfishHost{}
	o := observation(s, inv, words, &journal{PoweredOn: time.Now()}, v1alpha1.RedfishHostParameters{})
	h.Status.AtProvider = withInventory(o, h, inventoryOf{read: true, Inventory: inv}, t0)
	showTrouble(h, errDuplicate, trouble{"Duplicate", strings.Repeat("é", 10_000)})
	h.SetConditions(healthy("Critical", h.Status.AtProvider.Inventory))
	b, err := json.Marshal(h.Status)
	if err != nil || len(b) > 32<<10 {
		t.Errorf("status has %d bytes (%v), want at most 32 KiB", len(b), err)
	}
	if n := len(h.Status.AtProvider.MACs); n != maxMACs {
		t.Errorf("%d MACs, want %d: they're never cut for the rest", n, maxMACs)
	}
	if len(h.Status.AtProvider.Inventory.Truncated) == 0 {
		t.Error("nothing is said to be cut")
	}
}

// TestWholeStatusFits: whatever is shown beside it, an inventory leaves it room, and isn't another one at each look for it.
func TestWholeStatusFits(t *testing.T) {
	inv := &v1alpha1.HostInventory{BIOSVersion: "1"}
	for i := range 128 {
		inv.Drives = append(inv.Drives, v1alpha1.DriveFacts{ID: fmt.Sprint(i), Model: strings.Repeat("d", 100)})
	}
	look := func(was *v1alpha1.HostInventory, beside int, now time.Time) *v1alpha1.RedfishHost {
		h := &v1alpha1.RedfishHost{}
		h.Status.AtProvider.Inventory = dated(inv.DeepCopy(), was, now)
		h.Status.AtProvider.Boot.Order = []string{strings.Repeat("o", beside)}
		fitStatus(h, was, now)

		return h
	}
	for beside, cut := range map[int]bool{0: false, 12 << 10: false, 20 << 10: true, 26 << 10: true, 30 << 10: true, 31 << 10: true} {
		first := look(nil, beside, t0)
		again := look(first.Status.AtProvider.Inventory, beside+10, t0.Add(time.Hour))
		got := first.Status.AtProvider.Inventory
		if n := size(first.Status); n > 32<<10 || (len(got.Truncated) > 0) != cut || got.BIOSVersion != "1" {
			t.Errorf("%d bytes beside it: %d in all, truncated %v; want at most 32 KiB, cut %t", beside, n, got.Truncated, cut)
		}
		if diff := cmp.Diff(got, again.Status.AtProvider.Inventory); diff != "" {
			t.Errorf("%d bytes beside it: another one at the next look: -was, +is:\n%s", beside, diff)
		}
	}
	if len(inv.Drives) != 128 || inv.RefreshedAt != nil {
		t.Error("what is shared with others was cut")
	}
}

// TestFit: the longest list is cut by halves, and named.
func TestFit(t *testing.T) {
	h := &v1alpha1.HostInventory{BIOSVersion: "1", PCIe: []v1alpha1.DeviceFacts{{Model: "p", Count: 1}}}
	for i := range 64 {
		h.Drives = append(h.Drives, v1alpha1.DriveFacts{ID: fmt.Sprint(i), Model: strings.Repeat("d", 50)})
	}
	whole := h.DeepCopy()
	fit(h, maxInventory)
	if diff := cmp.Diff(whole, h); diff != "" {
		t.Errorf("one that fits is changed:\n%s", diff)
	}
	fit(h, 2000)
	if len(h.Drives) != 16 || len(h.PCIe) != 1 || len(h.Truncated) != 1 || h.Truncated[0] != "drives" {
		t.Errorf("%d drives, %d devices, truncated %v; want 16, 1, drives", len(h.Drives), len(h.PCIe), h.Truncated)
	}
	fit(h, -1)
	if len(h.Drives)+len(h.PCIe) != 0 || h.BIOSVersion != "1" {
		t.Errorf("no room at all: %+v", h)
	}
}

func TestBlamed(t *testing.T) {
	inv := &v1alpha1.HostInventory{Problems: []v1alpha1.HealthProblem{
		{Component: "drive 7", Health: "Critical", Message: "it fails"}, {Component: "a", Health: "Warning"}, {Component: "b", Health: "Warning"}, {Component: "c", Health: "Warning"},
	}}
	const want = "the BMC reports the machine's health as Critical; drive 7 is Critical (it fails), a is Warning, b is Warning, 1 more: look into its event log"
	if got := healthy("Critical", inv).Message; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := healthy("Warning", &v1alpha1.HostInventory{}).Message; strings.Contains(got, ";") {
		t.Errorf("nobody is to blame: %q", got)
	}
}

// said is a text as a BMC sends it.
func said(s string) lenient.Text { return lenient.Text(s) }
