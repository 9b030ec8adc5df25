package netbox_test

import (
	"context"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// beside has resources that name another provider config go by that, whatever else they're of.
func (l *lab) beside(other config.NetBox) (goesBy func(*v1alpha1.NetBoxIPAddress)) {
	ref := xpv2.ProviderConfigReference{Kind: other.Kind, Name: other.Name}
	l.resolve = func(_ context.Context, mg *v1alpha1.NetBoxIPAddress) (config.NetBox, error) {
		if r := mg.GetProviderConfigReference(); r != nil && *r == ref {
			return other, nil
		}
		return l.config, nil
	}
	l.restart()
	return func(mg *v1alpha1.NetBoxIPAddress) { mg.Spec.ProviderConfigReference = &ref }
}

// far is another NetBox, which has addresses of the same numbers, and has resources go by it.
func (l *lab) far() (s *netbox.Server, goesBy func(*v1alpha1.NetBoxIPAddress)) {
	l.t.Helper()
	s = netbox.New(netbox.Options{Version: "4.6.8"})
	s.AddToken(netbox.Token{Name: "provider", Secret: secret})
	s.AddCIDR("10.77.0.0/29")
	s.AddMarkerField(field)
	if err := s.Start(""); err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { _ = s.Close() })
	other := l.config
	other.Name, other.UID, other.Config.URL = "far", "cfg-b", s.URL()
	return s, l.beside(other)
}

// TestGivenByAnotherConfig: as TestGivenBehindItsBack, where the later one goes by another provider config of the same NetBox, whatever name that has there.
func TestGivenByAnotherConfig(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*config.NetBox)
		of     string // the later one's namespace
	}{
		"SameURL":    {"by one of the same address", func(*config.NetBox) {}, "team-a"},
		"OtherName":  {"by one of another name of that NetBox", func(c *config.NetBox) { c.Config.URL = strings.Replace(c.Config.URL, "127.0.0.1", "localhost", 1) }, "team-a"},
		"Namespaced": {"by one of another namespace", func(c *config.NetBox) { c.Ref = config.Ref{Kind: v1alpha1.ProviderConfigKind, Namespace: "team-b"} }, "team-b"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, "4.6.8")
			l.netbox.AddMarkerField(field)
			l.inLoose(0)
			other := l.config
			tc.change(&other)
			other.Name, other.UID = "netbox-b", "cfg-b"
			goesBy := l.beside(other)
			in := func(namespace string, do func()) {
				before := l.namespace
				l.namespace = namespace
				do()
				l.namespace = before
			}
			l.apply("web-1", l.ofThis, looseOf)
			l.passes(8, time.Minute, "web-1")
			one := l.get("web-1").Status.AtProvider.ID
			l.moves(one, "10.88.0.5/24")
			in(tc.of, func() {
				l.apply("web-2", looseOf, goesBy)
				l.passes(4, time.Second, "web-2")
			})
			l.moves(one, firstLoose)
			for range 8 {
				l.passes(1, 11*time.Minute, "web-1")
				in(tc.of, func() { l.passes(1, time.Second, "web-2") })
			}
			if l.readyWith("web-1", firstLoose) {
				t.Errorf("%s: web-1 says %q", tc.reason, l.says("web-1"))
			}
			in(tc.of, func() {
				if !l.readyWith("web-2", firstLoose) {
					t.Errorf("%s: web-2 says %q", tc.reason, l.says("web-2"))
				}
			})
		})
	}
}

// TestSharedSpecEditedBesideAnotherNetBox: what another NetBox has of the same number, given in between, makes who shares an address here no later.
func TestSharedSpecEditedBesideAnotherNetBox(t *testing.T) {
	l := newLab(t, "4.6.8")
	l.netbox.AddMarkerField(field)
	_, goesBy := l.far()
	l.apply("web-1", l.ofThis, func(mg *v1alpha1.NetBoxIPAddress) { mg.Spec.ForProvider.Role = new("vip") })
	l.settle("web-1", ready)
	l.now = l.now.Add(time.Minute)
	l.apply("far", goesBy)
	l.settle("far", ready)
	l.now = l.now.Add(time.Minute)
	l.apply("web-2", l.ofThis, func(mg *v1alpha1.NetBoxIPAddress) {
		p := &mg.Spec.ForProvider
		p.From, p.Address, p.Role, p.Duplicates = nil, "10.77.0.1/29", new("vip"), v1alpha1.DuplicatesSharedRole
	})
	l.settle("web-2", ready)
	l.rewrite("web-2", func(mg *v1alpha1.NetBoxIPAddress) { mg.Spec.ForProvider.Duplicates = "" })
	l.passes(4, 11*time.Minute, "web-2", "web-1")
	if !l.readyWith("web-1", "10.77.0.1/29") || !l.readyWith("web-2", "10.77.0.1/29") {
		t.Errorf("web-1 says %q, web-2 %q", l.says("web-1"), l.says("web-2"))
	}
}
