package netbox_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// massPrefix is what all addresses of a mass are from, and massNew how many resources come right after many have lost their records.
const massPrefix, massNew = "10.80.0.0/22", 10

// A mass is many resources that lose their records at once.
type mass struct {
	*lab

	// had is the address of each resource that is to lose its record, by its name, in the order of old.
	had map[string]string
	old []string
	// restore are those of them that are to have it again.
	restore map[string]bool
	fresh   []string
}

// TestMassDeletion: somebody deletes hundreds of records in NetBox, or restores a backup that is older than they are, after which NetBox gives their
// addresses and their numbers to whoever asks next; and some ask, before anybody has looked. Each of them says Lost or has its own address back, as its
// policy says; none gets another one; nobody else gets any of theirs; and NetBox isn't asked for more than it takes. One that was given just the number of
// another one's record, and wasn't told of it, waits for a person.
func TestMassDeletion(t *testing.T) {
	byHand := func(m *mass, _ netbox.Backup) {
		for _, a := range m.netbox.Addresses() {
			m.netbox.RemoveAddress(a.ID)
		}
	}
	backup := func(m *mass, before netbox.Backup) { m.netbox.Restore(before) }
	cases := map[string]struct {
		lost int
		// crash is where the first one to ask is killed.
		crash   string
		happens func(m *mass, before netbox.Backup)
		// waits says that a person says whose that one's record is.
		waits bool
	}{
		"ByHand":  {250, "", byHand, false},
		"Backup":  {150, "", backup, false},
		"Killed":  {150, "netbox-after-allocate", byHand, false},
		"Restart": {150, "netbox-after-allocate", backup, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := newMass(t)
			before := m.netbox.Backup()
			m.make(tc.lost)
			tc.happens(m, before)
			m.netbox.ForgetRequests()
			for i := range massNew {
				m.fresh = append(m.fresh, fmt.Sprintf("new-%d", i))
				m.apply(m.fresh[i], m.wide)
			}
			if tc.crash != "" {
				m.crash = tc.crash
				killed := m.once(m.fresh[0]) // At its first look, or at the one that follows.
				if !killed && !m.once(m.fresh[0]) {
					t.Fatal("it wasn't killed")
				}
				m.crash = ""
				m.restart()
			}
			if tc.waits {
				m.once(m.fresh[0])
				m.waits(m.fresh[0], `is that of NetBoxIPAddress "old-0", as its status says`)
				m.mark(m.netbox.Addresses()[0].ID, clusterID+"/team-a/old-0/uid-old-0")
			}
			m.woken = nil
			rounds := m.settleAll()
			if !slices.Contains(m.woken, "team-a/"+m.fresh[0]) {
				t.Error("who had addresses set aside waits for a retry")
			}
			m.hold()
			asked := len(m.netbox.Requests())
			t.Logf("%d requests in %d rounds: %s", asked, rounds, m.routes())
			if most := 11*tc.lost + 20*massNew; asked > most {
				t.Errorf("NetBox was asked %d times, want %d at most", asked, most)
			}
			m.rest()
			t.Log(faultRow("hundreds of records are gone at once: "+name, tc.lost, tc.lost))
		})
	}
}

func newMass(t *testing.T) *mass {
	t.Helper()
	m := &mass{lab: newLab(t, "4.6.8"), had: map[string]string{}, restore: map[string]bool{}}
	m.netbox.AddMarkerField(field)
	m.netbox.AddCIDR(massPrefix)
	m.maxAge = 2 * time.Minute
	m.restart()
	return m
}

func (m *mass) wide(mg *v1alpha1.NetBoxIPAddress) {
	mg.Spec.ForProvider.From[0].Prefix.CIDR = massPrefix
	mg.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: v1alpha1.ClusterProviderConfigKind, Name: "netbox"}
}

// make the resources, every fifth of which is to have its address again.
func (m *mass) make(n int) {
	m.t.Helper()
	for i := range n {
		name := fmt.Sprintf("old-%d", i)
		m.old = append(m.old, name)
		m.restore[name] = i%5 == 0
		m.apply(name, m.wide, func(mg *v1alpha1.NetBoxIPAddress) {
			if m.restore[name] {
				mg.Spec.ForProvider.WhenLost = v1alpha1.LostRestore
			}
		})
		m.had[name] = m.settle(name, ready).Status.AtProvider.Address
		m.once(name)
	}
}

