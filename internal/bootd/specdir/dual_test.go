package specdir

import (
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// dualYAML is a folder of one machine with an address of each family.
func dualYAML() string {
	network := strings.Replace(networkYAML, "gateway: 10.77.0.1}", `gateway: 10.77.0.1}, {cidr: "fd00:77::/64", gateway: "fd00:77::1", dns: ["fd00:77::53"]}`, 1)
	return strings.Join([]string{network, profileYAML, givenYAML, besides(entryYAML("m1", mac1, "10.77.0.11", 1), "fd00:77::11")}, "---\n")
}

// besides gives an entry an address of IPv6 as well, and names it first.
func besides(entry, six string) string {
	return strings.Replace(entry, "addresses: [", `addresses: [{address: "`+six+`/64"}, `, 1)
}

// TestBothFamilies: a machine with two addresses has one plan with both, which outlives its profile, and loses the address that its entry doesn't
// name any more.
func TestBothFamilies(t *testing.T) {
	r := newRig(t, dualYAML())
	r.start()
	r.granted()
	p := r.plan()
	if p.Network.Address.String() != "10.77.0.11/24" || p.Network.Six == nil || p.Network.Six.Address.String() != "fd00:77::11/64" || p.Network.Six.Gateway.String() != "fd00:77::1" {
		t.Fatalf("%+v, %+v", p.Network, p.Network.Six)
	}
	was := p.Digest()
	r.write("a.yaml", strings.Replace(dualYAML(), "profileRef: {name: debian}", "profileRef: {name: gone}", 1))
	r.turn()
	if p := r.plan(); p == nil || p.Digest() != was || !r.src.Held(p) {
		t.Errorf("its profile went, and it's served %+v", p)
	}
	one := strings.Replace(dualYAML(), `{address: "fd00:77::11/64"}, `, "", 1)
	r.write("a.yaml", one)
	r.turn()
	alone := newRig(t, all(1))
	alone.start()
	if p, other := r.plan(), alone.plan(); p == nil || p.Network.Six != nil || p.Digest() != other.Digest() {
		t.Errorf("with the one address left it isn't as one that never had two: %+v", p)
	}
}

// TestContestedSix: an address of IPv6 is one machine's, beside that of IPv4 or alone.
func TestContestedSix(t *testing.T) {
	for name, second := range map[string]string{
		"Beside": besides(entryYAML("m2", mac2, "10.77.0.12", 0), "fd00:77::11"),
		"Alone":  strings.Replace(entryYAML("m2", mac2, "10.77.0.12", 0), "10.77.0.12/24", `"fd00:77::11/64"`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, dualYAML())
			r.start()
			r.write("b.yaml", second)
			r.turn()
			if _, served := r.src.State().ByMAC(boot.MAC(mac2)); served || r.plan() == nil {
				t.Error("both are served, or none")
			}
			r.says("address fd00:77::11 is already BootEntry lab/m1's")
		})
	}
}
