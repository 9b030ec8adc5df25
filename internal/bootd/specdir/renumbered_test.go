package specdir

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestRenumbered: an edit of a BootNetwork that leaves its machines outside is told, and they're answered on their subnet as before, also after a
// restart, until the one or the other is right.
func TestRenumbered(t *testing.T) {
	r := newRig(t, all(1))
	r.live()
	on := func(when, address string, want bool) {
		t.Helper()
		g, _ := r.src.State().Segment(boot.Name{Namespace: "lab", Name: "rack"})
		if g.Contains(netip.MustParseAddr(address)) != want {
			t.Errorf("%s: that %s is of the network: %t; its subnets are %v", when, address, !want, g.Subnets)
		}
	}
	on("as written", "10.77.0.11", true)
	r.write("a.yaml", strings.NewReplacer("10.77.0.0/24", "10.87.0.0/24", "10.77.0.1}", "10.87.0.1}").Replace(all(1)))
	r.turn()
	r.says("10.77.0.11", "isn't in any subnet")
	for _, when := range []string{"renumbered", "after a restart"} {
		on(when, "10.77.0.11", true)
		on(when, "10.87.0.11", true)
		if p := r.plan(); p == nil || p.Network.Address.Addr().String() != "10.77.0.11" {
			t.Errorf("%s: the machine isn't served: %+v", when, p)
		}
		r.ends()
		r.live()
	}
	r.write("a.yaml", strings.NewReplacer("10.77.0.", "10.87.0.").Replace(all(1)))
	r.turn()
	on("all is of the new subnet", "10.77.0.11", false)
}

// TestUnwritten: what can't be written down is told as that, and the specs are right.
func TestUnwritten(t *testing.T) {
	r := newRig(t, all(1))
	r.start()
	r.src.say(grants+"x", "no space left on device")
	r.says("can't be kept up", "no space left on device")
	if strings.Contains(r.said.String(), "the specs are wrong") {
		t.Errorf("the specs are called wrong:\n%s", r.said.String())
	}
}
