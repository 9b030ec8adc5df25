package redfish

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/quirk"
)

func TestBootIsReadStrictly(t *testing.T) {
	cases := map[string]struct {
		reason string
		body   string
		want   []string
	}{
		"Plain":     {reason: "A list of references.", body: `["Boot0001","Boot0000"]`, want: []string{"Boot0001", "Boot0000"}},
		"Empty":     {reason: "Nothing is staged.", body: `[]`},
		"Null":      {reason: "No list.", body: `null`},
		"Text":      {reason: "One text isn't a list: what would be written back?", body: `"Boot0001"`},
		"Objects":   {reason: "Nor are links.", body: `[{"@odata.id":"/x"},"Boot0001"]`},
		"Hole":      {reason: "What was dropped in reading would be dropped in writing.", body: `["Boot0001",null,"Boot0002"]`},
		"Numbers":   {reason: "The same.", body: `[1,2]`},
		"EmptyText": {reason: "The same.", body: `["Boot0001",""]`},
		"Twice":     {reason: "Each once.", body: `["Boot0001","Boot0001"]`},
		"Nested":    {reason: "No list of lists.", body: `[["Boot0001"]]`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var b struct{ Boot bootBody }
			if err := decode([]byte(`{"Boot":{"BootOrder":`+tc.body+`,"HttpBootUri":null}}`), &b); err != nil {
				t.Fatal(err)
			}
			got := b.Boot.boot()
			if diff := cmp.Diff(tc.want, append([]string(nil), got.Order...)); diff != "" || !got.hasOrder || !got.hasURI || got.hasPath {
				t.Errorf("\n%s\norder %s: there %v; -want, +got:\n%s", tc.reason, tc.body, got.hasOrder, diff)
			}
		})
	}
}

func TestJoined(t *testing.T) {
	pxe := Boot{Target: "Pxe", Enabled: "Once"}
	idle := Boot{Target: "None", Enabled: "Disabled"}
	cases := map[string]struct {
		reason          string
		system, waiting Boot
		onSystem        bool
		want            Boot
	}{
		"Settings":   {reason: "What waits for a boot.", system: idle, waiting: pxe, want: pxe},
		"OnSystem":   {reason: "Unless the override is the System's.", system: idle, waiting: pxe, onSystem: true, want: idle},
		"Fallen":     {reason: "One that the settings resource didn't take is on the System.", system: pxe, waiting: idle, want: pxe},
		"OrderOnly":  {reason: "Lenovo's takes an order only.", system: Boot{Target: "Pxe", Enabled: "Once", Order: []string{"a", "b"}}, waiting: Boot{Order: []string{"b", "a"}}, want: Boot{Target: "Pxe", Enabled: "Once", Order: []string{"b", "a"}, Staged: true}},
		"SameOrder":  {reason: "A copy waits for nothing.", system: Boot{Order: []string{"a"}}, waiting: Boot{Order: []string{"a"}}, want: Boot{Order: []string{"a"}}},
		"EmptyOrder": {reason: "Nothing is staged (BlueField).", system: Boot{Order: []string{"a"}}, waiting: Boot{Target: "Pxe", Enabled: "Once"}, want: Boot{Target: "Pxe", Enabled: "Once", Order: []string{"a"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := joined(tc.system, tc.waiting, tc.onSystem)
			if got.Target != tc.want.Target || got.Enabled != tc.want.Enabled || got.Staged != tc.want.Staged || !cmp.Equal(got.Order, tc.want.Order) {
				t.Errorf("\n%s\njoined(...): got %+v, want %+v", tc.reason, got, tc.want)
			}
		})
	}
}

func TestKindOfOption(t *testing.T) {
	const nic = "PciRoot(0x3)/Pci(0x3,0x3)/MAC(B42E99BADE15,0x0)/"
	cases := map[string]struct {
		o    bootOption
		want string
		mac  string
	}{
		"PXE":        {o: bootOption{path: nic + "IPv4(0.0.0.0)"}, want: "Pxe", mac: "b4:2e:99:ba:de:15"},
		"HTTP":       {o: bootOption{path: nic + "IPv4(0.0.0.0)/Uri()"}, want: "UefiHttp", mac: "b4:2e:99:ba:de:15"},
		"BMC":        {o: bootOption{path: "PciRoot(0x5)/USB(0x4,0x0)/MAC(EEA3AB6B5303,0x1)/IPv4(0.0.0.0)", name: "UEFI PXEv4 (MAC:EEA3AB6B5303)"}},
		"NVMe":       {o: bootOption{path: "PciRoot(0xB)/Pci(0x0,0x0)/NVMe(0x1,01-CA)/HD(1,GPT)"}, want: "Hdd"},
		"Partition":  {o: bootOption{path: `HD(1,GPT,6634D938,0x800,0x219800)/\EFI\ubuntu\shimx64.efi`}, want: "Hdd"},
		"Stick":      {o: bootOption{path: "PciRoot(0x0)/Pci(0x1C,0x4)/USB(0x2,0x0)/HD(1,MBR)"}, want: "Usb"},
		"AnyStick":   {o: bootOption{path: "UsbClass(0xFFFF,0xFFFF,0xFF,0xFF,0xFF)"}, want: "Usb"},
		"CD":         {o: bootOption{path: "PciRoot(0x0)/Sata(0x1,0x0,0x0)/CDROM(0x1)"}, want: "Cd"},
		"Shell":      {o: bootOption{path: "VenMedia(5023B95C)", name: "UEFI: Built-in EFI Shell"}},
		"DellHTTP":   {o: bootOption{path: "VenHw(986D1755)", name: "HTTP Device 1: NIC in Slot 5 Port 1"}, want: "UefiHttp"},
		"X13":        {o: bootOption{name: "(B26/D0/F0) UEFI PXE IPv4 Nvidia Network Adapter - 94:6D:AE:91:FB:22 - 946DAE91FB22"}, want: "Pxe", mac: "94:6d:ae:91:fb:22"},
		"Lenovo":     {o: bootOption{path: "VenHw_B2AD3248", name: "Network"}, want: "Pxe"},
		"LenovoDisk": {o: bootOption{path: "VenHw_B2AD3248", name: "HardDisk"}, want: "Hdd"},
		"Cray":       {o: bootOption{reference: "HSN0-PXE-IP4", alias: "None"}, want: "Pxe"},
		"Alias":      {o: bootOption{alias: "Cd", path: "VenHw(1)"}, want: "Cd"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.o.kind(); got != tc.want {
				t.Errorf("kind(): got %q, want %q", got, tc.want)
			}
			if got := tc.o.mac(); got != tc.mac {
				t.Errorf("mac(): got %q, want %q", got, tc.mac)
			}
		})
	}
}

