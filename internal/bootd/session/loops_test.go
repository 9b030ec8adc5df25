package session

import (
	"strconv"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// looping is the machine of these tests.
const looping Machine = 1

// TestLoops: a machine that's sent somewhere and comes back, or comes to no script at all, is counted, and said at the tenth time.
func TestLoops(t *testing.T) {
	disk := func(l *Trails, at time.Time) { l.Told(looping, LeadsToDisk, at) }
	live := func(l *Trails, at time.Time) { l.Told(looping, LeadsToLive, at) }
	held := func(l *Trails, _ time.Time) { l.Asked(looping) }
	runs := func(l *Trails, at time.Time) { live(l, at); l.Runs(looping) }
	loaded := func(l *Trails, _ time.Time) { l.Loaded(looping) }
	cases := map[string]struct {
		reason string
		every  time.Duration // from one boot to the next
		boots  int
		boot   func(l *Trails, at time.Time) // what comes of one; nil: nothing
		others bool                          // Its script may be another bootd's.
		runs   int                           // A system is seen after that boot.
		says   int
		lead   Lead
	}{
		"Nine":       {reason: "a few times is nothing", every: time.Minute, boots: 9, boot: disk},
		"Ten":        {reason: "ten times is a loop", every: time.Minute, boots: 10, boot: disk, says: 1, lead: LeadsToDisk},
		"Hours":      {reason: "it's said once an hour", every: 2 * time.Minute, boots: 90, boot: disk, says: 3, lead: LeadsToDisk},
		"Slow":       {reason: "a system ran in between", every: 10 * time.Minute, boots: 50, boot: disk},
		"Runs":       {reason: "a system was seen", every: time.Minute, boots: 15, boot: disk, runs: 7},
		"LiveNine":   {reason: "a few times is nothing here either", every: time.Minute, boots: 9, boot: live},
		"Live":       {reason: "it crashes", every: time.Minute, boots: 10, boot: live, says: 1, lead: LeadsToLive},
		"LiveSlow":   {reason: "it ran in between", every: 6 * time.Minute, boots: 50, boot: live},
		"LiveRuns":   {reason: "it was heard of each time", every: time.Minute, boots: 50, boot: runs},
		"Held":       {reason: "who is held comes back by itself", every: time.Minute, boots: 50, boot: held},
		"LostTen":    {reason: "the first one follows on none", every: 20 * time.Second, boots: 10},
		"Lost":       {reason: "no script at all", every: 20 * time.Second, boots: 11, says: 1, lead: LeadsNowhere},
		"LostHours":  {reason: "it's said once an hour", every: 2 * time.Minute, boots: 90, says: 3, lead: LeadsNowhere},
		"LostSlow":   {reason: "somebody starts it now and then", every: 6 * time.Minute, boots: 50},
		"Elsewhere":  {reason: "another bootd may have given the script", every: time.Minute, boots: 50, others: true},
		"LostLoaded": {reason: "it had its first stage of this one", every: time.Minute, boots: 11, boot: loaded, others: true, says: 1, lead: LeadsNowhere},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l, now, says := NewTrails(), time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC), 0
			for i := range tc.boots {
				if tc.boot != nil {
					tc.boot(l, now)
				}
				now = now.Add(tc.every)
				if i > 0 && i == tc.runs {
					l.Runs(looping)
				}
				lead, n, say := l.Began(looping, Way{}, func() bool { return !tc.others }, now)
				if !say {
					continue
				}
				says++
				if n < loopReturns || lead != tc.lead {
					t.Errorf("%d times, to %d", n, lead)
				}
			}
			if says != tc.says {
				t.Errorf("%s: said %d times, want %d", tc.reason, says, tc.says)
			}
			if tc.says > 0 {
				t.Logf("\n| bootd: a machine boots in a loop | %d | %d |", tc.says, says)
			}
		})
	}
}

