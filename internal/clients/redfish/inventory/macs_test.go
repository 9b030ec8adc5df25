package inventory

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/lenient"
)

func TestParseMAC(t *testing.T) {
	cases := map[string]struct {
		reason string
		in     string
		want   string // "" is no MAC
	}{
		"Colons":    {reason: "As Dell writes it.", in: "70:B5:E8:F0:52:DC", want: "70:b5:e8:f0:52:dc"},
		"Dashes":    {reason: "As Windows does.", in: "70-b5-e8-f0-52-dc", want: "70:b5:e8:f0:52:dc"},
		"Dots":      {reason: "As Cisco does.", in: "70b5.e8f0.52dc", want: "70:b5:e8:f0:52:dc"},
		"Bare":      {reason: "As UEFI paths and BlueField's BaseMAC do.", in: "70B5E8F052DC", want: "70:b5:e8:f0:52:dc"},
		"Spaces":    {reason: "As some firmware pads.", in: " 70:b5:e8:f0:52:dc ", want: "70:b5:e8:f0:52:dc"},
		"Local":     {reason: "Virtual machines have locally administered ones.", in: "52:54:00:00:00:01", want: "52:54:00:00:00:01"},
		"Words":     {reason: "Cray says so.", in: "Not Available"},
		"Empty":     {reason: "Nothing."},
		"Zero":      {reason: "A NIC that isn't there.", in: "00:00:00:00:00:00"},
		"Broadcast": {reason: "The same.", in: "FF:FF:FF:FF:FF:FF"},
		"Multicast": {reason: "No NIC's.", in: "01:00:5e:00:00:01"},
		"Short":     {reason: "Cut off.", in: "70:b5:e8:f0:52"},
		"Guid":      {reason: "An InfiniBand GUID isn't one.", in: "b83f:d203:00a4:1bd2"},
		"Shared":    {reason: "Every BlueField has it.", in: "00:1A:CA:FF:FF:01"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, ok := ParseMAC(tc.in)
			if !ok {
				got = ""
			}
			if got != tc.want {
				t.Errorf("\n%s\nParseMAC(%q): got %q, %v; want %q", tc.reason, tc.in, got, ok, tc.want)
			}
		})
	}
}

func TestMACOfDevicePath(t *testing.T) {
	cases := map[string]struct {
		reason string
		path   string
		want   string
	}{
		"PXE":      {reason: "A NIC.", path: "PciRoot(0x7)/Pci(0x1,0x1)/Pci(0x0,0x0)/MAC(B83FD2D7F74A,0x1)/IPv4(0.0.0.0)", want: "b8:3f:d2:d7:f7:4a"},
		"First":    {reason: "Without a bus before it.", path: "MAC(5C257308F376,0x1)/Vlan(4040)", want: "5c:25:73:08:f3:76"},
		"Disk":     {reason: "A disk's own number isn't one.", path: "PciRoot(0xB)/Pci(0x3,0x0)/NVMe(0x1,01-CA-C7-06-E2-8E-E3-8C)"},
		"BMC":      {reason: "The BMC's NIC towards the host: USB and locally administered.", path: "PciRoot(0x18)/Pci(0x0,0x0)/USB(0x4,0x0)/MAC(0A8FC3A58A71,0x1)/IPv4(0.0.0.0)"},
		"Dongle":   {reason: "A real NIC on USB.", path: "PciRoot(0x18)/USB(0x4,0x0)/MAC(00E04C680001,0x1)", want: "00:e0:4c:68:00:01"},
		"VM":       {reason: "A virtual machine's NIC.", path: "PciRoot(0x0)/Pci(0x3,0x0)/MAC(525400000001,0x1)", want: "52:54:00:00:00:01"},
		"UsbClass": {reason: "UsbClass isn't USB, nor a MAC.", path: "UsbClass(0xFFFF,0xFFFF,0xFF,0xFF,0xFF)"},
		"Broken":   {reason: "Half a path.", path: "PciRoot(0x0)/MAC(5254"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, ok := MACOfDevicePath(tc.path)
			if got != tc.want || ok != (tc.want != "") {
				t.Errorf("\n%s\nMACOfDevicePath(%q): got %q, %v; want %q", tc.reason, tc.path, got, ok, tc.want)
			}
		})
	}
}

