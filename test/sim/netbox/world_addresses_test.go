package netbox_test

import (
	"fmt"
	"net/netip"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

func marked(address, field, value string) netbox.Address {
	return netbox.Address{Address: cidr(address), CustomFields: map[string]any{field: value}}
}

// stepsOfAddresses are what else was done between exchanges.
func (w *world) stepsOfAddresses() map[string]func() {
	tidy := func() {
		w.RemoveCustomField("with_default")
		w.RemoveCustomField("with_regex")
	}
	out := map[string]func(){
		"506": func() { w.AddAddress(netbox.Address{Address: cidr("10.90.0.5/24"), VRF: 2}) },
		"507": func() { w.AddAddress(netbox.Address{Address: cidr("10.90.0.6/24"), Role: "vip"}) },
		"587": func() { w.AddAddress(netbox.Address{Address: cidr("10.90.0.2/24")}) },
		"589": func() { w.AddAddress(netbox.Address{Address: cidr("10.95.0.1/24")}) },
		"800": tidy,
		"858b": func() {
			w.taken(1, map[string]int64{"4.2.9": 281, "4.4.10": 265, "4.6.8": 261, "4.7.0-beta1": 262}[w.version], "gave-up")
		},
		"901": func() { w.fill(257) },
		"799": func() { w.taken(1, 0, "") },
		"828": func() { w.taken(map[string]int{"4.4.10": 1}[w.version], 0, "") },
		"770": func() {
			tidy()
			w.taken(1, 0, "lst-1")
		},
		"838": func() { w.AddAddress(marked("10.94.0.9/24", "claim_id", "hidden-1")) },
		"773": func() {
			w.AddMachine(netbox.Machine{ID: 8, Name: "casc", Site: 1})
			for i := range int64(2) {
				w.AddInterface(netbox.Interface{ID: w.cascade() + i, Machine: 8, Name: fmt.Sprintf("e%d", i)})
			}
		},
		"774": func() {
			w.AddAddress(netbox.Address{Address: cidr("10.80.0.2/24"), Assigned: netbox.Object{Type: "dcim.interface", ID: w.cascade() + 1}})
		},
	}
	w.stepsOfPrefixes(out)
	return out
}

// cascade is the number of the interface that is deleted with its address, then with its device.
func (w *world) cascade() int64 {
	return map[string]int64{"4.2.9": 8, "4.4.10": 9}[w.version] + map[bool]int64{true: 10}[w.version >= "4.6"]
}

// stepsOfPrefixes are about prefixes that move and go, and a custom field that does.
func (w *world) stepsOfPrefixes(steps map[string]func()) {
	hosts := func(all ...string) {
		for _, a := range all {
			w.AddAddress(netbox.Address{Address: cidr(a)})
		}
	}
	steps["779"] = func() {
		w.AddPrefix(netbox.Prefix{ID: 31, Prefix: cidr("10.88.0.0/24")})
		w.AddAddress(marked("10.88.0.1/24", "claim_id", "casc-3"))
	}
	steps["780"] = func() { w.RemovePrefix(31) }
	steps["781"] = func() {
		w.AddVRF(netbox.VRF{ID: 4, Name: "gone", EnforceUnique: true})
		w.AddAddress(netbox.Address{Address: cidr("10.88.1.1/24"), VRF: 4})
	}
	steps["782"] = func() {
		w.AddPrefix(netbox.Prefix{ID: 32, Prefix: cidr("10.88.2.0/24")})
		hosts("10.88.2.1/24")
	}
	steps["783"] = func() { w.ChangePrefix(32, func(p *netbox.Prefix) { p.VRF = 1 }) }
	steps["786"] = func() { w.ChangePrefix(32, func(p *netbox.Prefix) { p.Prefix = cidr("10.88.2.0/25") }) }
	steps["787"] = func() {
		w.AddPrefix(netbox.Prefix{ID: 33, Prefix: cidr("10.88.3.0/24")})
		hosts("10.88.3.1/24", "10.88.3.2/24", "10.88.3.3/24")
		w.RemoveAddress(w.at("10.88.3.1"))
	}
	steps["788"] = func() { hosts("10.88.3.10/32") }
	steps["789"] = func() { w.AddAddress(netbox.Address{Address: cidr("10.88.3.4/24"), Status: "deprecated"}) }
	steps["791"] = func() {
		w.AddCustomField(netbox.CustomField{ID: 11, Name: "gone_soon", Type: "text", FilterLogic: "exact", Unique: true, UIEditable: "yes", ObjectTypes: []string{"ipam.ipaddress"}})
		w.taken(1, 0, "")
		w.ChangeAddress(w.last, func(a *netbox.Address) { a.CustomFields["gone_soon"] = "v" })
	}
	steps["793"] = func() { w.fill(map[string]int{"4.2.9": 99, "4.7.0-beta1": 267}[w.version]) }
	steps["627"] = func() {
		if w.version == "4.6.8" {
			w.AddAddress(netbox.Address{ID: 267, Address: cidr("10.97.0.1/24"), CustomFields: map[string]any{
				"cf_number": int64(5), "cf_flag": true, "cf_zone": "a", "cf_site": int64(1),
			}})
		}
	}
}

// taken are so many of the first free addresses of prefix 20, the first under a number unless it's 0.
func (w *world) taken(n int, id int64, marker string) {
	for a := netip.MustParseAddr("10.42.0.1"); n > 0; a = a.Next() {
		if w.at(a.String()) != 0 {
			continue
		}
		x := marked(a.String()+"/24", "claim_id", marker)
		x.ID = id
		if marker == "" {
			x.CustomFields = nil
		}
		w.last = w.AddAddress(x)
		n, id = n-1, 0
	}
}

// at finds the number of an address.
func (w *world) at(host string) int64 {
	for _, a := range w.Addresses() {
		if a.Address.Addr().String() == host {
			return a.ID
		}
	}
	return 0
}

// fill makes as many addresses as there were; 0 is 275.
func (w *world) fill(n int) {
	if n == 0 {
		n = 275
	}
	const first = 100_000 // no recorded number
	a, last := netip.MustParseAddr("10.200.0.1"), int64(0)
	for _, x := range w.Addresses() {
		if x.ID < first {
			last = max(last, x.ID)
		}
	}
	for i := range n - len(w.Addresses()) {
		w.AddAddress(netbox.Address{ID: first + int64(i), Address: netip.PrefixFrom(a, 24)})
		a = a.Next()
	}
	w.Next("address", last+1)
}