// TestLoopsCountBoots: firmware that begins several times a boot, as by each of its NICs, comes back from its disk once, and fails to come to its script
// once. It may go on to its next NIC where it's told its disk.
func TestLoopsCountBoots(t *testing.T) {
	const nics = 6
	for name, tc := range map[string]struct {
		reason string
		told   func(nic int) bool
		lead   Lead
		counts int // of the NICs, which one's beginnings are those that count
	}{
		"NoScript": {"it gets no script by any of them", func(int) bool { return false }, LeadsNowhere, 1},
		"LastDisk": {"the last one leads to the disk", func(nic int) bool { return nic == nics-1 }, LeadsToDisk, 0},
		"EachDisk": {"each of them leads to the next", func(int) bool { return true }, LeadsToDisk, 1},
	} {
		t.Run(name, func(t *testing.T) {
			l, now, said := NewTrails(), time.Unix(1, 0), 0
			for i := range 2 * loopReturns {
				for nic := range nics {
					now = now.Add(5 * time.Second)
					w := Way{MAC: boot.MAC(strconv.Itoa(nic)), Firmware: boot.Firmware{Kind: boot.FirmwareUEFI}}
					if lead, n, say := l.Began(looping, w, func() bool { return true }, now); say {
						said++
						if first := i + min(1, tc.counts); lead != tc.lead || n != loopReturns || nic != tc.counts || first != loopReturns {
							t.Errorf("boot %d, NIC %d: %d times, to %d", i, nic, n, lead)
						}
					}
					if tc.told(nic) {
						l.Told(looping, tc.lead, now)
					}
				}
			}
			if said != 1 {
				t.Errorf("%s: said %d times", tc.reason, said)
			}
		})
	}
}

// TestLoopsOfAnotherMode: what a machine came back from before it was to boot something else counts no more.
func TestLoopsOfAnotherMode(t *testing.T) {
	l, now := NewTrails(), time.Unix(1, 0)
	for range loopReturns - 1 {
		l.Told(looping, LeadsToDisk, now)
		l.Began(looping, Way{}, func() bool { return true }, now)
	}
	l.Told(looping, LeadsToLive, now)
	if _, n, _ := l.Began(looping, Way{}, func() bool { return true }, now); n != 1 {
		t.Errorf("another mode counts on at %d", n)
	}
}

// TestLoopsAreSaidOnceAnHour: also where a system ran for a while in between.
func TestLoopsAreSaidOnceAnHour(t *testing.T) {
	for name, rests := range map[string]func(*Trails) time.Duration{
		"Slow": func(*Trails) time.Duration { return soonAfter + 2*time.Second },
		"Runs": func(l *Trails) time.Duration { l.Runs(looping); return 0 },
	} {
		t.Run(name, func(t *testing.T) {
			l, now, said := NewTrails(), time.Unix(1, 0), 0
			for end := now.Add(loopWindow - time.Minute); now.Before(end); now = now.Add(rests(l)) {
				for range loopReturns + 1 {
					l.Told(looping, LeadsToDisk, now)
					now = now.Add(5 * time.Second)
					if _, _, say := l.Began(looping, Way{}, func() bool { return true }, now); say {
						said++
					}
				}
				l.Told(looping, LeadsToDisk, now)
			}
			if said != 1 {
				t.Errorf("said %d times within an hour", said)
			}
		})
	}
}

// TestLoopsForget: of a machine that has come to its script, and to nothing that it may come back from, nothing is kept.
func TestLoopsForget(t *testing.T) {
	l := NewTrails()
	l.Began(looping, Way{}, func() bool { return true }, time.Unix(1, 0))
	l.Loaded(looping)
	l.Asked(looping)
	if l.of.Len() > 0 {
		t.Error(l.of.Len())
	}
}

// TestLoopsAreBounded: whatever comes by, so many are remembered.
func TestLoopsAreBounded(t *testing.T) {
	l := NewTrails()
	for i := range maxTrails + 9 {
		l.Told(MachineOf(boot.Name{Name: strconv.Itoa(i)}), LeadsToDisk, time.Unix(1, 0))
		l.Began(MachineOf(boot.Name{Name: "b" + strconv.Itoa(i)}), Way{}, func() bool { return true }, time.Unix(1, 0))
	}
	if l.of.Len() > maxTrails {
		t.Error(l.of.Len())
	}
}
