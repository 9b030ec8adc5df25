package inventory

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

func (r *Raw) drives(m *Machine) []Drive {
	bodies := slices.Clone(r.Drives)
	for _, s := range r.Storage {
		if len(r.Drives) > 0 {
			break
		}
		bodies = append(bodies, s.Devices...) // SimpleStorage, where there's nothing else.
	}
	var out []Drive
	for _, b := range bodies {
		d := Drive{ID: first(b.ID, b.Name), Model: word(b.Model), Serial: word(b.SerialNumber), Bytes: whole(b.Bytes), Type: b.kind(), Health: b.Status.verdict()}
		if b.absent() || d.Model == "" && d.Serial == "" && d.Bytes == 0 {
			continue
		}
		twice := func(o Drive) bool { return d.Serial != "" && o.Serial == d.Serial && o.Model == d.Model }
		if !slices.ContainsFunc(out, twice) {
			out = append(out, d)
		}
	}
	slices.SortStableFunc(out, func(a, b Drive) int {
		return cmp.Or(strings.Compare(a.ID, b.ID), strings.Compare(a.Serial, b.Serial))
	})

	return cut(m, "drives", out, maxDrives)
}

// kind of a drive.
func (b DriveBody) kind() string {
	switch {
	case oneOf(b.Protocol, "NVMe", "NVMeOverFabrics", "PCIe") != "":
		return "NVMe"
	default:
		return oneOf(b.MediaType, "SSD", "HDD")
	}
}

// nics are the adapters, with those of their addresses that are the machine's.
// HPE's own list of adapters adds those that aren't in the standard's.
func (r *Raw) nics(m *Machine, macs []MAC) []NIC {
	shown, told := map[string]bool{}, map[string]bool{}
	for _, mac := range macs {
		shown[mac.Address] = true
	}
	var out []NIC
	for _, a := range r.adapters {
		n := NIC{ID: word(a.body.ID), Manufacturer: word(a.body.Manufacturer), Model: first(a.body.Model, a.body.Name)}
		n.Ports = a.portsOf(shown, told)
		if a.body.Physical != nil && len(n.Ports) == 0 {
			continue
		}
		if len(n.Ports) > maxPorts {
			n.Ports = n.Ports[:maxPorts]
		}
		out = append(out, n)
	}
	slices.SortStableFunc(out, func(a, b NIC) int {
		return cmp.Or(strings.Compare(a.ID, b.ID), strings.Compare(a.Model, b.Model))
	})

	return cut(m, "nics", out, maxNICs)
}

// portsOf lists ports first, and functions that have an address of their own.
// Each address is told once, of all adapters.
func (a *Adapter) portsOf(shown, told map[string]bool) []Port {
	var out []Port
	for _, f := range slices.Concat(a.ports, a.functions) {
		if f.reason != "" || !shown[f.Address] || told[f.Address] {
			continue
		}
		told[f.Address] = true
		i := slices.IndexFunc(out, func(p Port) bool { return p.ID == f.Port })
		if i < 0 {
			i = len(out)
			out = append(out, Port{ID: f.Port})
		}
		out[i].MACs = append(out[i].MACs, f.Address)
	}

	return out
}

func (r *Raw) pcie(m *Machine) []Device {
	var out []Device
	for _, b := range r.Devices {
		d := Device{Manufacturer: word(b.Manufacturer), Model: first(b.Model, b.Name)}
		if !b.absent() && oneOf(b.Status.State, "Disabled") == "" && d.Model != "" {
			out = append(out, d)
		}
	}

	return cut(m, "pcie", grouped(out), maxDevices)
}

func (r *Raw) supplies(m *Machine) []PowerSupply {
	var out []PowerSupply
	for i, b := range r.Supplies {
		p := PowerSupply{ID: first(b.ID, b.MemberID, b.Name), Model: word(b.Model), Watts: whole(b.Watts), Health: b.Status.verdict()}
		if b.absent() || p.Model == "" && p.Watts == 0 && p.Health == "" {
			continue
		}
		if p.ID == "" {
			p.ID = strconv.Itoa(i)
		}
		out = append(out, p)
	}
	slices.SortStableFunc(out, func(a, b PowerSupply) int { return strings.Compare(a.ID, b.ID) })

	return cut(m, "powerSupplies", out, maxSupplies)
}

// verdict is the worst that a resource says of its own health.
func (s Status) verdict() string {
	for _, h := range []string{Critical, Warning, OK} {
		if oneOf(s.Health, h) != "" || oneOf(s.HealthRollup, h) != "" {
			return h
		}
	}

	return ""
}

// Words of health, best last.
const (
	Critical = "Critical"
	Warning  = "Warning"
	OK       = "OK"
)

func worse(a, b string) int {
	rank := func(h string) int { return slices.Index([]string{Critical, Warning, OK, ""}, h) }

	return cmp.Compare(rank(a), rank(b))
}

// problems are the components to blame, the worst first. What holds others
// (storage, chassis, the System) is named where nothing in it is to blame.
func (r *Raw) problems(m *Machine) []Problem {
	var out, holders []Problem
	add := func(to *[]Problem, kind string, n Named) {
		health := n.Status.verdict()
		if n.absent() || (health != Critical && health != Warning) {
			return
		}
		p := Problem{Component: strings.TrimSpace(kind + " " + first(n.ID, n.MemberID, n.Name)), Health: health}
		for _, c := range n.Status.Conditions {
			if p.Message == "" {
				p.Message = bounded(string(c.Message), maxMessage)
			}
		}
		if !slices.Contains(*to, p) {
			*to = append(*to, p)
		}
	}
	each(&out, add, "processor", r.Processors, func(b ProcessorBody) Named { return b.Named })
	each(&out, add, "memory", r.Memory, func(b MemoryBody) Named { return b.Named })
	each(&out, add, "drive", r.Drives, func(b DriveBody) Named { return b.Named })
	each(&out, add, "adapter", r.adapters, func(a *Adapter) Named { return a.body.Named })
	each(&out, add, "device", r.Devices, func(b DeviceBody) Named { return b.Named })
	each(&out, add, "power supply", r.Supplies, func(b SupplyBody) Named { return b.Named })
	each(&holders, add, "storage", r.Storage, func(b StorageBody) Named { return b.Named })
	for _, s := range r.Storage {
		each(&out, add, "storage controller", s.Controllers, func(n Named) Named { return n })
	}
	each(&holders, add, "chassis", r.Chassis, func(b Chassis) Named { return b.Named })
	each(&holders, add, "BMC", r.Managers, func(b Manager) Named { return b.Named })
	worst := ""
	for _, p := range out {
		if worse(p.Health, worst) < 0 {
			worst = p.Health
		}
	}
	for _, p := range holders {
		if worse(p.Health, worst) < 0 {
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(a, b Problem) int {
		return cmp.Or(worse(a.Health, b.Health), strings.Compare(a.Component, b.Component), strings.Compare(a.Message, b.Message))
	})

	return cut(m, "problems", out, maxProblems)
}

func each[T any](to *[]Problem, add func(*[]Problem, string, Named), kind string, things []T, of func(T) Named) {
	for _, t := range things {
		add(to, kind, of(t))
	}
}
