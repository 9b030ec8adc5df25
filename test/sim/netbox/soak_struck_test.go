package netbox_test

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

const (
	// struckChance is that of somebody deleting the record of a resource in NetBox, as soon as it's Ready, and struckKept that of one that stays.
	struckChance, struckKept = 0.08, 0.25
	// soakRestores of five have it made again.
	soakRestores = 2
	// struck is that in the table, and released is the field of the note on a record that was set aside.
	struck        = "a record deleted by hand, of a resource that lives"
	soakNoteField = "crossplane_released"
)

// A stroke is what becomes of a resource whose record somebody deleted.
type stroke struct {
	// record that was deleted; 0: none was.
	record int64
	// restores says that the same address is to be made again, and over that it was, or was found to be lost.
	restores, over bool
}

// restores says what the policy of a resource is.
func restores(n int) bool { return n%5 < soakRestores }

// strike deletes the record of a resource in NetBox, as somebody there does, and says whether it did.
func (k *soak) strike(l *life, mg *v1alpha1.NetBoxIPAddress) bool {
	chance := struckChance
	if l.keep {
		chance = struckKept
	}
	if l.stroke.record != 0 || mg.DeletionTimestamp != nil || !k.chaos.chance(chance) {
		return false
	}
	k.chaos.happens(struck)
	k.mu.Lock()
	l.stroke.record, l.stroke.restores = mg.Status.AtProvider.ID, mg.Spec.ForProvider.WhenLost == v1alpha1.LostRestore
	k.mu.Unlock()
	k.netbox.RemoveAddress(mg.Status.AtProvider.ID)
	return true
}

// endures says whether a resource whose record was deleted is yet to say so, or to have it made again.
func (k *soak) endures(l *life, mg *v1alpha1.NetBoxIPAddress) bool {
	if l.stroke.record == 0 || l.stroke.over || mg.DeletionTimestamp != nil {
		return false
	}
	over := lostNow(mg)
	if l.stroke.restores {
		over = ready(mg) && mg.Status.AtProvider.ID != l.stroke.record
	}
	if over {
		k.mu.Lock()
		l.stroke.over = true
		k.mu.Unlock()
	}
	return !over
}

// lostNow says that a resource says that its record is gone.
func lostNow(mg *v1alpha1.NetBoxIPAddress) bool {
	return mg.GetCondition(xpv2.TypeReady).Reason == v1alpha1.ReasonLost
}

// holds says that a resource is as it's to be by the end of it all.
func (l *life) holds(mg *v1alpha1.NetBoxIPAddress) bool {
	if l.stroke.over && !l.stroke.restores {
		return lostNow(mg)
	}
	return ready(mg)
}

// addresses are whose an address is by status, and which one each was given first. A past notes them with each write.
type addresses struct {
	of, first map[string]string
	// records that each resource named, and wrong is what went wrong, of whom. versions are what each resource that lives was after each write, and
	// when.
	records  map[string]map[int64]bool
	wrong    []wrong
	versions map[string][]string
}

func newAddresses() addresses {
	return addresses{of: map[string]string{}, first: map[string]string{}, records: map[string]map[int64]bool{}, versions: map[string][]string{}}
}

// addressOf is what a resource that lives says that its address is; "" where it ends, or says none.
func addressOf(mg *v1alpha1.NetBoxIPAddress) string {
	if mg == nil || meta.WasDeleted(mg) {
		return ""
	}
	address, _, _ := strings.Cut(mg.Status.AtProvider.Address, "/")
	return address
}

// versionWords are what a resource is, for its story; "gone" of one that was deleted.
func versionWords(mg *v1alpha1.NetBoxIPAddress) string {
	if mg == nil {
		return time.Now().Format(time.StampMicro) + " gone"
	}
	r, s := mg.GetCondition(xpv2.TypeReady), mg.GetCondition(xpv2.TypeSynced)
	return fmt.Sprintf("%s version %s: named %q, status %s of record %d, ends %v, Ready %s, Synced %s; %s; %s", time.Now().Format(time.StampMicro), mg.ResourceVersion,
		meta.GetExternalName(mg), mg.Status.AtProvider.Address, mg.Status.AtProvider.ID, meta.WasDeleted(mg), r.Status, s.Status, r.Message, s.Message)
}

// A wrong is what went wrong, of some resources.
type wrong struct {
	words string
	names []string
}

// note what a resource that lives says that its address is. Whoever is noted to have it may have ended since, which lives says.
func (a *addresses) note(name string, mg *v1alpha1.NetBoxIPAddress, lives func(name, address string) bool) {
	a.versions[name] = append(a.versions[name], versionWords(mg))
	if mg != nil && mg.Status.AtProvider.ID != 0 {
		if a.records[name] == nil {
			a.records[name] = map[int64]bool{}
		}
		a.records[name][mg.Status.AtProvider.ID] = true
	}
	address := addressOf(mg)
	for has, by := range a.of {
		if by == name && has != address {
			delete(a.of, has)
		}
	}
	if address == "" {
		return
	}
	if by := a.of[address]; by != "" && by != name && lives(by, address) {
		a.wrong = append(a.wrong, wrong{address + " is " + by + "'s and " + name + "'s at once", []string{by, name}})
	}
	a.of[address] = name
	switch was := a.first[name]; was {
	case "":
		a.first[name] = address
	case address:
	default:
		a.wrong = append(a.wrong, wrong{name + " had " + was + " and takes " + address, []string{name}})
	}
}

// checkStruck holds that a deletion by hand gave nobody another address, nor one to two, and that what was set aside for those who lost theirs is
// accounted for: aside are the records that carry a note instead of a marker.
func (k *soak) checkStruck(aside map[netip.Addr]netbox.Address) {
	k.t.Helper()
	for _, w := range k.past.addresses.wrong {
		k.t.Error(w.words)
		k.story(w.names...)
	}
	counts := map[string]int{}
	for name, l := range k.lives {
		if s := l.stroke; s.over && s.restores {
			counts["restored"]++
		} else if s.over {
			counts["lost"]++
		}
		first, _ := netip.ParseAddr(k.past.addresses.first[name])
		a, ok := aside[first]
		note, _ := a.CustomFields[soakNoteField].(string)
		if !ok || !strings.HasPrefix(note, clusterID+"/team-a/"+name+"/") {
			continue
		}
		counts["set aside"]++
		delete(aside, first)
		if l.stroke.record == 0 || a.Status != "deprecated" || a.Description != "" || a.DNSName != "" || len(a.Tags) != 0 {
			k.t.Errorf("%s, %+v: its record is set aside: %+v", name, l.stroke, a)
		}
	}
	for _, a := range aside {
		k.t.Errorf("a record is set aside for nobody who lost it: %+v", a)
	}
	k.t.Logf("of those whose records were deleted by hand: %v", counts)
	for words, least := range map[string]int{"restored": 20, "lost": 20, "set aside": 10} {
		if counts[words] < least {
			k.t.Errorf("%s: %d, want %d at least", words, counts[words], least)
		}
	}
}
