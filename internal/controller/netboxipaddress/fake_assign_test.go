package netboxipaddress

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// A rack is what a fakeNetBox knows of devices.
type rack struct {
	holders    []netbox.Holder
	interfaces []netbox.Interface
	changes    []netbox.Change
	why        []string
	// ages are how old what's known of LAGs' ports was to be.
	ages []time.Duration
}

// FindHolder finds by number or name.
func (f *fakeNetBox) FindHolder(_ context.Context, r netbox.HolderRef) (netbox.Holder, error) {
	if err := f.call("FindHolder"); err != nil {
		return netbox.Holder{}, err
	}
	for _, h := range f.rack.holders {
		if r.Names(h.Kind, h.ID, h.Name) && (r.Site == "" || r.Site == h.Site) {
			return h, nil
		}
	}
	return netbox.Holder{}, &netbox.Error{Kind: netbox.KindNotFound, Op: "find the " + string(r.Kind), Subject: r.Name}
}

// SeenHolder is always of now.
func (f *fakeNetBox) SeenHolder(_ context.Context, kind netbox.HolderKind, number int64, _ time.Duration) (netbox.Holder, bool, error) {
	if err := f.call("SeenHolder"); err != nil {
		return netbox.Holder{}, false, err
	}
	i := f.holder(kind, number)
	if i < 0 {
		return netbox.Holder{}, false, nil
	}
	return f.rack.holders[i], true, nil
}

func (f *fakeNetBox) holder(kind netbox.HolderKind, number int64) int {
	return slices.IndexFunc(f.rack.holders, func(h netbox.Holder) bool { return h.Kind == kind && h.ID == number })
}

// FindInterface finds by number, name or MAC address.
func (f *fakeNetBox) FindInterface(_ context.Context, h *netbox.Holder, r netbox.InterfaceRef) (netbox.Interface, error) {
	if err := f.call("FindInterface"); err != nil {
		return netbox.Interface{}, err
	}
	var found []netbox.Interface
	for _, i := range f.rack.interfaces {
		if h != nil && (i.Kind != h.Kind || i.Holder != h.ID) {
			continue
		}
		if (r.ID != 0 && i.ID == r.ID) || (r.Name != "" && i.Name == r.Name) || i.HasMAC(r.MACs...) {
			found = append(found, i)
		}
	}
	switch len(found) {
	case 0:
	case 1:
		return found[0], nil
	default:
		return netbox.Interface{}, kind(netbox.KindAmbiguous)
	}
	return netbox.Interface{}, &netbox.Error{Kind: netbox.KindNotFound, Op: "find the interface", Subject: r.String()}
}

// SeenInterface is always of now.
func (f *fakeNetBox) SeenInterface(_ context.Context, kind netbox.HolderKind, number int64, _ time.Duration) (netbox.Interface, bool, error) {
	if err := f.call("SeenInterface"); err != nil {
		return netbox.Interface{}, false, err
	}
	for _, i := range f.rack.interfaces {
		if i.Kind == kind && i.ID == number {
			return i, true, nil
		}
	}
	return netbox.Interface{}, false, nil
}

// SeenMembers is always of now.
func (f *fakeNetBox) SeenMembers(_ context.Context, lag int64, maxAge time.Duration) ([]netbox.Interface, error) {
	f.rack.ages = append(f.rack.ages, maxAge)
	if err := f.call("SeenMembers"); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(f.rack.interfaces), func(i netbox.Interface) bool { return i.LAG != lag }), nil
}