func TestMerge(t *testing.T) {
	const a, b, virtual, bmc = "70:b5:e8:00:00:0a", "70:b5:e8:00:00:0b", "52:54:00:00:00:01", "70:b5:e8:00:00:ff"
	mac := func(address, source string) MAC { return MAC{Address: address, Source: source, Port: source} }
	cases := map[string]struct {
		reason string
		found  []MAC
		own    []string
		want   []string
		junk   []string
	}{
		"None":      {reason: "Nothing found."},
		"Order":     {reason: "In the order found.", found: []MAC{mac(b, SourcePort), mac(a, SourcePort)}, want: []string{b, a}},
		"Twice":     {reason: "Each once.", found: []MAC{mac(a, SourceEthernetInterface), mac(a, SourceDeviceFunction)}, want: []string{a}},
		"Junk":      {reason: "Locally administered beside burnt-in ones.", found: []MAC{mac(a, SourceEthernetInterface), mac("02:00:00:00:00:01", SourceDeviceFunction)}, want: []string{a}, junk: []string{ReasonLocal}},
		"Virtual":   {reason: "Locally administered alone.", found: []MAC{mac(virtual, SourceEthernetInterface)}, want: []string{virtual}},
		"BMCsOwn":   {reason: "The BMC's own.", found: []MAC{mac(a, SourceEthernetInterface), mac(bmc, SourceEthernetInterface)}, own: []string{bmc}, want: []string{a}, junk: []string{ReasonBMC}},
		"SharedNIC": {reason: "One that firmware boots from is the machine's, too.", found: []MAC{mac(bmc, SourceEthernetInterface), mac(bmc, SourceBootOption)}, own: []string{bmc}, want: []string{bmc}},
		"VMBesideBMC": {
			reason: "A BMC's burnt-in address doesn't make a virtual machine's junk.",
			found:  []MAC{mac(virtual, SourceEthernetInterface), mac(bmc, SourceEthernetInterface)}, own: []string{bmc}, want: []string{virtual}, junk: []string{ReasonBMC},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			macs, junk := mergeMACs(findings(tc.found), tc.own)
			for _, m := range macs {
				got = append(got, m.Address)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nmergeMACs(...): -want, +got:\n%s", tc.reason, diff)
			}
			var reasons []string
			for _, d := range junk {
				reasons = append(reasons, d.Reason)
			}
			if diff := cmp.Diff(tc.junk, reasons); diff != "" {
				t.Errorf("\n%s\nwhy the others aren't taken: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestMergeKeepsPermanent(t *testing.T) {
	const a = "70:b5:e8:00:00:0a"
	got, _ := mergeMACs(findings([]MAC{{Address: a, Source: SourceEthernetInterface, Port: "1"}, {Address: a, Source: SourceDeviceFunction, Permanent: true}}), nil)
	if diff := cmp.Diff([]MAC{{Address: a, Source: SourceEthernetInterface, Port: "1", Permanent: true}}, got); diff != "" {
		t.Errorf("mergeMACs(...): -want, +got:\n%s", diff)
	}
}

func findings(macs []MAC) []finding {
	var out []finding
	for _, m := range macs {
		out = append(out, finding{MAC: m, raw: m.Address})
	}

	return out
}

// TestDiscarded: what one resource lists and isn't a NIC's is told with why.
func TestDiscarded(t *testing.T) {
	cases := map[string]struct {
		reason string
		body   string
		want   []Discarded
	}{
		"Good":      {reason: "Nothing to say.", body: `{"MACAddress":"70:B5:E8:F0:52:DC","PermanentMACAddress":null}`},
		"Words":     {reason: "Cray says so.", body: `{"MACAddress":"Not Available","PermanentMACAddress":""}`, want: []Discarded{{"Not Available", SourceEthernetInterface, ReasonPlaceholder}}},
		"Zero":      {reason: "A NIC that isn't there.", body: `{"MACAddress":"00:00:00:00:00:00"}`, want: []Discarded{{"00:00:00:00:00:00", SourceEthernetInterface, ReasonPlaceholder}}},
		"Multicast": {reason: "No NIC's.", body: `{"MACAddress":"01:00:5e:00:00:01"}`, want: []Discarded{{"01:00:5e:00:00:01", SourceEthernetInterface, ReasonMulticast}}},
		"GUID":      {reason: "InfiniBand's.", body: `{"MACAddress":"b83f:d203:00a4:1bd2"}`, want: []Discarded{{"b83f:d203:00a4:1bd2", SourceEthernetInterface, ReasonNotEthernet}}},
		"Shared":    {reason: "Every BlueField's.", body: `{"MACAddress":"00:1A:CA:FF:FF:01"}`, want: []Discarded{{"00:1A:CA:FF:FF:01", SourceEthernetInterface, ReasonShared}}},
		"BMC":       {reason: "The BMC's way to its host.", body: `{"MACAddress":"70:B5:E8:F0:52:DC","Links":{"HostInterface":{"@odata.id":"/x"}}}`, want: []Discarded{{"70:b5:e8:f0:52:dc", SourceEthernetInterface, ReasonHostInterface}}},
		"Path":      {reason: "The same in a boot path.", body: `{"UefiDevicePath":"PciRoot(0x18)/USB(0x4,0x0)/MAC(0A8FC3A58A71,0x1)"}`, want: []Discarded{{"0a:8f:c3:a5:8a:71", SourceEthernetInterface, ReasonHostInterface}}},
		"Hostile":   {reason: "On one line, and short.", body: `{"MACAddress":"a\nb\u0000` + strings.Repeat("x", 99) + `"}`, want: []Discarded{{"a b " + strings.Repeat("x", 28), SourceEthernetInterface, ReasonPlaceholder}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var b NICBody
			if err := lenient.Decode([]byte(tc.body), &b); err != nil {
				t.Fatal(err)
			}
			r := &Raw{}
			r.Interface("/nics/1", b)
			if diff := cmp.Diff(tc.want, Merge(r).Discarded); diff != "" {
				t.Errorf("\n%s\nMerge(...).Discarded: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestDuplicate: of two ports of one place with one address (AMI), the second is told.
func TestDuplicate(t *testing.T) {
	r := &Raw{}
	for _, id := range []text{"1", "2"} {
		r.Interface("/nics", NICBody{ID: id, MAC: "B4:2E:99:BA:DE:15"})
	}
	inv := Merge(r)
	if len(inv.MACs) != 1 || inv.MACs[0].Port != "1" || len(inv.Discarded) != 1 || inv.Discarded[0].Reason != ReasonDuplicate {
		t.Errorf("got %+v, %+v", inv.MACs, inv.Discarded)
	}
}
