package inventory

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/lenient"
)

// said decodes a body as a BMC sends it.
func said[T any](t *testing.T, body string) T {
	t.Helper()
	var b T
	if err := lenient.Decode([]byte(body), &b); err != nil {
		t.Fatalf("%v: %s", err, body)
	}

	return b
}

func TestMergeMachine(t *testing.T) {
	cases := map[string]struct {
		reason string
		say    func(t *testing.T, r *Raw)
		want   Machine
	}{
		"Nothing": {reason: "A BMC that tells nothing.", say: func(*testing.T, *Raw) {}},
		"Grouped": {reason: "Equal parts are counted, and empty sockets aren't.", say: func(t *testing.T, r *Raw) {
			t.Helper()
			cpu := said[ProcessorBody](t, `{"Id":"1","ProcessorType":"CPU","Model":" Xeon  Gold ","Manufacturer":"Intel","TotalCores":18,"TotalThreads":"36"}`)
			r.Processors = []ProcessorBody{cpu, cpu, said[ProcessorBody](t, `{"Model":"Xeon Gold","Status":{"State":"Absent"}}`), said[ProcessorBody](t, `{"ProcessorType":"GPU","Model":"H100"}`)}
			dimm := said[MemoryBody](t, `{"CapacityMiB":1024,"MemoryDeviceType":"DDR4","OperatingSpeedMhz":3200,"Manufacturer":"N/A"}`)
			r.Memory = []MemoryBody{dimm, said[MemoryBody](t, `{"CapacityMiB":null,"Status":{"State":"Absent"}}`), dimm}
		}, want: Machine{
			Architecture: "amd64", Processors: []Processor{{Model: "Xeon Gold", Manufacturer: "Intel", Cores: 18, Threads: 36, Count: 2}},
			Memory:       Memory{Bytes: 2 << 30, Modules: []Module{{Bytes: 1 << 30, Type: "DDR4", SpeedMHz: 3200, Count: 2}}},
			Accelerators: []Device{{Kind: "GPU", Model: "H100", Count: 1}},
		}},
		"Summary": {reason: "What isn't listed piece by piece is told in all.", say: func(t *testing.T, r *Raw) {
			t.Helper()
			r.System = said[System](t, `{"BiosVersion":"1.8.2","Boot":{"BootSourceOverrideMode":"uefi"},"ProcessorSummary":{"Model":"ARMv9"},"MemorySummary":{"TotalSystemMemoryGiB":960},
				"TrustedModules":{"InterfaceType":"TPM2_0","Status":{"State":"Enabled"}}}`)
			r.SecureBoot = said[SecureBootBody](t, `{"SecureBootCurrentBoot":"Disabled"}`)
		}, want: Machine{BIOSVersion: "1.8.2", BootMode: "UEFI", Architecture: "arm64", TPM: "TPM2_0", SecureBoot: "Disabled", Memory: Memory{Bytes: 960 << 30}}},
		"Drifted": {reason: "What can't be meant isn't there.", say: func(t *testing.T, r *Raw) {
			t.Helper()
			r.System = said[System](t, `{"BiosVersion":{},"TrustedModules":[null,{"InterfaceType":"TPM2_0","Status":{"State":"Absent"}}],"MemorySummary":null,"Oem":[],"Links":"x","Actions":null}`)
			r.Processors = []ProcessorBody{said[ProcessorBody](t, `{"ProcessorType":null,"Model":"AMD EPYC","InstructionSet":[{"Member":"x86-64"}],"TotalCores":-4,"Status":"OK"}`)}
		}, want: Machine{Architecture: "amd64", Processors: []Processor{{Model: "AMD EPYC", Count: 1}}}},
		"Drives": {reason: "By id; a bay that's empty is none, and a drive that two places list is one.", say: func(t *testing.T, r *Raw) {
			t.Helper()
			b := said[DriveBody](t, `{"Id":"b","Model":"M","SerialNumber":"2","CapacityBytes":10,"MediaType":"ssd","Protocol":"NVMe","Status":{"Health":"OK"}}`)
			r.Drives = []DriveBody{b, said[DriveBody](t, `{"Id":"a","Model":"M","SerialNumber":"1","MediaType":"HDD"}`), b, said[DriveBody](t, `{"Id":"c","Name":"Empty Bay"}`)}
			r.Storage = []StorageBody{said[StorageBody](t, `{"Devices":[{"Name":"old","Model":"O"}]}`)}
		}, want: Machine{Drives: []Drive{{ID: "a", Model: "M", Serial: "1", Type: "HDD"}, {ID: "b", Model: "M", Serial: "2", Bytes: 10, Type: "NVMe", Health: "OK"}}}},
		"OldDrives": {reason: "SimpleStorage, where there's nothing else.", say: func(t *testing.T, r *Raw) {
			t.Helper()
			r.Storage = []StorageBody{said[StorageBody](t, `{"Devices":[{"Name":"old","Model":"O"},null]}`)}
		}, want: Machine{Drives: []Drive{{ID: "old", Model: "O"}}}},
		"Devices": {reason: "GPUs that are PCIe devices only.", say: func(t *testing.T, r *Raw) {
			t.Helper()
			r.Devices = []DeviceBody{said[DeviceBody](t, `{"Id":"GPU1","Model":"H100"}`), said[DeviceBody](t, `{"Id":"GPU2","Model":"H100"}`), said[DeviceBody](t, `{"Id":"0-1","Name":"SATA","Status":{"State":"Disabled"}}`)}
		}, want: Machine{Accelerators: []Device{{Kind: "GPU", Model: "H100", Count: 2}}, PCIe: []Device{{Model: "H100", Count: 2}}}},
		"Supplies": {reason: "One that says nothing isn't there (AMI).", say: func(t *testing.T, r *Raw) {
			t.Helper()
			r.Supplies = said[PowerBody](t, `{"PowerSupplies":[{"MemberId":"1","Name":"PS2","PowerCapacityWatts":2400,"Status":{"Health":"Critical"}},{"MemberId":0,"Model":"P","Status":{"Health":"OK"}},{"MemberId":"2","Name":"nil","Status":null}]}`).PowerSupplies
		}, want: Machine{
			PowerSupplies: []PowerSupply{{ID: "0", Model: "P", Health: "OK"}, {ID: "1", Watts: 2400, Health: "Critical"}},
			Problems:      []Problem{{Component: "power supply 1", Health: "Critical"}},
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := &Raw{}
			tc.say(t, r)
			if diff := cmp.Diff(tc.want, Merge(r).Machine, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("\n%s\nMerge(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestProblems(t *testing.T) {
	const bad, worst = `{"Id":"x","Status":{"Health":"Warning"}}`, `{"Id":"x","Status":{"HealthRollup":"Critical","Conditions":[{"Message":"too\nhot"}]}}`
	cases := map[string]struct {
		reason string
		say    func(t *testing.T, r *Raw)
		want   []Problem
	}{
		"Part": {reason: "What holds a bad part isn't to blame.", say: func(t *testing.T, r *Raw) {
			t.Helper()
			r.Drives, r.Storage = []DriveBody{said[DriveBody](t, worst)}, []StorageBody{said[StorageBody](t, worst)}
		}, want: []Problem{{"drive x", Critical, "too hot"}}},
		"Holder": {reason: "Unless it is worse.", say: func(t *testing.T, r *Raw) {
			t.Helper()
			r.Memory, r.Chassis = []MemoryBody{said[MemoryBody](t, bad)}, []Chassis{said[Chassis](t, worst)}
		}, want: []Problem{{"chassis x", Critical, "too hot"}, {"memory x", Warning, ""}}},
		"Alone": {reason: "Or there's nobody else.", say: func(t *testing.T, r *Raw) {
			t.Helper()
			r.Managers = []Manager{said[Manager](t, bad)}
		}, want: []Problem{{"BMC x", Warning, ""}}},
		"Absent": {reason: "What isn't there isn't ill.", say: func(t *testing.T, r *Raw) {
			t.Helper()
			r.Devices = []DeviceBody{said[DeviceBody](t, `{"Id":"x","Status":{"State":"Absent","Health":"Critical"}}`)}
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := &Raw{}
			tc.say(t, r)
			if diff := cmp.Diff(tc.want, Merge(r).Problems, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("\n%s\nMerge(...).Problems: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestNICs: each address once, with the adapter that lists it first, junk with none.
func TestNICs(t *testing.T) {
	r := &Raw{}
	a := r.Adapter("/a/1", said[AdapterBody](t, `{"Manufacturer":"MLNX","Model":"BlueField-2 DPU"}`))
	a.Function("/f/1", said[NICBody](t, `{"Id":"F1","Ethernet":{"PermanentMACAddress":"70:B5:E8:00:00:01"}}`))
	a.Port("/p/1", said[NICBody](t, `{"Id":"P1","Ethernet":{"AssociatedMACAddresses":["70:B5:E8:00:00:01","02:00:00:00:00:01"]}}`))
	a.Function("/f/2", said[NICBody](t, `{"Id":"F2","NetDevFuncType":"Disabled","Ethernet":{"MACAddress":"70:B5:E8:00:00:02"}}`))
	r.BaseAdapter("/b/1", said[AdapterBody](t, `{"Id":"1","Name":"the same","PhysicalPorts":[{"MacAddress":"70:b5:e8:00:00:01"}]}`))
	r.BaseAdapter("/b/2", said[AdapterBody](t, `{"Id":"2","Name":"I350","PhysicalPorts":[{"MacAddress":"70:b5:e8:00:00:03"},{"MacAddress":null}]}`))
	inv := Merge(r)
	want := []NIC{
		{ID: "1", Manufacturer: "MLNX", Model: "BlueField-2 DPU", Ports: []Port{{ID: "P1", MACs: []string{"70:b5:e8:00:00:01"}}, {ID: "F2", MACs: []string{"70:b5:e8:00:00:02"}}}},
		{ID: "2", Model: "I350", Ports: []Port{{ID: "2/1", MACs: []string{"70:b5:e8:00:00:03"}}}},
	}
	if diff := cmp.Diff(want, inv.NICs); diff != "" {
		t.Errorf("NICs: -want, +got:\n%s", diff)
	}
	macs := []MAC{
		{Address: "70:b5:e8:00:00:01", Port: "F1", Source: SourceDeviceFunction, Permanent: true},
		{Address: "70:b5:e8:00:00:02", Port: "F2", Source: SourceDeviceFunction, Enabled: "No"},
		{Address: "70:b5:e8:00:00:03", Port: "2/1", Source: SourceBaseAdapter},
	}
	if diff := cmp.Diff(macs, inv.MACs); diff != "" {
		t.Errorf("MACs: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]Device{{Kind: "DPU", Manufacturer: "MLNX", Model: "BlueField-2 DPU", Count: 1}}, inv.Accelerators); diff != "" {
		t.Errorf("accelerators: -want, +got:\n%s", diff)
	}
}

// TestTextsOfVendors: addresses that no resource lists.
func TestTextsOfVendors(t *testing.T) {
	r := &Raw{}
	if r.HasBurntIn() {
		t.Error("nothing is burnt in yet")
	}
	all := r.BootOrder([]byte(`{"BootOrderCurrent":["UEFI: SLOT15 (65/0/0) HTTP IPv4 Mellanox - A0:88:C2:C3:6F:6E"],"BootOrderNext":["UEFI: SLOT27 (4D/0/0) HTTP IPv4 Broadcom"],"BootOrderSupported":null}`))
	if all {
		t.Error("an entry that names no address is passed over")
	}
	r.BIOSNames([]byte(`{"Attributes":{"MellanoxNetworkAdapter_A088C2C36F6E__Slot15_IPv4":1,"Broadcom_70B5E8000001__Slot27_X":1,"IPv4PXESupport_00F4":"x","Long_00112233445566__X":1}}`))
	r.BaseMAC([]byte(`{"BaseMAC":"5c257308f352"}`))
	var got []string
	for _, m := range Merge(r).MACs {
		got = append(got, m.Address+" "+m.Source)
	}
	want := []string{"a0:88:c2:c3:6f:6e OemBootOrder", "70:b5:e8:00:00:01 BIOSNames", "5c:25:73:08:f3:52 BaseMAC"}
	if diff := cmp.Diff(want, got); diff != "" || !r.HasBurntIn() {
		t.Errorf("burnt in %v; -want, +got:\n%s", r.HasBurntIn(), diff)
	}
}

// TestMergeIsBounded feeds ten times more than a machine has, in two orders.
func TestMergeIsBounded(t *testing.T) {
	fill := func(r *Raw, i int) {
		id := fmt.Sprintf("%03d", i)
		named := Named{ID: text(id), Model: text("model " + strings.Repeat(id, 99)), SerialNumber: text(id), Status: Status{Health: "Warning"}}
		r.Processors = append(r.Processors, ProcessorBody{Named: named}, ProcessorBody{Named: named, Type: "GPU"})
		r.Memory = append(r.Memory, MemoryBody{Named: named, MiB: number{Value: float64(i + 1), Known: true}})
		r.Drives = append(r.Drives, DriveBody{Named: named})
		r.Devices = append(r.Devices, DeviceBody{Named: named})
		r.Supplies = append(r.Supplies, SupplyBody{Named: named})
		r.Adapter("/"+id, AdapterBody{Named: named})
	}
	const things = 200
	there, back := &Raw{}, &Raw{}
	for i := range things {
		fill(there, i)
		fill(back, things-1-i)
	}
	m := Merge(there).Machine
	lengths := []int{len(m.Processors), len(m.Memory.Modules), len(m.Drives), len(m.NICs), len(m.Accelerators), len(m.PCIe), len(m.PowerSupplies), len(m.Problems)}
	if diff := cmp.Diff([]int{8, 8, 64, 32, 16, 32, 16, 16}, lengths); diff != "" {
		t.Errorf("lengths: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"accelerators", "drives", "memory", "nics", "pcie", "powerSupplies", "problems", "processors"}, m.Truncated); diff != "" {
		t.Errorf("truncated: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(m, Merge(back).Machine); diff != "" {
		t.Errorf("the order in which a BMC lists things shows: -one, +other:\n%s", diff)
	}
}

// TestReadings: the sensors that say most, each once, and nothing that can't be.
func TestReadings(t *testing.T) {
	r := &Raw{}
	r.Power(said[PowerBody](t, `{"PowerControl":[{"PowerConsumedWatts":"708"},{"PowerConsumedWatts":99}]}`))
	r.Thermal(said[ThermalBody](t, `{"Temperatures":[null,{"Name":"DIMM 1","PhysicalContext":"Memory","ReadingCelsius":40},{"Name":"CPU1","PhysicalContext":"CPU","ReadingCelsius":50},
		{"Name":"Inlet","PhysicalContext":"Intake","ReadingCelsius":21},{"Name":"CPU1","ReadingCelsius":51},{"Name":"CPU2","PhysicalContext":"CPU","ReadingCelsius":0},
		{"Name":"GPU","PhysicalContext":"GPU","ReadingCelsius":65535},{"Name":"Gone","ReadingCelsius":9,"Status":{"State":"Absent"}}]}`))
	r.Environment(said[EnvironmentBody](t, `{"PowerWatts":{"Reading":1},"TemperatureCelsius":null}`))
	want := Readings{Watts: 708, Temperatures: []Temperature{{"Inlet", 21}, {"CPU1", 50}, {"DIMM 1", 40}}}
	if diff := cmp.Diff(want, Merge(r).Readings); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	for i := range 99 {
		r.Environment(EnvironmentBody{})
		r.sensors[len(r.sensors)-1] = sensor{Name: text(fmt.Sprint("s", i)), Celsius: number{Value: 30, Known: true}}
	}
	if n := len(Merge(r).Readings.Temperatures); n != maxSensors {
		t.Errorf("%d sensors, want %d", n, maxSensors)
	}
}
