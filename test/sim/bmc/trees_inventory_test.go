package bmc_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// counts is an inventory in numbers: what a golden table can hold without
// somebody's serial numbers in it.
func counts(inv redfish.Inventory) string {
	var cpus, modules, accelerators, devices, ports int64
	for _, p := range inv.Processors {
		cpus += p.Count
	}
	for _, m := range inv.Memory.Modules {
		modules += m.Count
	}
	for _, a := range inv.Accelerators {
		accelerators += a.Count
	}
	for _, d := range inv.PCIe {
		devices += d.Count
	}
	for _, n := range inv.NICs {
		ports += int64(len(n.Ports))
	}

	return fmt.Sprintf("%s %s %s; %d CPUs, %d GiB in %d, %d drives, %d NICs with %d ports, %d accelerators, %d devices, %d supplies; %d to blame",
		dash(inv.Architecture), dash(inv.TPM), dash(inv.SecureBoot), cpus, inv.Memory.Bytes>>30, modules, len(inv.Drives), len(inv.NICs), ports, accelerators,
		devices, len(inv.PowerSupplies), len(inv.Problems))
}

// addressesOf counts addresses by where they are from, and junk by why it is.
func addressesOf(inv redfish.Inventory) string {
	from, junk := map[string]int{}, map[string]int{}
	for _, m := range inv.MACs {
		from[m.Source]++
	}
	for _, d := range inv.Discarded {
		junk[d.Reason]++
	}

	return fmt.Sprintf("%d of %s; without %s", len(inv.MACs), listed(from), listed(junk))
}

func listed(m map[string]int) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, fmt.Sprintf("%s %d", k, m[k]))
	}

	return dash(strings.Join(out, ", "))
}

func dash(s string) string {
	if s == "" {
		return "-"
	}

	return s
}

// golden is what the inventory of a captured machine is, in numbers.
type golden struct{ Parts, MACs string }

// goldens are those of the captures that everybody has. A chassis of two nodes
// has one for each.
func goldens() map[string]golden {
	return map[string]golden{
		"dell-13g-idrac8-partial": {
			"amd64 - -; 2 CPUs, 128 GiB in 0, 0 drives, 0 NICs with 0 ports, 0 accelerators, 0 devices, 2 supplies; 0 to blame",
			"4 of EthernetInterfaces 4; without -",
		},
		"dell-r750-idrac9-6.00.30": {
			"amd64 TPM2_0 Disabled; 2 CPUs, 512 GiB in 16, 3 drives, 4 NICs with 7 ports, 2 accelerators, 13 devices, 2 supplies; 0 to blame",
			"7 of EthernetInterfaces 5, NetworkDeviceFunctions 2; without -",
		},
		"gigabyte-h262z63-ami-12.84": {
			"amd64 - Disabled; 2 CPUs, 244 GiB in 16, 1 drives, 0 NICs with 0 ports, 0 accelerators, 1 devices, 0 supplies; 0 to blame",
			"2 of EthernetInterfaces 2; without Duplicate 1",
		},
		"hpe-dl360gen10plus-ilo5-3.11": {
			"amd64 TPM2_0 Disabled; 2 CPUs, 192 GiB in 12, 2 drives, 3 NICs with 8 ports, 0 accelerators, 5 devices, 2 supplies; 0 to blame",
			"8 of EthernetInterfaces 6, Ports 2; without -",
		},
		"hpe-dl380agen11-ilo6-1.66": {
			"amd64 TPM2_0 Disabled; 2 CPUs, 512 GiB in 16, 7 drives, 1 NICs with 2 ports, 2 accelerators, 6 devices, 4 supplies; 0 to blame",
			"2 of EthernetInterfaces 2; without -",
		},
		"hpe-dl385gen10plusv2-ilo5-2.72": {
			"amd64 TPM2_0 Disabled; 2 CPUs, 1024 GiB in 16, 18 drives, 7 NICs with 9 ports, 1 accelerators, 6 devices, 2 supplies; 2 to blame",
			"9 of EthernetInterfaces 7, Ports 2; without NotEthernet 2, Placeholder 1",
		},
		"hpecray-ex235n-nc-2node/Node0": {
			"amd64 - -; 1 CPUs, 256 GiB in 8, 0 drives, 4 NICs with 0 ports, 4 accelerators, 0 devices, 0 supplies; 0 to blame",
			"4 of BootOptions 3, EthernetInterfaces 1; without Placeholder 1",
		},
		"hpecray-ex235n-nc-2node/Node1": {
			"amd64 - -; 1 CPUs, 256 GiB in 8, 0 drives, 4 NICs with 0 ports, 4 accelerators, 0 devices, 0 supplies; 0 to blame",
			"5 of BootOptions 4, EthernetInterfaces 1; without Placeholder 1",
		},
		"lenovo-sr670v2-xcc-2.83": {
			"amd64 TPM2_0 Disabled; 2 CPUs, 1024 GiB in 16, 4 drives, 2 NICs with 4 ports, 9 accelerators, 0 devices, 4 supplies; 0 to blame",
			"5 of EthernetInterfaces 4, OemBootOrder 1; without HostInterface 1",
		},
		"nvidia-bluefield3-dpubmc-24.10": {
			"arm64 - Disabled; 0 CPUs, 0 GiB in 0, 0 drives, 1 NICs with 3 ports, 0 accelerators, 0 devices, 0 supplies; 0 to blame",
			"3 of EthernetInterfaces 3; without Shared 1",
		},
		"nvidia-gb200nvl-openbmc-24.12": {
			"arm64 - Disabled; 2 CPUs, 960 GiB in 2, 9 drives, 0 NICs with 0 ports, 4 accelerators, 0 devices, 0 supplies; 1 to blame",
			"2 of BootOptions 2; without HostInterface 1",
		},
		"nvidia-gh200-openbmc-24.05": {
			"arm64 - Disabled; 2 CPUs, 960 GiB in 2, 0 drives, 0 NICs with 0 ports, 3 accelerators, 0 devices, 0 supplies; 0 to blame",
			"6 of BootOptions 6; without HostInterface 1",
		},
		"nvidia-nvswitchtray-n5110-openbmc": {
			"- - -; 0 CPUs, 0 GiB in 0, 0 drives, 0 NICs with 0 ports, 0 accelerators, 0 devices, 0 supplies; 0 to blame",
			"0 of -; without -",
		},
		"openbmc-stock-2.15": {
			"- - -; 0 CPUs, 0 GiB in 0, 0 drives, 0 NICs with 0 ports, 0 accelerators, 0 devices, 0 supplies; 0 to blame",
			"0 of -; without -",
		},
		"supermicro-sys510t-x12-partial": {
			"amd64 - -; 0 CPUs, 64 GiB in 0, 0 drives, 0 NICs with 0 ports, 0 accelerators, 0 devices, 0 supplies; 0 to blame",
			"0 of -; without -",
		},
		"supermicro-sys821ge-x13-11.01.01": {
			"amd64 - Disabled; 2 CPUs, 2048 GiB in 32, 8 drives, 10 NICs with 11 ports, 8 accelerators, 25 devices, 8 supplies; 0 to blame",
			"11 of EthernetInterfaces 11; without HostInterface 1",
		},
		"supermicro-x10sdv-4.0": {
			"amd64 - -; 1 CPUs, 64 GiB in 4, 0 drives, 0 NICs with 0 ports, 0 accelerators, 0 devices, 0 supplies; 0 to blame",
			"4 of EthernetInterfaces 4; without -",
		},
	}
}

