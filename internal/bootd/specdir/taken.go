package specdir

import (
	"fmt"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// plugged is a port of a switch on a network.
type plugged struct {
	network boot.Name
	port    boot.Port
}

// taken is what the plans have that were admitted.
type taken struct {
	macs      map[boot.MAC]*boot.Plan
	addresses map[place]*boot.Plan
	ports     map[plugged]*boot.Plan
}

func newTaken(plans int) taken {
	return taken{make(map[boot.MAC]*boot.Plan, plans), make(map[place]*boot.Plan, plans), map[plugged]*boot.Plan{}}
}

// conflict says what of a plan others have, and who; "": nothing.
func (t taken) conflict(p *boot.Plan) (why string, others []*boot.Plan) {
	var whys []string
	has := func(what string, other *boot.Plan, until string) {
		whys = append(whys, fmt.Sprintf("%s is already BootEntry %s's; nothing is installed on that machine either, until %s", what, other.Entry, until))
		others = append(others, other)
	}
	for a := range p.Network.Addresses() {
		if other, taken := t.addresses[place{p.Network.Name, a.Addr()}]; taken {
			has("address "+a.Addr().String(), other, "one of them has another")
		}
	}
	for _, m := range p.MACs {
		if other, taken := t.macs[m]; taken {
			has("MAC "+string(m), other, "it's removed from one of them")
		}
	}
	if p.Port != nil {
		if other, taken := t.ports[plugged{p.Network.Name, *p.Port}]; taken {
			has("port "+p.Port.String(), other, "it's removed from one of them")
		}
	}
	return strings.Join(whys, "; "), others
}

func (t taken) add(p *boot.Plan) {
	for a := range p.Network.Addresses() {
		t.addresses[place{p.Network.Name, a.Addr()}] = p
	}
	for _, m := range p.MACs {
		t.macs[m] = p
	}
	if p.Port != nil {
		t.ports[plugged{p.Network.Name, *p.Port}] = p
	}
}

// networkOf is what an entry's network is called.
func networkOf(e *v1alpha1.BootEntry, n v1alpha1.EntryNetwork) boot.Name {
	return boot.Name{Namespace: or(n.NetworkRef.Namespace, e.Namespace), Name: n.NetworkRef.Name}
}
