package netboxipaddress

import (
	"context"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

const testNote = "crossplane_released"

// crashed is what a failpoint panics with.
type crashed string

func (f *fakeNetBox) FindHost(_ context.Context, a netip.Addr, vrf *netbox.VRF) ([]netbox.IPAddress, error) {
	var out []netbox.IPAddress
	for _, ip := range f.records {
		if ip.Address.Addr() == a && (ip.VRF == nil) == (vrf == nil) && (vrf == nil || vrf.ID == ip.VRF.ID) {
			out = append(out, ip)
		}
	}
	return out, f.call("FindHost")
}

func errKind(k netbox.Kind) error { return &netbox.Error{Kind: k, Op: "do", Reason: "so"} }

// row returns a record's place.
func (f *fakeNetBox) row(number int64) (*netbox.IPAddress, error) {
	i := slices.IndexFunc(f.records, func(r netbox.IPAddress) bool { return r.ID == number })
	if i < 0 {
		return nil, errKind(netbox.KindNotFound)
	}
	r := &f.records[i]
	r.CustomFields = maps.Clone(r.CustomFields)
	return r, nil
}

func (f *fakeNetBox) Adopt(_ context.Context, ip netbox.IPAddress, marker string, p netbox.Patch) (netbox.IPAddress, error) {
	if err := f.call("Adopt"); err != nil {
		return netbox.IPAddress{}, err
	}
	r, err := f.row(ip.ID)
	if err != nil {
		return netbox.IPAddress{}, err
	}
	if !r.Unmarked(testField) {
		return netbox.IPAddress{}, errKind(netbox.KindConflict)
	}
	if f.untagged && p.Tags != nil {
		return netbox.IPAddress{}, &netbox.Error{Kind: netbox.KindInvalid, Fields: []string{"tags"}}
	}
	r.CustomFields[testField] = marker
	delete(r.CustomFields, testNote)
	if p.Status != nil {
		r.Status = *p.Status
	}
	return *r, f.lose["Adopt"]
}

func (f *fakeNetBox) EnsureReleaseField(context.Context) error { return f.call("EnsureReleaseField") }

func (f *fakeNetBox) Release(_ context.Context, ip netbox.IPAddress, l netbox.Release) error {
	if err := f.call("Release"); err != nil {
		return err
	}
	r, err := f.row(ip.ID)
	if err != nil {
		return nil //nolint:nilerr // What is gone is released.
	}
	for _, h := range f.rack.holders {
		for _, s := range h.Seated {
			if s.ID == ip.ID && l.Retire {
				return errKind(netbox.KindConflict)
			}
		}
	}
	if r.Marker(testField) != l.Marker {
		return errKind(netbox.KindConflict)
	}
	r.CustomFields[testField], r.CustomFields[testNote] = nil, l.Note
	if l.Retire {
		r.Status, r.DNSName, r.Assigned = netbox.StatusDeprecated, "", nil
	}
	return f.lose["Release"]
}

func (f *fakeNetBox) Delete(_ context.Context, ip netbox.IPAddress, marker string) error {
	if err := f.call("Delete"); err != nil {
		return err
	}
	f.records = slices.DeleteFunc(f.records, func(r netbox.IPAddress) bool { return r.ID == ip.ID && r.Marker(testField) == marker })
	return f.lose["Delete"]
}

// Displaced tells once what was seen.
func (f *fakeNetBox) Displaced(netbox.IPAddress) (netbox.IPAddress, bool) {
	was := f.displaced
	f.displaced = nil
	if was == nil {
		return netbox.IPAddress{}, false
	}
	return *was, true
}

// Date is what it was set to.
func (f *fakeNetBox) Date() (time.Time, bool) { return f.date, !f.date.IsZero() }
