package netbox_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// strangers makes what others have in this NetBox: people, and the provider of another cluster.
func (k *soak) strangers() map[int64]netbox.Address {
	k.t.Helper()
	for i := range 60 {
		a := netip.AddrFrom4([4]byte{10, 80, byte(2 + i%2), byte(3 + 4*i)})
		x := netbox.Address{Address: netip.PrefixFrom(a, 23), Description: "Bob's " + strconv.Itoa(i), Tags: []int64{1}}
		if i%3 == 0 {
			x.CustomFields = map[string]any{field: "decaf/team-a/n-" + strconv.Itoa(i) + "/uid"}
		}
		k.netbox.AddAddress(x)
	}
	out := map[int64]netbox.Address{}
	for _, a := range k.netbox.Addresses() {
		out[a.ID] = a
	}
	return out
}

// spec varies: from a prefix, from one of two of which the first is soon full, in IPv6, or a fixed address.
func (k *soak) spec(n int) v1alpha1.NetBoxIPAddressParameters {
	from := func(all ...string) (out []v1alpha1.AddressSource) {
		for _, c := range all {
			out = append(out, v1alpha1.AddressSource{Prefix: &v1alpha1.PrefixSource{CIDR: c}})
		}
		return out
	}
	p := v1alpha1.NetBoxIPAddressParameters{Status: "active", WhenLost: v1alpha1.LostHold}
	if restores(n) {
		p.WhenLost = v1alpha1.LostRestore
	}
	switch n % 8 {
	case 0:
		p.From = from("10.80.1.0/29", "10.80.2.0/23")
	case 1:
		p.From = from("2001:db8:80::/64")
	case 2:
		p.Address = fmt.Sprintf("10.80.%d.%d/22", 16+n/250, 1+n%250)
	case 3:
		p.From, p.Tags, p.DNSName = from("10.80.0.0/24"), []string{"nodes"}, new(fmt.Sprintf("n-%d.example", n))
	default:
		p.From = from("10.80.0.0/24", "10.80.2.0/23")
	}
	return p
}

// settle ends the bad times, and lets a new provider look at all that is left.
func (k *soak) settle() {
	k.chaos.calmDown()
	k.netbox.Lag(0, 1)
	for _, remove := range k.faults {
		remove()
	}
	time.Sleep(3 * soakTimeout) // what NetBox was told before and does late
	p := k.newProcess()
	for range 12 {
		k.now.Add(int64(time.Minute))
		left := 0
		for name, l := range k.lives {
			if mg := k.get(name); mg != nil {
				p.reconcile(name)
				if mg = k.get(name); mg != nil && !l.holds(mg) {
					left++
				}
			}
		}
		if left == 0 {
			return
		}
	}
	for name, l := range k.lives {
		if mg := k.get(name); mg != nil && !l.holds(mg) {
			k.t.Errorf("%s isn't settled, of record %d, address %s: %+v", name, mg.Status.AtProvider.ID, mg.Status.AtProvider.Address, mg.Status.Conditions)
			k.story(name)
		}
	}
}

// story tells what NetBox was asked about some resources, and what it was told of their records.
func (k *soak) story(names ...string) {
	k.t.Helper()
	var about []string
	for _, name := range names {
		l := k.lives[name]
		k.t.Logf("%s: keeps %v, ready %v, %+v, records %v", name, l.keep, l.ready, l.stroke, k.past.addresses.records[name])
		about = append(about, clusterID+"/team-a/"+name+"/")
		for id := range k.past.addresses.records[name] {
			about = append(about, fmt.Sprintf("/api/ipam/ip-addresses/%d/", id), fmt.Sprintf("changed_object_id=%d&", id))
		}
		for _, v := range k.past.addresses.versions[name] {
			k.t.Logf("%s %s", name, v)
		}
		for of, n := range k.told.all {
			if of.name == name {
				k.t.Logf("%s %s: %d times by %p, last %s", name, of.reason, n, of.by, k.told.last[of])
			}
		}
	}
	for _, r := range k.netbox.Requests() {
		query, _ := url.QueryUnescape(r.Query)
		if says := r.Path + "?" + query + " " + r.Body; slices.ContainsFunc(about, func(a string) bool { return strings.Contains(says, a) }) {
			k.t.Logf("%s %s %s → %d %s", r.At.Format(time.StampMicro), r.Method, says, r.Status, r.Fault)
		}
	}
}

