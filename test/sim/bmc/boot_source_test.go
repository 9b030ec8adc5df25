package bmc_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/quirk"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// Boot options of the machines below, as their orders call them.
const (
	optionDisk, optionPxe, optionHTTP, optionOther = "Boot0001", "Boot0002", "Boot0003", "Boot0004"

	pathPxe = "PciRoot(0x0)/Pci(0x1,0x0)/MAC(525400000001,0x1)/IPv4(0.0.0.0)"
)

// bootable is a tree whose System has boot options and an order, and what change
// makes of its Boot.
func bootable(t *testing.T, change func(boot map[string]any)) *bmc.Tree {
	t.Helper()
	const options = uriSystem + "/BootOptions"
	tree := made(t, nil).With(uriSystem, func(body map[string]any) {
		boot := map[string]any{
			"BootSourceOverrideTarget": "None", "BootSourceOverrideEnabled": "Disabled", "BootSourceOverrideMode": "UEFI",
			"BootSourceOverrideTarget@Redfish.AllowableValues": []any{"None", "Pxe", "Hdd", "UefiHttp", "UefiTarget", "UefiBootNext"},
			"UefiTargetBootSourceOverride":                     nil, "HttpBootUri": nil, "BootNext": nil,
			"BootOrder":   []any{optionDisk, optionPxe, optionHTTP, optionOther},
			"BootOptions": map[string]any{"@odata.id": options},
		}
		if change != nil {
			change(boot)
		}
		body["Boot"] = boot
		delete(body, "@Redfish.Settings")
	})
	var members []any
	for ref, o := range map[string][2]string{
		optionDisk: {"Disk", "PciRoot(0x0)/Pci(0x3,0x0)/NVMe(0x1,00-00)"}, optionPxe: {"PXE", pathPxe},
		optionHTTP: {"HTTP", pathPxe + "/Uri()"}, optionOther: {"PXE", "PciRoot(0x0)/Pci(0x2,0x0)/MAC(525400000002,0x1)/IPv4(0.0.0.0)"},
	} {
		uri := options + "/" + ref
		members = append(members, map[string]any{"@odata.id": uri})
		tree = tree.With(uri, func(body map[string]any) {
			body["@odata.id"], body["Id"], body["BootOptionReference"], body["DisplayName"], body["UefiDevicePath"] = uri, ref, ref, o[0], o[1]
		})
	}

	return tree.With(options, func(body map[string]any) { body["@odata.id"], body["Members"] = options, members })
}

// without takes properties out of a Boot.
func without(names ...string) func(map[string]any) {
	return func(boot map[string]any) {
		for _, n := range names {
			delete(boot, n)
		}
	}
}

// only lists the targets that a machine offers.
func only(targets ...any) func(map[string]any) {
	return func(boot map[string]any) {
		boot["BootSourceOverrideTarget@Redfish.AllowableValues"] = append([]any{"None"}, targets...)
	}
}

