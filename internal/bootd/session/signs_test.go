package session

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// seen gives the sightings of a silent installer's machine, in words: each is a minute after the one before, and one that begins with "late" was
// seen an hour before the first of all.
func seen(words string) (list []Sighting, last time.Time) {
	at := start()
	for word := range strings.FieldsSeq(words) {
		at = at.Add(time.Minute)
		x := Sighting{At: at, Silent: true, GrantID: grantID}
		what, late := strings.CutPrefix(word, "late-")
		if late {
			x.At = start().Add(-time.Hour)
		}
		switch what {
		case "data":
			x.Kind = SawData
		case "dhcp":
			x.Kind = SawFirmwareDHCP
		case "file":
			x.Kind = SawFirmwareFile
		case "disk":
			x.Kind, x.Disk, x.Reason = SawScript, true, boot.DecidedConsumed
		case "hold":
			x.Kind, x.Reason = SawScript, boot.DecidedConsumed
		case "system":
			x.Kind = SawSystemDHCP
		}
		list = append(list, x)
	}
	return list, at
}

// TestSigns: an install that nobody reports is known by all of its signs, in their order, and by a machine that stays.
func TestSigns(t *testing.T) {
	loop := strings.Repeat("dhcp disk ", loopReturns+1)
	reported := func(x *Sighting) { x.Silent = false }
	cases := map[string]struct {
		reason    string
		seen      string
		change    func(*Sighting)
		session   func(*boot.Session)
		installed bool
		told      string
	}{
		"Installed":   {reason: "its data, its firmware, its disk, its system", seen: "data system dhcp file disk system", installed: true, told: boot.DecidedInstalled},
		"Unwatched":   {reason: "another bootd's DHCP may not have been heard of", seen: "data disk system", installed: true, told: boot.DecidedInstalled},
		"TwoNICs":     {reason: "firmware that tries each NIC ends at the disk, too", seen: "data dhcp disk dhcp disk system", installed: true, told: boot.DecidedInstalled},
		"Renews":      {reason: "a system that asks again is still there", seen: "data dhcp disk system file system", installed: true, told: boot.DecidedInstalled},
		"Installer":   {reason: "an installer asks for an address as a system does", seen: "data system file system", told: ""},
		"NoData":      {reason: "what had no answers installed nothing: an old system runs", seen: "dhcp disk system", told: boot.DecidedConsumed},
		"ComesBack":   {reason: "a system that doesn't stay", seen: "data dhcp disk system dhcp"},
		"ComesAgain":  {reason: "nor after the next time", seen: "data dhcp disk system dhcp disk", told: boot.ReasonSentToDisk},
		"EmptyDisk":   {reason: "an empty disk sends the machine back to the network for ever", seen: "data " + loop, told: boot.DecidedBootLoop},
		"Mended":      {reason: "somebody set the disk right", seen: "data " + loop + " system", installed: true, told: boot.DecidedInstalled},
		"Held":        {reason: "a machine that is held is in its loader", seen: "data dhcp hold system", told: boot.DecidedConsumed},
		"HeldSince":   {reason: "and one that is held now isn't at its disk any more", seen: "data dhcp disk system hold", told: boot.DecidedConsumed},
		"SentOnly":    {reason: "nobody knows whether there's a system", seen: "data dhcp disk", told: boot.ReasonSentToDisk},
		"LateSystem":  {reason: "the installer's own request, written late by another bootd", seen: "data dhcp disk late-system", told: boot.ReasonSentToDisk},
		"LateDHCP":    {reason: "the installer's own boot, written late", seen: "data dhcp disk system late-dhcp", installed: true, told: boot.DecidedInstalled},
		"LateDisk":    {reason: "an answer from before the install", seen: "data late-disk system", told: boot.DecidedConsumed},
		"Reports":     {reason: "who can report isn't guessed about", seen: "data dhcp disk system", change: reported, told: boot.DecidedConsumed},
		"OthersData":  {reason: "the data of another grant", seen: "data dhcp disk system", change: func(x *Sighting) { x.GrantID = map[bool]string{true: "x", false: grantID}[x.Kind == SawData] }, told: boot.DecidedConsumed},
		"OtherReason": {reason: "sent to the disk for another reason than the used grant", seen: "data dhcp disk system", change: func(x *Sighting) { x.Reason = boot.DecidedExpired }, told: boot.DecidedExpired},
		"Revoked":     {reason: "a session that is closed tells nothing more", seen: "data dhcp disk system", session: func(s *boot.Session) { s.Revocation = "r" }, told: boot.ReasonSentToDisk},
		"Failed":      {reason: "its own word of failure stands", seen: "data dhcp disk system", session: func(s *boot.Session) { s.Failed = &boot.Result{GrantID: grantID} }, told: boot.DecidedConsumed},
		"Granted": {reason: "of the next generation nothing has begun", seen: "data dhcp disk system", session: func(s *boot.Session) {
			s.Grant = &boot.Grant{ID: "00000000000000bb", Generation: 2}
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := granted()
			r.Session.OpenedGrantID, r.Session.Consumed = grantID, &boot.Consumption{GrantID: grantID, HostUID: "host", EntryUID: "entry", Generation: 1, PlanDigest: "d", At: start()}
			r.Progress = began(r.Progress, start())
			if tc.session != nil {
				tc.session(&r.Session)
			}
			list, last := seen(tc.seen)
			system := time.Time{}
			for _, x := range list {
				if tc.change != nil {
					tc.change(&x)
				}
				if r = advance(r, x); x.Kind == SawSystemDHCP && system.Before(r.Progress.Signs.System) {
					system = r.Progress.Signs.System
				}
				if r = conclude(r, x.At); r.Session.Installed != nil {
					t.Fatalf("%s: installed at %s already", tc.reason, x.At)
				}
			}
			r = conclude(r, last.Add(24*time.Hour))
			if got := r.Session.Installed != nil; got != tc.installed {
				t.Errorf("%s: installed is %t; %+v", tc.reason, got, r.Progress)
			}
			if r.Progress.Reason != tc.told && tc.told != "" {
				t.Errorf("%s: the reason is %q, want %q", tc.reason, r.Progress.Reason, tc.told)
			}
			if !tc.installed {
				if r.Progress.Stage == boot.StageBootedFromDisk || !r.Progress.Timeline.BootedFromDisk.IsZero() {
					t.Errorf("%s: it's said to run: %+v", tc.reason, r.Progress)
				}
				return
			}
			want := &boot.Result{GrantID: grantID, Generation: 1, PlanDigest: "d", At: system, Message: inferred}
			if diff := cmp.Diff(want, r.Session.Installed); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
			if r.Progress.Stage != boot.StageBootedFromDisk || r.Progress.Timeline.Installed != system || r.Progress.Timeline.BootedFromDisk != system {
				t.Errorf("%s: %+v", tc.reason, r.Progress)
			}
		})
	}
}

