package netbox

import "testing"

func FuzzDecodeHolder(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, kind := range []HolderKind{Device, VirtualMachine} {
			h, err := decodeHolder(kind, b)
			if err == nil && h.ID <= 0 {
				t.Errorf("accepted %q without identity", b)
			}
			for seat, s := range h.Seated {
				if s.ID <= 0 {
					t.Errorf("%s of %q is nobody's", seat, b)
				}
			}
		}
	})
}

func FuzzDecodeInterface(f *testing.F) {
	seed(f)
	f.Add([]byte(`{"id":1,"name":"bond0.7","device":{"id":2},"type":{"value":"virtual"},"mtu":9000,"mode":{"value":"tagged"},"untagged_vlan":{"vid":7},"tagged_vlans":[{"vid":20},{"vid":"x"},4],"parent":{"id":3},"lag":4,"mac_address":"x","mac_addresses":[{"mac_address":"x"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, kind := range []HolderKind{Device, VirtualMachine} {
			i, err := decodeInterface(kind, b)
			if err == nil && (i.ID <= 0 || i.Holder <= 0 || i.Kind != kind) {
				t.Errorf("accepted %q without identity", b)
			}
			if i.MTU < 0 || i.MTU > 1<<16 || i.Untagged < 0 || i.Untagged > lastVLAN || len(i.Tagged) > lastVLAN || len(i.MACs) > mostMACs {
				t.Errorf("of %q more is kept than there can be: %+v", b, i)
			}
		}
		if m, err := decodeMAC(b); err == nil && (len(m.MACs) != 1 || m.Kind != "" && m.ID <= 0) {
			t.Errorf("accepted %q as a MAC address", b)
		}
	})
}

func FuzzDecodeChange(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, err := decodeChange(b, "ipam.ipaddress", 63); err == nil && c != nil {
			_ = c.Changed("description", "custom_fields.a")
			_ = c.Deleted()
		}
		if n, err := decodeNamed(b); err == nil && n.slug == "" {
			t.Errorf("accepted %q without a slug", b)
		}
	})
}