// TestTreesInventory reads every tree's inventory: it's complete, the one of last time, and within its bounds, for so many requests.
func TestTreesInventory(t *testing.T) {
	const most = 250
	want := goldens()
	var all []int
	for name, dir := range captured(t) {
		for _, id := range systemsOf(t, dir) {
			t.Run(name+"/"+id, func(t *testing.T) {
				r := serve(t, dir)
				c := connect(t, settings(r.Server))
				s, err := c.System(t.Context(), redfish.Selector{ID: id})
				if err != nil {
					t.Logf("no System: %v", err)

					return
				}
				inv, err := c.Inventory(t.Context(), s)
				if err != nil {
					t.Fatalf("Inventory(...): %v", err)
				}
				t.Logf("figure redfish_inventory_requests_%s %d requests", strings.NewReplacer("-", "_", ".", "_", "/", "_").Replace(strings.ToLower(t.Name()[len("TestTreesInventory/"):])), inv.Requests)
				all = append(all, inv.Requests)
				if inv.Requests > most || len(inv.Refused) != 0 {
					t.Errorf("%d requests, want at most %d; refused %v", inv.Requests, most, inv.Refused)
				}
				got := golden{counts(inv), addressesOf(inv)}
				w, known := want[name]
				if node, own := want[name+"/"+id]; own {
					w, known = node, true
				}
				if known {
					if diff := cmp.Diff(w, got); diff != "" {
						t.Errorf("-want, +got:\n%s", diff)
					}
				} else {
					t.Logf("%q: {%q, %q},", name, got.Parts, got.MACs)
				}
				again, err := c.Inventory(t.Context(), s)
				if diff := cmp.Diff(inv, again); diff != "" || err != nil {
					t.Errorf("read again, %v: -before, +after:\n%s", err, diff)
				}
				if w := r.FullWrites(); len(w) != 0 {
					t.Errorf("looking wrote %v", w)
				}
			})
		}
	}
	slices.Sort(all)
	if len(all) > 0 {
		t.Logf("figure redfish_inventory_requests %d requests", all[len(all)-1])
		t.Logf("figure redfish_inventory_requests_median %d requests", all[len(all)/2])
	}
}

var anAddress = regexp.MustCompile(`^([0-9A-Fa-f]{2}[:-]?){5}[0-9A-Fa-f]{2}$`)