// check compares what is in NetBox with what is in the API, and returns what is set aside.
func (k *soak) check(strangers map[int64]netbox.Address) (aside map[netip.Addr]netbox.Address) {
	k.t.Helper()
	requests, list := k.netbox.Requests(), &v1alpha1.NetBoxIPAddressList{}
	if err := k.kube.List(k.t.Context(), list); err != nil {
		k.t.Fatal(err)
	}
	aside = map[netip.Addr]netbox.Address{}
	want, hosts := map[string]string{}, map[netip.Addr]int64{}
	for i := range list.Items {
		mg := &list.Items[i]
		if lostNow(mg) && k.lives[mg.Name].holds(mg) {
			continue // It has none, and says so.
		}
		want[clusterID+"/team-a/"+mg.Name+"/"+string(mg.UID)] = mg.Status.AtProvider.Address
	}
	got, theirs := map[string]string{}, map[int64]netbox.Address{}
	for _, a := range k.netbox.Addresses() {
		if id, twice := hosts[a.Address.Addr()]; twice {
			k.t.Errorf("%s is in records %d and %d", a.Address, id, a.ID)
		}
		hosts[a.Address.Addr()] = a.ID
		marker, _ := a.CustomFields[field].(string)
		switch _, twice := got[marker]; {
		case marker == "" && a.CustomFields[soakNoteField] != nil:
			aside[a.Address.Addr()] = a
		case !strings.HasPrefix(marker, clusterID+"/"):
			theirs[a.ID] = a
		case twice:
			k.t.Errorf("marker %q is in two records", marker)
		default:
			got[marker] = a.Address.String()
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		k.t.Errorf("addresses by marker (-resources +records):\n%s", diff)
		for marker := range got {
			if _, ok := want[marker]; !ok {
				k.story(strings.Split(marker, "/")[2])
			}
		}
	}
	if diff := cmp.Diff(strangers, theirs, cmpopts.EquateComparable(netip.Prefix{})); diff != "" {
		k.t.Errorf("what strangers have (-before +after):\n%s", diff)
	}
	for _, r := range requests {
		id, err := strconv.ParseInt(strings.Trim(strings.TrimPrefix(r.Path, "/api/ipam/ip-addresses/"), "/"), 10, 64)
		if _, stranger := strangers[id]; err == nil && stranger && r.Writes() {
			k.t.Errorf("%s %s: that is a stranger's", r.Method, r.Path)
		}
	}
	if n := k.visits.Load(); n > 0 {
		k.t.Errorf("%d requests went to the host that NetBox redirected to", n)
	}
	if k.kept != len(list.Items) || k.released < 2000 || k.netbox.Made("provider") < 2000 {
		k.t.Errorf("%d resources of %d that were to stay, %d released", len(list.Items), k.kept, k.released)
	}
	return aside
}

// checkMet holds that it was a bad world: a soak that is faster, or a table whose rows nobody meets, proves less.
func (k *soak) checkMet() {
	k.t.Helper()
	late, kills := 0, 0
	for _, r := range k.netbox.Requests() {
		if r.Fault == netbox.FaultDelay && r.Method == http.MethodPost && r.Status == http.StatusCreated {
			late++
		}
	}
	met := k.chaos.counts(k.netbox)
	for words, n := range met {
		if strings.HasPrefix(words, killedAt) {
			kills += n
		}
	}
	least := map[string]int{"a second provider at once": 1, bothAtOnce: 300, stoodStill: 5, struck: 100, lagged: 500, "API server: a copy that is behind": 500, "API server: timeout before the effect": 50, "API server: timeout after the effect": 50}
	for _, m := range mishaps() {
		least[m.words] = 10
	}
	for _, at := range []string{
		"API get", "API update.before", "API update.after", "API status.before", "API status.after", "netbox-after-post",
		"netboxipaddress.create.before", "netboxipaddress.create.after", "netboxipaddress.delete.before", "netboxipaddress.delete.after",
	} {
		least[killedAt+at] = 1
	}
	for words, n := range least {
		if met[words] < n {
			k.t.Errorf("%q was met %d times, want %d at least", words, met[words], n)
		}
	}
	for words, n := range map[string][2]int{
		"kills": {kills, 80}, "lives that waited for what may come": {k.parked, 40}, "records that came late": {late, 20},
		"lives that ended by one of two providers": {k.shared, 100},
	} {
		if n[0] < n[1] {
			k.t.Errorf("%s: %d, want %d at least", words, n[0], n[1])
		}
	}
}