// optionsOfMachine has two NICs, each with two options, a disk and a shell.
func optionsOfMachine() []bootOption {
	return []bootOption{
		{reference: "Boot0001", id: "1", name: "PXE 1", path: "Pci(0x1,0x0)/MAC(525400000001,0x1)/IPv4(0.0.0.0)"},
		{reference: "Boot0002", id: "2", name: "HTTP 1", path: "Pci(0x1,0x0)/MAC(525400000001,0x1)/IPv4(0.0.0.0)/Uri()"},
		{reference: "Boot0003", id: "3", name: "PXE 2", path: "Pci(0x2,0x0)/MAC(525400000002,0x1)/IPv4(0.0.0.0)"},
		{reference: "Boot0004", id: "4", name: "Disk", path: "Pci(0x3,0x0)/NVMe(0x1,00-00)"},
		{reference: "Boot0005", id: "5", name: "Shell"},
		{reference: "Boot0006", id: "6", name: "PXE off", path: "Pci(0x4,0x0)/MAC(525400000004,0x1)/IPv4(0.0.0.0)", disabled: true},
	}
}

func TestResolve(t *testing.T) {
	now := []string{"Boot0004", "Boot0001", "Boot0002", "Boot0003", "Boot0005"}
	cases := map[string]struct {
		reason string
		words  []string
		want   []string
		offers string
	}{
		"References": {reason: "As they are.", words: []string{"boot0003", "Boot0001"}, want: []string{"Boot0003", "Boot0001"}},
		"Alias":      {reason: "All of a kind, in the order that they have.", words: []string{"Pxe", "Hdd"}, want: []string{"Boot0001", "Boot0003", "Boot0004"}},
		"MAC":        {reason: "All of a NIC.", words: []string{"52-54-00-00-00-01"}, want: []string{"Boot0001", "Boot0002"}},
		"Overlap":    {reason: "Each once, where it's named first.", words: []string{"Boot0003", "Pxe"}, want: []string{"Boot0003", "Boot0001"}},
		"Name":       {reason: "By display name.", words: []string{"disk"}, want: []string{"Boot0004"}},
		"ID":         {reason: "By id.", words: []string{"5"}, want: []string{"Boot0005"}},
		"Unknown":    {reason: "Refused, with what there is.", words: []string{"Boot0001", "Cd"}, offers: "Boot0001 (PXE 1)"},
		"NotInIt":    {reason: "One that the order doesn't have isn't put into it.", words: []string{"Boot0006"}, offers: "Boot0001 (PXE 1)"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := resolve(tc.words, now, optionsOfMachine())
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nresolve(...): -want, +got:\n%s", tc.reason, diff)
			}
			var e *Error
			if tc.offers != "" && (!IsUnsupported(err) || !asError(err, &e) || !strings.Contains(strings.Join(e.Offers, ", "), tc.offers)) {
				t.Errorf("\n%s\nresolve(...): got %v, want unsupported with %q", tc.reason, err, tc.offers)
			}
		})
	}
}

