package netbox_test

import (
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// mayBeElsewhere is a resource of which only NetBox's log tells that its record is of this one.
func mayBeElsewhere(*v1alpha1.NetBoxIPAddress) {}

// ofThis is one of which its provider config tells it.
func (l *lab) ofThis(mg *v1alpha1.NetBoxIPAddress) {
	mg.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: l.config.Kind, Name: l.config.Name}
}

// notTwice holds that two resources don't show one address.
func (l *lab) notTwice(first, second string) {
	l.t.Helper()
	one, two := l.get(first), l.get(second)
	if one.Status.AtProvider.Address == two.Status.AtProvider.Address {
		l.t.Fatalf("%s is %s's and %s's", one.Status.AtProvider.Address, first, second)
	}
}

// waits holds that a resource isn't Ready, and says why.
func (l *lab) waits(name, says string) {
	l.t.Helper()
	if is, words := ready(l.get(name)), l.says(name); is || !strings.Contains(words, says) {
		l.t.Errorf("%s: ready %v, %q, want %q", name, is, words, says)
	}
}

// says is what a resource says of itself.
func (l *lab) says(name string) string {
	mg := l.get(name)
	return mg.GetCondition(xpv2.TypeReady).Message + " " + mg.GetCondition(xpv2.TypeSynced).Message
}

// TestLostStrangely: that a record was deleted is known of a change log whose entries have keys that nobody knows, too, be it where there was a record
// that isn't any more.
func TestLostStrangely(t *testing.T) {
	for _, v := range versions() {
		t.Run(v, func(t *testing.T) {
			l := newLab(t, v)
			l.apply("web-1", mayBeElsewhere)
			l.settle("web-1", ready)
			l.netbox.Inject(netbox.Fault{Kind: netbox.FaultStrangeChoice, Path: "object-changes"})
			l.netbox.RemoveAddress(l.only().ID)
			l.restart() // Nobody has seen it.
			l.apply("web-2", mayBeElsewhere)
			if mg := l.settle("web-2", ready); mg.Status.AtProvider.Address != "10.77.0.2/29" {
				t.Errorf("the next one's is %s", mg.Status.AtProvider.Address)
			}
			l.settle("web-1", because(v1alpha1.ReasonLost))
		})
	}
}

// TestLostYoung: somebody deletes the record of an address as soon as it's made, of which a copy of NetBox's database shows nothing yet, neither it nor
// its deletion. Whoever is given the address doesn't use it, also where nothing but that log tells that the record was of this NetBox.
func TestLostYoung(t *testing.T) {
	for name, known := range map[string]bool{"ByLog": false, "ByConfig": true} {
		t.Run(name, func(t *testing.T) {
			l := laggingLab(t, "4.6.8")
			l.maxAge = 2 * time.Minute
			l.restart()
			refer := mayBeElsewhere
			if known {
				refer = l.ofThis
			}
			l.apply("web-1", refer)
			l.settle("web-1", ready)
			l.netbox.RemoveAddress(l.only().ID)
			l.restart() // Nobody has seen it.
			l.apply("web-2", refer)
			l.once("web-2")
			if !known {
				l.waits("web-2", "may be another resource's")
			}
			for range 3 {
				l.notTwice("web-1", "web-2")
				l.once("web-2")
			}
			l.netbox.Lag(0, 1)
			l.now = l.now.Add(time.Minute)
			l.settle("web-1", because(v1alpha1.ReasonLost))
			if mg := l.settle("web-2", ready); mg.Status.AtProvider.Address != "10.77.0.2/29" {
				t.Errorf("the next one's is %s", mg.Status.AtProvider.Address)
			}
		})
	}
}

// TestShownLate: a provider is killed before it shows an address that it was given, somebody deletes the record, and the next one is given the address.
// The first one doesn't show it any more, by a copy of NetBox's database that still has its record.
func TestShownLate(t *testing.T) {
	l := newLab(t, "4.6.8")
	l.maxAge, l.hidden = 2*time.Minute, time.Minute
	l.restart()
	l.apply("web-1", l.ofThis)
	l.once("web-1")
	if mg := l.get("web-1"); mg.Status.AtProvider.Address != "" || mg.GetAnnotations()["crossplane.io/external-name"] == "" {
		t.Fatalf("it's shown at once, or wasn't made: %+v", mg)
	}
	l.netbox.Lag(time.Hour, 1)
	l.netbox.RemoveAddress(l.only().ID)
	l.restart()
	l.apply("web-2", l.ofThis)
	if mg := l.settle("web-2", ready); mg.Status.AtProvider.Address != "10.77.0.1/29" {
		t.Fatalf("the next one's is %s", mg.Status.AtProvider.Address)
	}
	for range 3 {
		l.once("web-1")
		l.notTwice("web-2", "web-1")
		l.waits("web-1", "isn't used before it's known whose it is")
	}
	l.netbox.Lag(0, 1)
	l.settle("web-1", because(v1alpha1.ReasonLost))
	if mg := l.settle("web-2", ready); mg.Status.AtProvider.Address != "10.77.0.1/29" {
		t.Errorf("the next one's is %s", mg.Status.AtProvider.Address)
	}
}