// TestSetBoot: what is set, by which rung, and what is refused without a write.
func TestSetBoot(t *testing.T) {
	cases := map[string]struct {
		reason string
		tree   func(map[string]any)
		row    func(*bmc.Behaviour)
		quirks []quirk.Row
		want   redfish.BootSource
		via    redfish.Rung
		shows  string // target, enabled
		writes int
		kind   redfish.Kind
		field  string
		offers string
		plan   string // what comes first; "" is none
	}{
		"Pxe":     {reason: "The standard.", want: redfish.BootSource{Target: "Pxe"}, via: redfish.RungSystem, shows: "Pxe Once", writes: 1},
		"URI":     {reason: "With its URI.", want: redfish.BootSource{Target: "UefiHttp", URI: "http://x.example/a.efi"}, via: redfish.RungSystem, shows: "UefiHttp Once", writes: 1},
		"NoURI":   {reason: "Where there's a place for it.", tree: without("HttpBootUri"), want: redfish.BootSource{Target: "UefiHttp", URI: "http://x.example/a.efi"}, kind: redfish.Unsupported, field: "HttpBootUri"},
		"Path":    {reason: "By device path.", want: redfish.BootSource{Target: "UefiTarget", DevicePath: pathPxe}, via: redfish.RungSystem, shows: "UefiTarget Once", writes: 1},
		"Lasting": {reason: "For every boot.", want: redfish.BootSource{Target: "Hdd", Lasting: true}, via: redfish.RungSystem, shows: "Hdd Continuous", writes: 1},
		"OnceOnly": {reason: "Lenovo has it for one boot alone.", tree: func(b map[string]any) {
			b["BootSourceOverrideEnabled@Redfish.AllowableValues"] = []any{"Once", "Disabled"}
		}, want: redfish.BootSource{Target: "Hdd", Lasting: true}, kind: redfish.Unsupported, field: "BootSourceOverrideEnabled Continuous", offers: "Once"},
		"Quirk":    {reason: "Or a row says so.", quirks: []quirk.Row{{Name: "x", Match: quirk.Match{Manufacturer: "*"}, Facts: quirk.Facts{Continuous: quirk.Refused}}}, want: redfish.BootSource{Target: "Hdd", Lasting: true}, kind: redfish.Unsupported, field: "BootSourceOverrideEnabled Continuous", offers: "Once"},
		"Mode":     {reason: "Another mode than the machine's goes along.", want: redfish.BootSource{Target: "Pxe", Mode: "Legacy"}, via: redfish.RungSystem, shows: "Pxe Once", writes: 1},
		"Required": {reason: "A BMC that wants the mode gets it.", row: func(b *bmc.Behaviour) { b.Mode = bmc.ModeRequired }, want: redfish.BootSource{Target: "Pxe"}, via: redfish.RungSystem, shows: "Pxe Once", writes: 2},
		"Alone":    {reason: "One that doesn't isn't sent it.", row: func(b *bmc.Behaviour) { b.Mode = bmc.ModeAlone }, want: redfish.BootSource{Target: "Pxe"}, via: redfish.RungSystem, shows: "Pxe Once", writes: 1},
		"Modeless": {reason: "A mode that the machine hasn't got isn't ignored.", tree: without("BootSourceOverrideMode"), want: redfish.BootSource{Target: "Pxe", Mode: "UEFI"}, kind: redfish.Unsupported, field: "BootSourceOverrideMode UEFI"},
		"Next":     {reason: "A target that isn't offered, by an option that boots it.", tree: only("Hdd", "UefiBootNext"), want: redfish.BootSource{Target: "Pxe"}, via: redfish.RungNext, shows: "UefiBootNext Once", writes: 1},
		"Option":   {reason: "By reference.", want: redfish.BootSource{Target: redfish.TargetBootOption, Option: optionOther}, via: redfish.RungNext, shows: "UefiBootNext Once", writes: 1},
		"MAC":      {reason: "By a MAC that one option has.", want: redfish.BootSource{Target: redfish.TargetBootOption, Option: "52:54:00:00:00:02"}, via: redfish.RungNext, shows: "UefiBootNext Once", writes: 1},
		"ByPath":   {reason: "An option by its path, where there's no BootNext.", tree: without("BootNext"), want: redfish.BootSource{Target: redfish.TargetBootOption, Option: optionOther}, via: redfish.RungSystem, shows: "UefiTarget Once", writes: 1},
		"TwoMACs":  {reason: "Several are told apart by nobody.", want: redfish.BootSource{Target: redfish.TargetBootOption, Option: "52:54:00:00:00:01"}, kind: redfish.Unsupported, offers: "Boot0002 (PXE)"},
		"NoOption": {reason: "One that isn't there.", want: redfish.BootSource{Target: redfish.TargetBootOption, Option: "Boot0009"}, kind: redfish.Unsupported, offers: "Boot0001 (Disk)"},
		"Cd":       {reason: "A target that nothing boots.", want: redfish.BootSource{Target: "Cd"}, kind: redfish.Unsupported, field: "BootSourceOverrideTarget Cd", offers: "Pxe"},
		"Order":    {reason: "Without an override, the order can do it: that is told, and not done.", tree: without("BootSourceOverrideTarget", "BootSourceOverrideTarget@Redfish.AllowableValues", "BootNext"), want: redfish.BootSource{Target: "Pxe"}, kind: redfish.Unsupported, field: redfish.NoOverride, offers: "Hdd", plan: optionPxe},
		"NoOrder": {reason: "Unless it isn't a plain list.", tree: func(b map[string]any) {
			without("BootSourceOverrideTarget", "BootSourceOverrideTarget@Redfish.AllowableValues", "BootNext")(b)
			b["BootOrder"] = []any{optionDisk, nil, optionPxe}
		}, want: redfish.BootSource{Target: "Pxe"}, kind: redfish.Unsupported, field: redfish.NoOverride},
		"NoRung": {reason: "Or a row forbids it.", tree: without("BootSourceOverrideTarget", "BootSourceOverrideTarget@Redfish.AllowableValues", "BootNext"), quirks: []quirk.Row{{Name: "x", Match: quirk.Match{Manufacturer: "*"}, Facts: quirk.Facts{Rungs: []string{"System"}}}}, want: redfish.BootSource{Target: "Pxe"}, kind: redfish.Unsupported, field: redfish.NoOverride},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := serveTree(t, bootable(t, tc.tree), func(b *bmc.Behaviour) {
				if tc.row != nil {
					tc.row(b)
				}
			})
			cfg := settings(r.Server)
			cfg.Quirks = tc.quirks
			c := connect(t, cfg)
			via, err := c.SetBoot(t.Context(), system(t, c), tc.want)
			target, enabled := r.Override("1")
			writes := r.FullWrites()
			if redfish.KindOf(err) != tc.kind || via.Rung != tc.via || len(writes) != tc.writes {
				t.Fatalf("\n%s\nSetBoot(...): got rung %q, %v; want %q, kind %q with %d writes; written %v", tc.reason, via.Rung, err, tc.via, tc.kind, tc.writes, writes)
			}
			if err == nil {
				if got := target + " " + enabled; got != tc.shows {
					t.Errorf("\n%s\noverride: got %q, want %q", tc.reason, got, tc.shows)
				}

				return
			}
			refusedWell(t, tc.reason, err, tc.field, tc.offers, tc.plan)
		})
	}
}

