package netbox_test

import (
	"context"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// TestGivenWhileAway: who is given an address beside another one, whose record is away just then, is given it later than that: it isn't shared.
func TestGivenWhileAway(t *testing.T) {
	l := newLab(t, "4.6.8")
	l.netbox.AddMarkerField(field)
	l.inLoose(0)
	l.apply("web-1", l.ofThis, looseOf)
	l.passes(12, time.Minute, "web-1")
	one := l.get("web-1").Status.AtProvider.ID
	l.moves(one, "10.88.0.7/24")
	l.apply("web-2", l.ofThis, func(mg *v1alpha1.NetBoxIPAddress) {
		p := &mg.Spec.ForProvider
		p.From, p.Address, p.Duplicates = nil, "10.88.0.1/24", v1alpha1.DuplicatesAllow
	})
	l.passes(6, time.Minute, "web-2")
	l.rewrite("web-2", func(mg *v1alpha1.NetBoxIPAddress) { mg.Spec.ForProvider.Duplicates = "" })
	l.passes(2, time.Minute, "web-2")
	l.moves(one, "10.88.0.1/24") // Before anybody looked at web-1.
	l.passes(8, 11*time.Minute, "web-1", "web-2")
	if l.readyWith("web-1", "10.88.0.1/24") || !l.readyWith("web-2", "10.88.0.1/24") {
		t.Errorf("web-1 says %q, web-2 %q", l.says("web-1"), l.says("web-2"))
	}
}

// TestAdopterComesBack: who adopted a record of an address that another one's had been moved away from has it again, whatever happens to that record.
func TestAdopterComesBack(t *testing.T) {
	for name, happens := range map[string]func(l *lab, one, old int64){
		"Moved":   func(l *lab, _, old int64) { l.moves(old, "10.77.0.4/29") },
		"Deleted": func(l *lab, _, old int64) { l.netbox.RemoveAddress(old) },
		"Both": func(l *lab, one, old int64) {
			l.netbox.RemoveAddress(old)
			l.netbox.RemoveAddress(one)
		},
		"Marker": func(l *lab, _, old int64) {
			marker := l.record(old).CustomFields[field]
			l.mark(old, "c1/team-x/theirs/uid-theirs")
			l.passes(2, 11*time.Minute, "web-1", "web-2")
			l.mark(old, marker)
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, "4.6.8")
			one, old := l.adoptsOlder(regains)
			l.passes(4, 11*time.Minute, "web-1", "web-2")
			happens(l, one, old)
			l.passes(8, 11*time.Minute, "web-2", "web-1")
			if l.readyWith("web-1", "10.77.0.1/29") || !l.readyWith("web-2", "10.77.0.1/29") {
				t.Errorf("web-1 says %q, web-2 %q", l.says("web-1"), l.says("web-2"))
			}
		})
	}
}

// TestPairedWithNoPersons: a record that carries a marker in another provider config's field isn't one that people made.
func TestPairedWithNoPersons(t *testing.T) {
	l := twoFields(t, "4.6.8")
	l.maxAge = 0
	was := l.resolve
	l.resolve = func(ctx context.Context, mg *v1alpha1.NetBoxIPAddress) (config.NetBox, error) {
		c, err := was(ctx, mg)
		if c.Name == "other" {
			c.Config.URL = strings.Replace(c.Config.URL, "127.0.0.1", "localhost", 1)
		}
		return c, err
	}
	l.restart()
	id := l.inLoose(1)[0]
	l.apply("web-1", l.ofThis, adopting(id))
	l.passes(12, time.Minute, "web-1")
	marker := l.record(id).CustomFields[field]
	edit := func(address string, marker any) {
		l.netbox.ChangeAddressAs("alice", id, func(a *netbox.Address) {
			a.Address, a.CustomFields = netip.MustParsePrefix(address), map[string]any{field: marker}
		})
		l.passes(2, 11*time.Minute, "web-1")
	}
	edit("10.88.0.5/24", "c1/team-x/theirs/uid-theirs")
	l.apply("web-2", byOther, looseOf)
	l.passes(8, time.Minute, "web-2")
	if !l.readyWith("web-2", "10.88.0.1/24") {
		t.Fatalf("it's given to nobody: %q", l.says("web-2"))
	}
	edit("10.88.0.1/24", marker)
	l.passes(8, 11*time.Minute, "web-1", "web-2")
	if l.readyWith("web-1", "10.88.0.1/24") {
		t.Errorf("web-1 is Ready with the address of web-2, which says %q", l.says("web-2"))
	}
}
