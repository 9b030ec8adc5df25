package redfish

import (
	"context"
	"path"
)

// maxInventoryReads bounds the requests of one inventory.
const maxInventoryReads = 400

// Inventory is what changes rarely and takes many requests to read.
type Inventory struct {
	// MACs of the machine, in the order found.
	MACs []MAC
	// Firmware version of the first manager.
	Firmware string
	// Manufacturer and Model of the System's chassis, for Systems that don't
	// tell their own.
	Manufacturer, Model string
	// Partial says that the BMC refused to show a resource which it listed, so
	// that what isn't here may be there all the same.
	Partial bool
	// Quirks are the names of the rows that are followed with the machine.
	Quirks []string
}

// nicBody fits EthernetInterface, NetworkDeviceFunction, Port, NetworkPort and
// BootOption: what one hasn't stays empty.
type nicBody struct {
	ID        text `json:"Id"`
	MAC       text `json:"MACAddress"`
	Permanent text `json:"PermanentMACAddress"`
	Ethernet  struct {
		MAC       text  `json:"MACAddress"`
		Permanent text  `json:"PermanentMACAddress"`
		Ports     texts `json:"AssociatedMACAddresses"`
	}
	NetworkPort texts `json:"AssociatedNetworkAddresses"`
	DevicePath  text  `json:"UefiDevicePath"`
	Links       struct{ HostInterface ref }
}

// Inventory reads MACs and firmware version. Resources that are missing are
// left out: dangling links are normal.
func (c *Client) Inventory(ctx context.Context, s System) (Inventory, error) {
	w := &walk{c: c, left: maxInventoryReads}
	w.nics(ctx, s.interfaces, SourceEthernetInterface)
	for _, adapter := range w.adapters(ctx, s) {
		w.adapter(ctx, adapter)
	}
	w.nics(ctx, s.bootOptions, SourceBootOption)
	own, firmware := w.manager(ctx)
	if w.err != nil {
		return Inventory{}, w.err
	}

	_, rows, err := c.quirks(ctx, s)

	return Inventory{
		MACs: merge(w.found, own), Firmware: firmware, Manufacturer: w.manufacturer, Model: w.model, Partial: w.partial, Quirks: rows,
	}, err
}

// walk reads many resources of one BMC and keeps the first real error.
type walk struct {
	c     *Client
	left  int
	found []MAC
	err   error

	manufacturer, model string
	partial             bool
}

// read gets one resource and says whether it is there.
func (w *walk) read(ctx context.Context, uri string, v any) bool {
	if uri == "" || w.err != nil || w.left <= 0 {
		return false
	}
	w.left--
	_, err := w.c.get(ctx, uri, v)
	w.note(err)

	return err == nil
}

// note passes over a resource that can't be shown, and keeps a real error.
func (w *walk) note(err error) {
	switch {
	case err == nil, IsNotFound(err):
	case skippable(err):
		w.partial = true
	default:
		w.err = err
	}
}

// members lists a collection; one that can't be read has none.
func (w *walk) members(ctx context.Context, uri string) []string {
	if uri == "" || w.err != nil || w.left <= 0 {
		return nil
	}
	w.left--
	out, err := w.c.members(ctx, uri)
	w.note(err)

	return out
}

// skippable says whether a resource may be passed over: missing ones are, and
// those that only this BMC can't show (BlueField answers 500 for some).
func skippable(err error) bool {
	k := KindOf(err)

	return k == NotFound || k == Refused || k == Forbidden || k == Protocol
}

func (w *walk) nics(ctx context.Context, collection, source string) {
	for _, uri := range w.members(ctx, collection) {
		var b nicBody
		if w.read(ctx, uri, &b) {
			w.found = append(w.found, b.macs(path.Base(uri), source)...)
		}
	}
}

// macs are the addresses that one resource names. The BMC's interface towards
// the host (HostInterface) isn't a NIC of the machine.
func (b nicBody) macs(port, source string) []MAC {
	if b.Links.HostInterface != "" {
		return nil
	}
	if b.ID != "" {
		port = clip(b.ID)
	}
	var out []MAC
	add := func(s string, permanent bool) {
		if mac, ok := ParseMAC(s); ok {
			out = append(out, MAC{Address: mac, Port: port, Source: source, Permanent: permanent})
		}
	}
	if mac, ok := macOfDevicePath(string(b.DevicePath)); ok {
		add(mac, false)
	}
	for _, permanent := range []text{b.Permanent, b.Ethernet.Permanent} {
		add(string(permanent), true)
	}
	for _, current := range append([]string{string(b.MAC), string(b.Ethernet.MAC)}, append(b.Ethernet.Ports, b.NetworkPort...)...) {
		add(current, false)
	}

	return out
}

// adapters lists NetworkAdapters of the System's chassis, or, where those have
// none, those that its NetworkInterfaces point at.
func (w *walk) adapters(ctx context.Context, s System) []string {
	var out []string
	for _, uri := range s.chassis {
		var b struct {
			NetworkAdapters     ref
			Manufacturer, Model text
		}
		if w.read(ctx, uri, &b) {
			if w.model == "" {
				w.manufacturer, w.model = clip(b.Manufacturer), clip(b.Model)
			}
			out = append(out, w.members(ctx, string(b.NetworkAdapters))...)
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, uri := range w.members(ctx, s.adapters) {
		var b struct {
			Links struct{ NetworkAdapter ref }
		}
		if w.read(ctx, uri, &b) && b.Links.NetworkAdapter != "" {
			out = append(out, string(b.Links.NetworkAdapter))
		}
	}

	return out
}

func (w *walk) adapter(ctx context.Context, uri string) {
	var b struct {
		NetworkDeviceFunctions ref
		Ports                  ref
		NetworkPorts           ref
	}
	if !w.read(ctx, uri, &b) {
		return
	}
	w.nics(ctx, string(b.NetworkDeviceFunctions), SourceDeviceFunction)
	ports := b.Ports
	if ports == "" {
		ports = b.NetworkPorts
	}
	w.nics(ctx, string(ports), SourcePort)
}

// manager reads the BMC's own addresses and firmware version.
func (w *walk) manager(ctx context.Context) (own []string, firmware string) {
	managers := string(w.c.root.Managers)
	if managers == "" {
		managers = pathManagers
	}
	for _, uri := range w.members(ctx, managers) {
		var b struct {
			FirmwareVersion    text
			EthernetInterfaces ref
		}
		if !w.read(ctx, uri, &b) {
			continue
		}
		if firmware == "" {
			firmware = clip(b.FirmwareVersion)
		}
		for _, nic := range w.members(ctx, string(b.EthernetInterfaces)) {
			var n nicBody
			if !w.read(ctx, nic, &n) {
				continue
			}
			for _, mac := range n.macs("", "") {
				own = append(own, mac.Address)
			}
		}
	}

	return own, firmware
}