func refusedWell(t *testing.T, reason string, err error, field, offers, plan string) {
	t.Helper()
	e := new(redfish.Error)
	if !cmpAs(err, &e) || field != "" && e.Field != field || offers != "" && !slices.Contains(e.Offers, offers) {
		t.Errorf("\n%s\ngot field %q, offers %v; want %q, with %q", reason, e.Field, e.Offers, field, offers)
	}
	first := ""
	if e.Fallback != nil {
		first = e.Fallback.First
	}
	if first != plan {
		t.Errorf("\n%s\nfallback: got %q, want %q", reason, first, plan)
	}
}

// TestSetBootFalls: an override that a resource accepts and doesn't make, or
// refuses, is tried at the next one, and it's told why.
func TestSetBootFalls(t *testing.T) {
	const pending = `{"@odata.id":"/redfish/v1/Systems/1/Settings","Boot":{"BootSourceOverrideTarget":"None","BootSourceOverrideEnabled":"Disabled"}}`
	for name, f := range map[string]bmc.Fault{
		"NoEffect": {Method: http.MethodPatch, PathContains: "Settings", WithoutEffect: true},
		"Refused":  {Method: http.MethodPatch, PathContains: "Settings", Status: http.StatusBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			r := serveTree(t, made(t, map[string]string{"redfish/v1/Systems/1/Settings/index.json": pending}), func(b *bmc.Behaviour) { b.OverrideAt = bmc.AtSystem })
			r.Inject(f)
			c := connect(t, settings(r.Server))
			via, err := c.SetBoot(t.Context(), system(t, c), redfish.BootSource{Target: "Pxe"})
			if err != nil || via.Rung != redfish.RungSystem || !strings.Contains(via.Why, "Settings") {
				t.Fatalf("SetBoot(...): got %+v, %v; want it on the System, and why", via, err)
			}
			if b := system(t, c).Boot; b.Target != "Pxe" || b.Enabled != redfish.EnabledOnce {
				t.Errorf("what the client shows of it: %+v", b)
			}
			if err := c.ClearBoot(t.Context(), system(t, c), via.Resource); err != nil || !system(t, c).Boot.Idle() {
				t.Errorf("ClearBoot(...): %v, %+v", err, system(t, c).Boot)
			}
		})
	}
}