// tenfold is a tree with ten of everything that collections hold, each copy
// with addresses and serial numbers of its own.
func tenfold(tree *bmc.Tree) *bmc.Tree {
	const copies = 9
	address := 0
	var renew func(v any) any
	renew = func(v any) any {
		switch x := v.(type) {
		case map[string]any:
			for k := range x {
				x[k] = renew(x[k])
			}
		case []any:
			for i := range x {
				x[i] = renew(x[i])
			}
		case string:
			if anAddress.MatchString(x) {
				address++

				return fmt.Sprintf("70:b5:e8:%02x:%02x:%02x", address>>16, address>>8&255, address&255)
			}
		}

		return v
	}
	kinds := regexp.MustCompile(`(?i)/(Processors|Memory|Drives|NetworkAdapters|EthernetInterfaces|PCIeDevices|Storage|PowerSupplies|Ports|NetworkDeviceFunctions|BootOptions)$`)
	for _, path := range tree.Paths() {
		if !kinds.MatchString(strings.TrimRight(path, "/")) || strings.Contains(path, "/Managers/") {
			continue
		}
		var more []any
		for _, member := range membersOf(tree, path) {
			for i := range copies {
				uri := fmt.Sprintf("%s-%d", strings.TrimRight(member, "/"), i)
				was := bodyOf(tree, member)
				tree = tree.With(uri, func(body map[string]any) {
					maps.Copy(body, renew(was).(map[string]any))
					body["@odata.id"] = uri
					body["Id"] = fmt.Sprintf("%v-%d", body["Id"], i)
					body["SerialNumber"] = fmt.Sprintf("%v-%d", body["SerialNumber"], i)
				})
				more = append(more, map[string]any{"@odata.id": uri})
			}
		}
		tree = tree.With(path, func(body map[string]any) {
			members, _ := body["Members"].([]any)
			body["Members"] = append(members, more...)
		})
	}

	return tree
}

func bodyOf(tree *bmc.Tree, path string) map[string]any {
	out := map[string]any{}
	tree.With(path, func(body map[string]any) { maps.Copy(out, body) })

	return out
}

func membersOf(tree *bmc.Tree, path string) []string {
	members, _ := bodyOf(tree, path)["Members"].([]any)
	var out []string
	for _, m := range members {
		if link, ok := m.(map[string]any); ok {
			out = append(out, fmt.Sprint(link["@odata.id"]))
		}
	}

	return out
}

// TestTreesTenfold: the status of a machine that has ten of everything is small, and keeps its addresses.
func TestTreesTenfold(t *testing.T) {
	for name, dir := range captured(t) {
		t.Run(name, func(t *testing.T) {
			tree := tenfold(load(t, dir))
			r := serveTree(t, tree)
			for _, id := range r.Systems() {
				l := treeLab{newLabOf(t, r.Server, r.machines[id]), r}
				l.settle()
				h := l.get()
				b, err := json.Marshal(h.Status)
				if err != nil || len(b) > 32<<10 {
					t.Errorf("status has %d bytes (%v), want at most 32 KiB", len(b), err)
				}
				if inv := h.Status.AtProvider.Inventory; inv != nil {
					t.Logf("%d bytes, %d MACs, truncated %v, partial %v", len(b), len(h.Status.AtProvider.MACs), inv.Truncated, inv.Partial)
				}
			}
		})
	}
}

// TestTreesRefuseHalf: of a BMC that refuses every other resource by now, what was known stays.
func TestTreesRefuseHalf(t *testing.T) {
	for name, dir := range captured(t) {
		for _, id := range systemsOf(t, dir) {
			t.Run(name+"/"+id, func(t *testing.T) {
				l := newTreeLab(t, dir, id)
				before := l.settle().Status.AtProvider
				if before.Inventory == nil {
					t.Log("not registered")

					return
				}
				for i, path := range []string{"/Processors", "/Memory", "/Storage", "/Drives", "/NetworkAdapters", "/EthernetInterfaces", "/BootOptions", "/PCIeDevices", "/Power", "/Chassis", "/SecureBoot"} {
					if i%2 == len(name)%2 {
						l.emu.Inject(bmc.Fault{Method: http.MethodGet, PathContains: path + "/", Status: http.StatusInternalServerError})
					}
				}
				l.edit(claimedBy)
				l.start()
				after := l.settle().Status.AtProvider
				had, has := addressSet(before.MACs), addressSet(after.MACs)
				for a := range had {
					if !has[a] {
						t.Errorf("%s is gone, with partial %v", a, after.Inventory.Partial)
					}
				}
				was, is := before.Inventory, after.Inventory
				if len(is.Processors) < len(was.Processors) || len(is.Drives) < len(was.Drives) || len(is.PowerSupplies) < len(was.PowerSupplies) ||
					len(is.NICs) < len(was.NICs) || was.Memory != nil && is.Memory == nil {
					t.Errorf("-before, +after:\n%s", cmp.Diff(was, is))
				}
			})
		}
	}
}
