package specdir

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestEditedAddress: an entry that is edited to have another one's address takes it from nobody, be it the first or the last of the two by name.
func TestEditedAddress(t *testing.T) {
	const one, two = "10.77.0.11", "10.77.0.12"
	for edited, stays := range map[boot.MAC]boot.MAC{mac1: mac2, mac2: mac1} {
		t.Run(string(edited), func(t *testing.T) {
			r := newRig(t, "")
			at := map[boot.MAC]string{mac1: one, mac2: two}
			write := func() {
				r.write("m.yaml", entryYAML("m1", mac1, at[mac1], 0)+"---\n"+entryYAML("m2", mac2, at[mac2], 0))
			}
			r.write("net.yaml", networkYAML+"---\n"+profileYAML+"---\n"+givenYAML)
			write()
			r.start()
			at[edited] = at[stays]
			write()
			check := func(when string) {
				t.Helper()
				r.turn()
				p, ok := r.src.State().ByMAC(stays)
				if !ok || p.Network.Address.Addr().String() != at[stays] {
					t.Errorf("%s its address isn't the running machine's any more: %+v\n%s", when, p, r.said.String())
				}
				if _, ok := r.src.State().ByMAC(edited); ok {
					t.Errorf("%s both are served", when)
				}
			}
			check("once it's edited,")
			r.restart(nil)
			check("after a restart,")
			r.says("Conflict: address " + at[stays])
		})
	}
}

// TestUnservedIsNotLent: a machine that has an entry is no stranger, and nobody is lent its address, whatever is wrong with it.
func TestUnservedIsNotLent(t *testing.T) {
	network := strings.Replace(networkYAML, "gateway: 10.77.0.1}", `gateway: 10.77.0.1, discoveryRanges: [{start: 10.77.0.200, end: 10.77.0.220}]}`, 1)
	cases := map[string]struct {
		reason  string
		entry   string
		address string
	}{
		"Rival":   {"its MAC is another's", entryYAML("m2", mac1, "10.77.0.202", 0), "10.77.0.202"},
		"Address": {"so is its address", entryYAML("m2", mac2, "10.77.0.201", 0), "10.77.0.201"},
		"Profile": {"it has no profile", strings.Replace(entryYAML("m2", mac2, "10.77.0.202", 0), "{name: debian}", "{name: gone}", 1), "10.77.0.202"},
		"Outside": {"its address is in no subnet", entryYAML("m2", mac2, "10.78.0.202", 0), "10.78.0.202"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "")
			r.write("net.yaml", network+"---\n"+profileYAML+"---\n"+givenYAML)
			r.write("m.yaml", entryYAML("m1", mac1, "10.77.0.201", 0))
			r.start()
			r.write("z.yaml", tc.entry)
			r.turn()
			st := r.src.State()
			if a := netip.MustParseAddr(tc.address); !st.Reserved(a) {
				t.Errorf("%s, and %s may be lent\n%s", tc.reason, a, r.said.String())
			}
			if strings.Contains(tc.entry, mac2) && !st.Withheld(mac2) {
				t.Errorf("%s, and it's a stranger", tc.reason)
			}
			remove(t, r.dir+"/z.yaml")
			r.turn()
			if st := r.src.State(); st.Withheld(mac2) || st.Reserved(netip.MustParseAddr("10.77.0.202")) {
				t.Error("it's gone, and withheld still")
			}
		})
	}
}

// TestUnservedStays: nor is it one after a restart while the folder is empty, as one is that isn't mounted; once there are files again, they count.
func TestUnservedStays(t *testing.T) {
	r := newRig(t, "")
	network := strings.Replace(networkYAML, "gateway: 10.77.0.1}", `gateway: 10.77.0.1, discoveryRanges: [{start: 10.77.0.200, end: 10.77.0.220}]}`, 1)
	specs := network + "---\n" + profileYAML + "---\n" + givenYAML + "---\n" + entryYAML("m1", mac1, "10.77.0.201", 0)
	r.write("a.yaml", specs+"---\n"+strings.Replace(entryYAML("m2", mac2, "10.77.0.202", 0), "{name: debian}", "{name: gone}", 1))
	r.start()
	r.restart(func() { remove(t, r.dir+"/a.yaml") })
	r.turn()
	check := func(want bool, when string) {
		t.Helper()
		st := r.src.State()
		if _, ok := st.ByMAC(mac1); !ok {
			t.Errorf("%s m1 isn't served\n%s", when, r.said.String())
		}
		if st.Withheld(mac2) != want || st.Reserved(netip.MustParseAddr("10.77.0.202")) != want {
			t.Errorf("%s withheld: %t, want %t\n%s", when, !want, want, r.said.String())
		}
	}
	check(true, "while the folder is empty")
	r.write("a.yaml", specs)
	r.turn()
	r.turn() // All is there that was on its way.
	check(false, "once its entry is gone")
}
