package inventory

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Most entries of the lists that are shown.
const (
	maxProcessors = 8
	maxModules    = 8
	maxDrives     = 64
	maxNICs       = 32
	maxPorts      = 16
	maxDevices    = 32
	maxSupplies   = 16
	maxProblems   = 16
)

// Merge makes an inventory of all that was read.
func Merge(r *Raw) Inventory {
	inv := Inventory{Refused: slices.Sorted(maps.Keys(r.refused)), Partial: r.refused[PartMACs] || r.refused[PartSystem], Readings: r.readings(), Clock: r.Clock}
	inv.MACs, inv.Discarded = mergeMACs(r.found(), r.own)
	for _, m := range r.Managers {
		if w := word(m.FirmwareVersion); w != "" {
			inv.Firmware, inv.BMCModel = w, word(m.Model)

			break
		}
	}
	for _, c := range r.Chassis {
		if inv.Model = word(c.Model); inv.Model != "" {
			inv.Manufacturer = word(c.Manufacturer)

			break
		}
	}
	s, m := r.System, &inv.Machine
	m.BIOSVersion = word(s.BIOSVersion)
	m.BootMode, m.TPM = oneOf(s.Boot.Mode, "UEFI", "Legacy"), r.tpm()
	m.SecureBoot = oneOf(r.SecureBoot.Current, "Enabled", "Disabled")
	m.Processors, m.Accelerators = r.processors(m)
	m.Architecture = r.architecture()
	m.Memory = r.memory(m)
	m.Drives = r.drives(m)
	m.NICs = r.nics(m, inv.MACs)
	m.PCIe = r.pcie(m)
	m.PowerSupplies = r.supplies(m)
	m.Problems = r.problems(m)
	slices.Sort(m.Truncated)

	return inv
}

// cut bounds a list, and notes where it did.
func cut[T any](m *Machine, name string, list []T, most int) []T {
	if len(list) <= most {
		return list
	}
	m.Truncated = append(m.Truncated, name)

	return list[:most]
}

// absent says whether a slot is empty.
func (n Named) absent() bool { return oneOf(n.Status.State, "Absent") != "" }

// groups counts equal things, those that there are most of first.
func groups[T comparable](things []T, counted func(T, int64) T, less func(a, b T) int) []T {
	counts := map[T]int64{}
	for _, t := range things {
		counts[t]++
	}
	keys := slices.Collect(maps.Keys(counts))
	slices.SortFunc(keys, func(a, b T) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), less(a, b), strings.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
	out := make([]T, 0, len(keys))
	for _, k := range keys {
		out = append(out, counted(k, counts[k]))
	}

	return out
}

func (r *Raw) processors(m *Machine) (cpus []Processor, accelerators []Device) {
	for _, p := range r.Processors {
		kind := first(p.Type)
		switch {
		case p.absent():
		case kind == "" || strings.EqualFold(kind, "CPU"):
			cpus = append(cpus, Processor{Model: word(p.Model), Manufacturer: word(p.Manufacturer), Cores: whole(p.Cores), Threads: whole(p.Threads)})
		case strings.EqualFold(kind, "Core"), strings.EqualFold(kind, "Thread"):
		default:
			accelerators = append(accelerators, Device{Kind: kind, Manufacturer: word(p.Manufacturer), Model: word(p.Model)})
		}
	}
	gpus := len(accelerators) > 0
	for _, d := range r.Devices {
		if !gpus && !d.absent() && deviceGPU.MatchString(string(d.ID)) {
			accelerators = append(accelerators, Device{Kind: "GPU", Manufacturer: word(d.Manufacturer), Model: first(d.Model, d.Name)})
		}
	}
	for _, a := range r.adapters {
		if model := word(a.body.Model); deviceDPU.MatchString(model) && a.body.Physical == nil {
			accelerators = append(accelerators, Device{Kind: "DPU", Manufacturer: word(a.body.Manufacturer), Model: model})
		}
	}
	all := groups(cpus, func(p Processor, n int64) Processor { p.Count = n; return p }, func(a, b Processor) int { return strings.Compare(a.Model, b.Model) })

	return cut(m, "processors", all, maxProcessors), cut(m, "accelerators", grouped(accelerators), maxDevices/2)
}

// GPUs that are listed as PCIe devices only (Supermicro X13), and adapters that
// are computers of their own.
var (
	deviceGPU = regexp.MustCompile(`(?i)^GPU[ _.-]?\d*$`)
	deviceDPU = regexp.MustCompile(`(?i)BlueField|\bDPU\b`)
)

func grouped(devices []Device) []Device {
	return groups(devices, func(d Device, n int64) Device { d.Count = n; return d }, func(a, b Device) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Model, b.Model), strings.Compare(a.Manufacturer, b.Manufacturer))
	})
}

// Words by which processors tell their architecture, where no property does.
var (
	wordsARM = regexp.MustCompile(`(?i)\bARM|Grace|BlueField|Ampere|Altra|Neoverse|ThunderX|Kunpeng`)
	wordsX86 = regexp.MustCompile(`(?i)x86|Intel|Xeon|\bAMD\b|EPYC|Advanced Micro Devices`)
)

func (r *Raw) architecture() string {
	said := []text{r.System.ProcessorSummary.Model, r.System.Model}
	for _, p := range r.Processors {
		if kind := word(p.Type); kind == "" || strings.EqualFold(kind, "CPU") {
			said = append(said, p.Instructions, p.Architecture, p.Model, p.Manufacturer)
		}
	}
	for _, s := range said {
		switch {
		case wordsARM.MatchString(string(s)):
			return "arm64"
		case wordsX86.MatchString(string(s)):
			return "amd64"
		}
	}

	return ""
}

func (r *Raw) tpm() string {
	for _, t := range r.System.TrustedModules {
		if w := word(t.Type); w != "" && oneOf(t.Status.State, "Absent", "Disabled") == "" {
			return w
		}
	}

	return ""
}

func (r *Raw) memory(m *Machine) Memory {
	const mebi, gibi = 1 << 20, 1 << 30
	var out Memory
	var modules []Module
	for _, b := range r.Memory {
		bytes := min(whole(b.MiB), 1<<40) * mebi
		if bytes == 0 || b.absent() {
			continue
		}
		out.Bytes += bytes
		modules = append(modules, Module{Bytes: bytes, Type: word(b.Type), Manufacturer: word(b.Manufacturer), SpeedMHz: whole(b.SpeedMHz)})
	}
	if out.Bytes <= 0 {
		out.Bytes = min(whole(r.System.MemorySummary.GiB), 1<<30) * gibi
	}
	all := groups(modules, func(x Module, n int64) Module { x.Count = n; return x }, func(a, b Module) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), strings.Compare(a.Manufacturer+a.Type, b.Manufacturer+b.Type), cmp.Compare(a.SpeedMHz, b.SpeedMHz))
	})
	out.Modules = cut(m, "memory", all, maxModules)

	return out
}