func TestArranged(t *testing.T) {
	now := []string{"a", "b", "c", "d"}
	if diff := cmp.Diff([]string{"c", "b", "a", "d"}, arranged(now, []string{"c", "b"})); diff != "" {
		t.Errorf("what isn't named comes behind, nothing is dropped: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a", "b", "c", "d"}, now); diff != "" {
		t.Errorf("the order itself was changed: %s", diff)
	}
}

func TestPutBack(t *testing.T) {
	plan := OrderPlan{Was: []string{"disk", "cd", "nic", "shell"}, First: "nic"}
	cases := map[string]struct {
		reason string
		plan   OrderPlan
		now    []string
		want   []string
	}{
		"AsItWas":     {reason: "Nobody changed it meanwhile.", plan: plan, now: []string{"nic", "disk", "cd", "shell"}, want: []string{"disk", "cd", "nic", "shell"}},
		"Installed":   {reason: "An operating system has an entry of its own by now, which stays.", plan: plan, now: []string{"nic", "ubuntu", "disk", "cd", "shell"}, want: []string{"ubuntu", "disk", "cd", "nic", "shell"}},
		"InstalledAt": {reason: "In front of it: the machine boots that, which is as it should be.", plan: plan, now: []string{"ubuntu", "nic", "disk", "cd", "shell"}, want: []string{"ubuntu", "nic", "disk", "cd", "shell"}},
		"Gone":        {reason: "What it came behind is gone: behind what came before that.", plan: plan, now: []string{"nic", "disk", "shell"}, want: []string{"disk", "nic", "shell"}},
		"AllGone":     {reason: "Nothing is left that it came behind.", plan: plan, now: []string{"nic", "shell"}, want: []string{"nic", "shell"}},
		"WasFirst":    {reason: "It was the first anyway.", plan: OrderPlan{Was: []string{"nic", "disk"}, First: "nic"}, now: []string{"nic", "disk"}, want: []string{"nic", "disk"}},
		"Unknown":     {reason: "A plan that makes no sense changes nothing.", plan: OrderPlan{Was: []string{"disk"}, First: "nic"}, now: []string{"nic", "disk"}, want: []string{"nic", "disk"}},
		"Empty":       {reason: "Nor does no order.", plan: plan},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, putBack(tc.now, tc.plan)); diff != "" {
				t.Errorf("\n%s\nputBack(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestClimbs(t *testing.T) {
	for reason, tc := range map[string]struct {
		err  error
		want bool
	}{
		"what a BMC hasn't got":             {unoffered("x", nil), true},
		"what it does nothing about":        {noEffect("x"), true},
		"what it refuses to write":          {&Error{Kind: Refused, Status: 400}, true},
		"what it can't write":               {&Error{Kind: Refused, Status: 405}, true},
		"a BMC that is busy":                {&Error{Kind: Unreachable, Status: 503}, false},
		"one that is in the middle of it":   {&Error{Kind: Refused, Status: 409}, false},
		"an error after which nobody knows": {&Error{Kind: Refused, Status: 500}, false},
		"a user who may not":                {&Error{Kind: Forbidden, Status: 403}, false},
	} {
		if got := climbs(tc.err); got != tc.want {
			t.Errorf("%s: got %v, want %v", reason, got, tc.want)
		}
	}
}

// TestBootInAnotherCase: words are compared as the schema spells them, and an override without a target is one.
func TestBootInAnotherCase(t *testing.T) {
	s, err := decodeSystem("/s", []byte(`{"Boot":{"BootSourceOverrideTarget":" pxe","BootSourceOverrideEnabled":"ONCE","BootSourceOverrideMode":"uefi",
		"BootSourceOverrideEnabled@Redfish.AllowableValues":["once","DISABLED"],"BootSourceOverrideTarget@Redfish.AllowableValues":["PXE"]}}`), "")
	w := setting{target: listed(s.Boot.Targets, targetPxe), enabled: EnabledOnce, mode: modeUEFI}
	if err != nil || s.Boot.Target != targetPxe || s.Boot.Enabled != EnabledOnce || s.Boot.Mode != modeUEFI || !w.reached(s.Boot, quirk.Facts{}) || len(s.Boot.Enabling) != 2 || s.Boot.Enabling[1] != EnabledDisabled {
		t.Errorf("%+v, %v", s.Boot, err)
	}
	for body, want := range map[string]bool{
		`{"BootSourceOverrideTarget":null,"BootSourceOverrideEnabled":"Disabled"}`: true,
		`{"BootSourceOverrideTarget":null,"BootSourceOverrideEnabled":null}`:       false,
		`{"BootSourceOverrideMode":"UEFI","BootOrder":["a"]}`:                      false,
		`{"BootSourceOverrideEnabled":"Disabled"}`:                                 false,
	} {
		s, err := decodeSystem("/s", []byte(`{"Boot":`+body+`}`), "")
		if err != nil || s.Boot.takesOverride() != want || !s.Boot.Idle() {
			t.Errorf("%s takes an override: %t, %v", body, s.Boot.takesOverride(), err)
		}
	}
}