// Seat refuses what NetBox does: an address that isn't on the holder.
func (f *fakeNetBox) Seat(_ context.Context, of netbox.HolderKind, number int64, seat netbox.Seat, from, to int64) (netbox.Holder, error) {
	if err := f.call("Seat"); err != nil {
		return netbox.Holder{}, err
	}
	i := f.holder(of, number)
	if i < 0 || f.rack.holders[i].Seated[seat].ID != from {
		return netbox.Holder{}, kind(netbox.KindConflict)
	}
	if to == 0 {
		delete(f.rack.holders[i].Seated, seat)
		return f.rack.holders[i], f.lose["Seat"]
	}
	r := slices.IndexFunc(f.records, func(ip netbox.IPAddress) bool { return ip.ID == to })
	if r < 0 || f.records[r].Assigned == nil || f.records[r].Assigned.Holder != number {
		return netbox.Holder{}, kind(netbox.KindInvalid)
	}
	f.rack.holders[i].Seated[seat] = netbox.Seated{ID: to, Address: f.records[r].Address.String()}
	return f.rack.holders[i], f.lose["Seat"]
}

// reassign moves a record as NetBox lets it: not one in a seat, to another holder.
func (f *fakeNetBox) reassign(r *netbox.IPAddress, to *netbox.Place) error {
	if to == nil {
		return nil
	}
	for _, h := range f.rack.holders {
		for _, s := range h.Seated {
			if s.ID == r.ID && (to.Kind != h.Kind || to.Holder != h.ID) {
				return kind(netbox.KindMarkerTaken)
			}
		}
	}
	r.Assigned = nil
	if to.ID != 0 {
		r.Assigned = to
	}
	return nil
}

// Changes are the same of everything.
func (f *fakeNetBox) Changes(context.Context, int64) ([]netbox.Change, error) {
	return f.rack.changes, f.call("Changes")
}

// HolderChanges are the same of everything.
func (f *fakeNetBox) HolderChanges(context.Context, netbox.HolderKind, int64) ([]netbox.Change, error) {
	return f.rack.changes, f.call("HolderChanges")
}

// Explain says what it's told to.
func (f *fakeNetBox) Explain(context.Context, netbox.Request) []string {
	_ = f.call("Explain")
	return f.rack.why
}

// JSONFields are ordered.
func (f *fakeNetBox) JSONFields(context.Context) (map[string]bool, error) {
	return map[string]bool{"ordered": true}, f.call("JSONFields")
}

// aRack has a device and a virtual machine with two interfaces each, and a second device.
func aRack() rack {
	at := func(kind netbox.HolderKind, holder int64, name string, id int64, iface, mac string) netbox.Interface {
		return netbox.Interface{Place: netbox.Place{Kind: kind, ID: id, Name: iface, Holder: holder, HolderName: name}, MACs: []string{mac}}
	}
	h := func(kind netbox.HolderKind, id int64, name, serial string) netbox.Holder {
		return netbox.Holder{Kind: kind, ID: id, Name: name, Site: "fra1", Serial: serial, Seated: map[netbox.Seat]netbox.Seated{}}
	}
	return rack{
		holders: []netbox.Holder{h(netbox.Device, 1, "r7-u12", "ABC"), h(netbox.Device, 2, "r7-u13", ""), h(netbox.VirtualMachine, 1, "vm-1", "")},
		interfaces: []netbox.Interface{
			at(netbox.Device, 1, "r7-u12", 11, "eno1", "52:54:00:00:00:01"), at(netbox.Device, 1, "r7-u12", 12, "eno2", "52:54:00:00:00:02"),
			at(netbox.Device, 2, "r7-u13", 13, "eno1", "52:54:00:00:00:03"), at(netbox.VirtualMachine, 1, "vm-1", 11, "eth0", "52:54:00:00:00:04"),
		},
	}
}

// elsewhere is the interface of the second device.
func (r rack) elsewhere() *netbox.Place {
	i := slices.IndexFunc(r.interfaces, func(i netbox.Interface) bool { return i.HolderName == "r7-u13" })
	return &r.interfaces[i].Place
}

// seated lists who sits where.
func (r rack) seated() []string {
	var out []string
	for _, h := range r.holders {
		for seat, s := range h.Seated {
			out = append(out, h.Name+" "+string(seat)+" "+s.Address)
		}
	}
	slices.SortFunc(out, cmp.Compare[string])
	return out
}
