package netbox_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// TestInterfacesCost holds what docs/netbox.md says of what NetBox has of interfaces: those of all addresses cost a few requests after a start and in
// half an hour, and nothing at each look.
func TestInterfacesCost(t *testing.T) {
	const many = 40
	l := newLab(t, "4.6.8")
	l.netbox.AddMarkerField(field)
	vlan := l.netbox.AddVLAN(netbox.VLAN{VID: 120, Name: "nodes"})
	l.netbox.AddPrefix(netbox.Prefix{Prefix: cidr("10.81.0.0/20"), VLAN: vlan})
	l.maxAge = 2 * time.Minute
	l.restart()
	for i := range many {
		device := l.netbox.AddMachine(netbox.Machine{Name: fmt.Sprintf("node-%d", i)})
		bond := l.netbox.AddInterface(netbox.Interface{Machine: device, Name: "bond0", Type: "lag"})
		for port := range 2 {
			l.netbox.AddInterface(netbox.Interface{Machine: device, Name: fmt.Sprintf("eno%d", port+1), LAG: bond}, fmt.Sprintf("52:54:00:00:%02x:%02x", i, port))
		}
		l.netbox.AddInterface(netbox.Interface{Machine: device, Name: "bond0.120", Type: "virtual", Parent: bond, Mode: "access", Untagged: vlan})
		l.apply(fmt.Sprintf("web-%d", i), func(mg *v1alpha1.NetBoxIPAddress) {
			mg.Spec.ForProvider.From = []v1alpha1.AddressSource{{Prefix: &v1alpha1.PrefixSource{CIDR: "10.81.0.0/20"}}}
			mg.Spec.ForProvider.AssignTo = &v1alpha1.Assignment{Device: &v1alpha1.NetBoxDevice{Name: fmt.Sprintf("node-%d", i)}, Interface: &v1alpha1.NetBoxInterface{Name: "bond0.120"}}
		})
		l.settle(fmt.Sprintf("web-%d", i), func(mg *v1alpha1.NetBoxIPAddress) bool {
			is := mg.Status.AtProvider
			return ready(mg) && is.Interface != nil && is.Interface.Parent != nil && len(is.Interface.Parent.Members) == 2 && is.Prefix.VLAN == 120
		})
	}
	interfaces := []string{"dcim/interfaces/ id", "dcim/interfaces/ id", "dcim/interfaces/ lag_id"}
	steps := []struct {
		reason string
		after  time.Duration
		start  bool
		want   []string
	}{
		{"after a start what is said of them stands for a while", 0, true, []string{"status/", "extras/custom-fields/", "ipam/ip-addresses/"}},
		{"a look costs what it did", 3 * time.Minute, false, []string{"ipam/ip-addresses/"}},
		{"then all are read together, each kind of them once", 3 * time.Minute, false, append([]string{"ipam/ip-addresses/"}, interfaces...)},
		{"and the next look costs what it did", 3 * time.Minute, false, []string{"ipam/ip-addresses/"}},
		{"half an hour later they are read again, by now those of addresses with what these are parts of", 31 * time.Minute, false, append([]string{"status/", "extras/custom-fields/", "ipam/ip-addresses/"}, interfaces[1:]...)},
	}
	for _, step := range steps {
		l.now = l.now.Add(step.after)
		if step.start {
			l.restart()
		}
		before := len(l.netbox.Requests())
		for i := range many {
			l.once(fmt.Sprintf("web-%d", i))
		}
		var got []string
		for _, r := range l.netbox.Requests()[before:] {
			words := strings.TrimPrefix(r.Path, "/api/")
			switch {
			case strings.Contains(r.Query, "lag_id="):
				words += " lag_id"
			case strings.HasPrefix(words, "dcim/interfaces"):
				words += " id"
			}
			got = append(got, words)
		}
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("%s: requests for %d addresses (-want +got):\n%s", step.reason, many, diff)
		}
	}
}
