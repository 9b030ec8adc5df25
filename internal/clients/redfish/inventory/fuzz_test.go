package inventory

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/lenient"
)

// captures are trees of real BMCs, kept outside the repository.
const captures = "../../../../../shared/testdata/redfish"

// readAll takes a body for every resource that there is.
func readAll(body []byte) *Raw {
	r := &Raw{}
	decode := func(into any) { _ = lenient.Decode(body, into) }
	r.Chassis, r.Managers, r.Storage = make([]Chassis, 1), make([]Manager, 1), make([]StorageBody, 1)
	r.Processors, r.Memory, r.Drives, r.Devices = make([]ProcessorBody, 1), make([]MemoryBody, 1), make([]DriveBody, 1), make([]DeviceBody, 1)
	for _, into := range []any{
		&r.System, &r.Chassis[0], &r.Managers[0], &r.Storage[0], &r.Processors[0], &r.Memory[0], &r.Drives[0], &r.Devices[0], &r.SecureBoot,
	} {
		decode(into)
	}
	var power PowerBody
	decode(&power)
	r.Power(power)
	var thermal ThermalBody
	decode(&thermal)
	r.Thermal(thermal)
	var environment EnvironmentBody
	decode(&environment)
	r.Environment(environment)
	var nic NICBody
	decode(&nic)
	r.Interface("/i", nic)
	r.BootOption("/b", nic)
	var adapter AdapterBody
	decode(&adapter)
	a := r.Adapter("/a", adapter)
	a.Function("/f", nic)
	a.Port("/p", nic)
	r.BaseAdapter("/base", adapter)
	r.BootOrder(body)
	r.BIOSNames(body)
	r.BaseMAC(body)

	return r
}

// FuzzMerge holds, of whatever is sent for every resource at once, that what is shown is well-formed, bounded, and the same every time.
func FuzzMerge(f *testing.F) {
	f.Add([]byte(`{"Id":"1","MACAddress":"70:B5:E8:F0:52:DC","PermanentMACAddress":null,"Status":{"Health":"Critical","Conditions":[{"Message":"x"}]}}`))
	f.Add([]byte(`{"Ethernet":{"MACAddress":5,"AssociatedMACAddresses":"70B5E8F052DC"},"AssociatedNetworkAddresses":[null,1]}`))
	f.Add([]byte(`{"UefiDevicePath":"PciRoot(0x0)/MAC(525400000001,0x1)","Links":"x","CapacityMiB":1e300,"TotalCores":-1}`))
	f.Add([]byte(`{"PowerSupplies":{"MemberId":7},"TrustedModules":"x","PhysicalPorts":[[]],"Attributes":{"a_70B5E8F052DC_b":1}}`))
	const every = 8 // There are thousands of files, many of them alike.
	files := 0
	_ = filepath.WalkDir(captures, func(path string, d fs.DirEntry, err error) error {
		if info, e := os.Stat(path); err != nil || d.IsDir() || e != nil || info.Size() > 16<<10 || !strings.HasSuffix(path, ".json") {
			return nil //nolint:nilerr // Without captures there are the seeds above.
		}
		files++
		if files%every != 0 {
			return nil
		}
		if body, err := os.ReadFile(path); err == nil { //nolint:gosec // The captures are ours.
			f.Add(body)
		}

		return nil
	})
	f.Fuzz(func(t *testing.T, body []byte) {
		inv := Merge(readAll(body))
		for _, m := range inv.MACs {
			if again, ok := ParseMAC(m.Address); !ok || again != m.Address {
				t.Errorf("%q isn't normal", m.Address)
			}
		}
		b, err := json.Marshal(inv) //nolint:musttag // It's only looked at.
		if err != nil || bytes.ContainsAny(b, "\x00\n") {
			t.Errorf("what is shown isn't on one line each (%v): %q", err, b)
		}
		if len(inv.Drives) > maxDrives || len(inv.Discarded) > maxDiscarded || len(inv.Problems) > maxProblems || inv.Memory.Bytes < 0 {
			t.Errorf("%d drives, %d discarded, %d problems, %d bytes of memory", len(inv.Drives), len(inv.Discarded), len(inv.Problems), inv.Memory.Bytes)
		}
		if diff := cmp.Diff(inv, Merge(readAll(body))); diff != "" {
			t.Errorf("two readings differ:\n%s", diff)
		}
	})
}