// TestForeignOverrideOfAnotherName: UefiBootNext that somebody else set isn't our
// Pxe, although the machine shows ours by that name.
func TestForeignOverrideOfAnotherName(t *testing.T) {
	tree := bootable(t, func(boot map[string]any) {
		boot["BootSourceOverrideTarget"], boot["BootSourceOverrideEnabled"], boot["BootNext"] = "UefiBootNext", "Once", optionDisk
	})
	r := serveTree(t, tree, func(b *bmc.Behaviour) { b.StoredAs = map[string]string{"Pxe": "UefiBootNext"} })
	cfg := settings(r.Server)
	cfg.Quirks = []quirk.Row{{Name: "x", Match: quirk.Match{Manufacturer: "*"}, Facts: quirk.Facts{StoredAs: map[string]string{"Pxe": "UefiBootNext"}}}}
	c := connect(t, cfg)
	if err := c.SetBootOnce(t.Context(), system(t, c), "Pxe"); err != nil || len(r.FullWrites()) != 1 {
		t.Errorf("SetBootOnce(...): %v; written %v, want one PATCH", err, r.FullWrites())
	}
	if got := r.NextBoot("1"); got != bmc.BootPxe {
		t.Errorf("the machine boots %q", got)
	}
}

func TestSetBootOrder(t *testing.T) {
	cases := map[string]struct {
		reason string
		want   []string
		tree   func(map[string]any)
		order  []string
		writes int
		kind   redfish.Kind
	}{
		"Alias":   {reason: "The disk stays, behind.", want: []string{"Pxe"}, order: []string{optionPxe, optionOther, optionDisk, optionHTTP}, writes: 1},
		"MAC":     {reason: "All of a NIC.", want: []string{"52:54:00:00:00:01"}, order: []string{optionPxe, optionHTTP, optionDisk, optionOther}, writes: 1},
		"There":   {reason: "What is so already isn't written.", want: []string{"Hdd", optionPxe}, order: []string{optionDisk, optionPxe, optionHTTP, optionOther}},
		"Unknown": {reason: "Refused, and nothing is written.", want: []string{"Cd"}, order: []string{optionDisk, optionPxe, optionHTTP, optionOther}, kind: redfish.Unsupported},
		"NoList": {reason: "What can't be read exactly isn't changed.", want: []string{optionPxe}, tree: func(b map[string]any) {
			b["BootOrder"] = []any{optionDisk, map[string]any{"@odata.id": "/x"}, optionPxe}
		}, order: []string{optionDisk, optionPxe}, kind: redfish.Unsupported},
		"Null": {reason: "Nor is no list.", want: []string{optionPxe}, tree: func(b map[string]any) { b["BootOrder"] = nil }, kind: redfish.Unsupported},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := serveTree(t, bootable(t, tc.tree))
			c := connect(t, settings(r.Server))
			_, err := c.SetBootOrder(t.Context(), system(t, c), tc.want)
			if redfish.KindOf(err) != tc.kind || len(r.FullWrites()) != tc.writes {
				t.Errorf("\n%s\nSetBootOrder(...): %v, want kind %q, %d writes; written %v", tc.reason, err, tc.kind, tc.writes, r.FullWrites())
			}
			if diff := cmp.Diff(tc.order, r.BootOrder("1")); diff != "" {
				t.Errorf("\n%s\norder: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestPutFirstAndBack: a boot for once by the order leaves it as it was.
func TestPutFirstAndBack(t *testing.T) {
	r := serveTree(t, bootable(t, nil))
	c := connect(t, settings(r.Server))
	was := r.BootOrder("1")
	plan := redfish.OrderPlan{Was: was, First: optionOther}
	for range 2 { // The second one finds it so.
		if via, err := c.PutFirst(t.Context(), system(t, c), plan); err != nil || via.Rung != redfish.RungOrder {
			t.Fatalf("PutFirst(...): %+v, %v", via, err)
		}
	}
	if got := r.NextBoot("1"); got != bmc.BootPxe || len(r.FullWrites()) != 1 {
		t.Errorf("boots %q; written %v", got, r.FullWrites())
	}
	for range 2 {
		if err := c.PutBack(t.Context(), system(t, c), plan); err != nil {
			t.Fatalf("PutBack(...): %v", err)
		}
	}
	if diff := cmp.Diff(was, r.BootOrder("1")); diff != "" || len(r.FullWrites()) != 2 {
		t.Errorf("written %v; order: -want, +got:\n%s", r.FullWrites(), diff)
	}
	other := redfish.OrderPlan{Was: []string{optionDisk}, First: optionOther}
	if _, err := c.PutFirst(t.Context(), system(t, c), other); redfish.KindOf(err) != redfish.Refused || len(r.FullWrites()) != 2 {
		t.Errorf("a plan of another day: %v; written %v", err, r.FullWrites())
	}
}