// settleAll looks at all of them in turns, those that came last first, until each is as it's to be, and holds all the while that nobody has what is
// another one's.
func (m *mass) settleAll() (rounds int) {
	m.t.Helper()
	for rounds = range 60 {
		open := 0
		for _, name := range m.fresh {
			m.once(name)
			if mg := m.get(name); !ready(mg) {
				open++
			}
		}
		m.distinct()
		for _, name := range m.old {
			m.once(name)
			if !m.done(name) {
				open++
			}
		}
		m.distinct()
		if open == 0 {
			return rounds + 1
		}
		m.now = m.now.Add(31 * time.Second)
	}
	m.t.Errorf("not all of them are as they're to be")
	return rounds
}

// done says of a resource that has lost its record that it's as its policy says. What was set aside for it may have just the number that its own
// record had, and is its own then.
func (m *mass) done(name string) bool {
	mg := m.get(name)
	if m.restore[name] || ready(mg) {
		has := m.netbox.WithMarker(field, clusterID+"/team-a/"+name+"/uid-"+name)
		return ready(mg) && len(has) == 1 && has[0].Address.String() == m.had[name] && meta.GetExternalName(mg) == strconv.FormatInt(has[0].ID, 10)
	}
	return mg.GetCondition(xpv2.TypeReady).Reason == v1alpha1.ReasonLost
}

// distinct holds that no two resources that may use their address have one, and that nobody new has one that was another's.
func (m *mass) distinct() {
	m.t.Helper()
	lost := map[string]string{}
	for name, address := range m.had {
		lost[address] = name
	}
	used := map[string]string{}
	for _, name := range m.fresh {
		mg := m.get(name)
		a := mg.Status.AtProvider.Address
		if a == "" {
			continue
		}
		if of := lost[a]; of != "" && ready(mg) {
			m.t.Fatalf("%s has %s, which is %s's", name, a, of)
		}
		if of := used[a]; of != "" {
			m.t.Fatalf("%s and %s have %s", name, of, a)
		}
		used[a] = name
	}
	for name, address := range m.had {
		if is := m.get(name).Status.AtProvider.Address; is != address {
			m.t.Fatalf("%s had %s, and has %q", name, address, is)
		}
	}
}

// hold looks into NetBox: each address has one record, and each marker; what nobody has again is as it's to be.
func (m *mass) hold() {
	m.t.Helper()
	hosts := map[string]int64{}
	for _, a := range m.netbox.Addresses() {
		if other := hosts[a.Address.Addr().String()]; other != 0 {
			m.t.Errorf("records %d and %d are of %s", other, a.ID, a.Address)
		}
		hosts[a.Address.Addr().String()] = a.ID
	}
	for marker, n := range m.netbox.Markers(field) {
		if n != 1 {
			m.t.Errorf("%d records carry %s", n, marker)
		}
	}
	for _, name := range m.old {
		if !m.done(name) {
			m.t.Errorf("%s is %+v", name, m.get(name).Status.Conditions)
			break
		}
	}
	for _, name := range m.fresh {
		if mg := m.get(name); !ready(mg) {
			m.t.Errorf("%s is %+v", name, mg.Status.Conditions)
		}
	}
}

// rest holds that NetBox is left alone afterwards: two minutes of looks, of each resource four a minute, make no more than ten requests a second.
func (m *mass) rest() {
	m.t.Helper()
	before := len(m.netbox.Requests())
	const looks = 8
	for range looks {
		m.now = m.now.Add(15 * time.Second)
		for name := range m.had {
			m.once(name)
		}
		for _, name := range m.fresh {
			m.once(name)
		}
		m.distinct()
	}
	if n := len(m.netbox.Requests()) - before; n > looks*15*10 {
		m.t.Errorf("%d requests in two minutes: %s", n, m.routes())
	}
}

// routes counts requests.
func (m *mass) routes() string {
	n := map[string]int{}
	for _, r := range m.netbox.Requests() {
		path := strings.Map(func(c rune) rune {
			if c >= '0' && c <= '9' {
				return -1
			}
			return c
		}, r.Path)
		n[r.Method+" "+path]++
	}
	var out []string
	for route, times := range n {
		out = append(out, fmt.Sprintf("%s: %d", route, times))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}