// TestSignsWaitForTheMachineToStay: an install without a report counts five minutes after its system was seen, and not a second before.
func TestSignsWaitForTheMachineToStay(t *testing.T) {
	r := granted()
	r.Session.Consumed = &boot.Consumption{GrantID: grantID}
	list, last := seen("data dhcp disk system")
	for _, x := range list {
		r = advance(r, x)
	}
	if got := conclude(r, last.Add(soonAfter-time.Second)); got.Session.Installed != nil {
		t.Error("it may still come back")
	}
	if got := conclude(r, last.Add(soonAfter)); got.Session.Installed == nil {
		t.Error("it stays")
	}
	if got := began(r.Progress, last); got.Signs != (Signs{}) {
		t.Errorf("the next install begins with the signs of this one: %+v", got.Signs)
	}
}

// TestSignsAreConcludedWithoutASighting: whoever watches a session ends its install once it's time, a bootd that was restarted meanwhile, too.
func TestSignsAreConcludedWithoutASighting(t *testing.T) {
	a := newAPI(granted())
	dir := t.TempDir()
	m := bootd(t, a, "a", dir)
	if err := m.OpenAndConsume(t.Context(), plan(), token(nonceA), fresh()); err != nil {
		t.Fatal(err)
	}
	list, last := seen("data dhcp disk system")
	for _, x := range list {
		m.Sight(machine(), x)
	}
	m.write(t.Context(), machine())
	if r := a.record(machine()); r.Session.Installed != nil || r.Progress.Signs.System != last || r.Progress.Stage != boot.StageInstalling {
		t.Fatalf("before it's time: %+v", r.Progress)
	}
	var now atomic.Int64
	now.Store(last.UnixNano())
	other := bootd(t, a, "b", dir)
	other.o.Now = func() time.Time { return time.Unix(0, now.Load()).UTC() }
	if err := other.Seen(a.record(machine())); err != nil {
		t.Fatal(err)
	}
	if names, next := other.due(last); len(names) != 0 || next <= 0 {
		t.Errorf("%v are due, the next in %s", names, next)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- other.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	now.Store(last.Add(soonAfter).UnixNano())
	await(t, "the end of the install", func() bool { return a.record(machine()).Session.Installed != nil })
}

// TestSignsOfAnotherLife: a bootd that has just started, or couldn't ask the API, has listened to nobody. Whatever the clock says, it waits by
// itself whether the machine comes back.
func TestSignsOfAnotherLife(t *testing.T) {
	a := newAPI(granted())
	m := bootd(t, a, "a", t.TempDir())
	if err := m.OpenAndConsume(t.Context(), plan(), token(nonceA), fresh()); err != nil {
		t.Fatal(err)
	}
	list, last := seen("data dhcp disk system")
	for _, x := range list {
		m.Sight(machine(), x)
	}
	now := last.Add(time.Hour)
	m.o.Now = func() time.Time { return now }
	installed := func(when string, want bool) {
		t.Helper()
		m.write(t.Context(), machine())
		if got := a.record(machine()).Session.Installed != nil; got != want {
			t.Errorf("%s: installed is %t", when, got)
		}
	}
	installed("its signs are written late", false)
	if err := m.Seen(a.record(machine())); err != nil {
		t.Fatal(err)
	}
	installed("it has only just heard of them", false)
	if names, _ := m.due(now.Add(soonAfter)); len(names) != 1 {
		t.Errorf("a write that changed nothing has ended the wait: %v are due", names)
	}
	now = now.Add(soonAfter - time.Second)
	installed("a second before", false)
	m.unsure(machine())
	now = now.Add(time.Second)
	installed("the API was away", false)
	now = now.Add(soonAfter)
	installed("nobody came", true)
}
