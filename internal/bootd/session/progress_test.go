package session

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

func TestAdvance(t *testing.T) {
	t0 := start()
	grant := &boot.Grant{ID: grantID}
	used := &boot.Consumption{GrantID: grantID}
	done := &boot.Result{GrantID: grantID, At: t0}
	story := Timeline{DHCP: t0, Began: t0, Installed: t0}
	later := t0.Add(time.Minute)
	cases := map[string]struct {
		reason  string
		session boot.Session
		before  Progress
		see     Sighting
		want    Progress
	}{
		"FirstDHCP": {
			reason: "a granted machine that starts begins its story", session: boot.Session{Grant: grant},
			before: Progress{Stage: boot.StageBootedFromDisk, Timeline: story, Reason: "x", Boots: 3},
			see:    Sighting{Kind: SawFirmwareDHCP, At: later},
			want:   Progress{Stage: boot.StageDHCP, Timeline: Timeline{DHCP: later}, Boots: 4},
		},
		"Firmware": {
			reason: "what begins it is of this boot, and what was of the one before isn't", session: boot.Session{Grant: grant},
			before: Progress{Boot: Boot{Firmware: "BIOS", Arch: "amd64", Server: "b", Bytes: 5}},
			see:    Sighting{Kind: SawFirmwareDHCP, At: later, Firmware: "UEFI", Arch: "arm64", Server: "a"},
			want:   Progress{Stage: boot.StageDHCP, Timeline: Timeline{DHCP: later}, Boots: 1, Boot: Boot{Firmware: "UEFI", Arch: "arm64", Server: "a"}},
		},
		"RebootAfterInstall": {
			reason: "the story of an install isn't overwritten by a later boot", session: boot.Session{Grant: grant, Consumed: used, Installed: done},
			before: Progress{Boot: Boot{Firmware: "UEFI", Server: "a", Bytes: 5}},
			see:    Sighting{Kind: SawFirmwareDHCP, At: later, Firmware: "BIOS", Server: "b"},
			want:   Progress{Boots: 1, Boot: Boot{Firmware: "UEFI", Server: "a", Bytes: 5}},
		},
		"ScriptByAnother": {
			reason: "two bootds share a boot: who decides about it is told", session: boot.Session{Grant: grant},
			before: Progress{Boot: Boot{Firmware: "UEFI", Server: "a"}},
			see:    Sighting{Kind: SawScript, At: later, Server: "b", GrantID: grantID, Reason: "x"},
			want:   Progress{Stage: boot.StageScript, Timeline: Timeline{Script: later}, Reason: "x", Boot: Boot{Firmware: "UEFI", Server: "b"}},
		},
		"StartsAgainAfterItsLastScript": {
			reason:  "a boot loop is told by where it ended, and not by the boot that is held",
			session: boot.Session{Grant: grant, OpenedGrantID: grantID, Opened: make([]boot.Opened, boot.MaxOpens)},
			before:  Progress{Stage: boot.StageKernel, Timeline: Timeline{DHCP: t0, Kernel: t0}, Boots: 5},
			see:     Sighting{Kind: SawFirmwareDHCP, At: later},
			want:    Progress{Stage: boot.StageKernel, Timeline: Timeline{DHCP: t0, Kernel: t0}, Boots: 6},
		},
		"Declines": {
			reason: "a machine that finds another with its address tells it in whatever story", session: boot.Session{Grant: grant, Consumed: used},
			before: Progress{Stage: boot.StageInstalling}, see: Sighting{Kind: SawReport, At: later, Message: "m", Declined: "10.77.0.11", MAC: "52:54:00:00:00:01"},
			want: Progress{Stage: boot.StageInstalling, Report: "m", Declined: Declined{Address: "10.77.0.11", MAC: "52:54:00:00:00:01", At: later}},
		},
		"DeclineHeardTwice": {
			reason: "what two bootds of a segment heard is one decline", session: boot.Session{Grant: grant, Consumed: used},
			before: Progress{Declined: Declined{Address: "10.77.0.11", MAC: "52:54:00:00:00:01", At: later}},
			see:    Sighting{Kind: SawReport, At: later.Add(-time.Second), Declined: "10.77.0.11", MAC: "52:54:00:00:00:01"},
			want:   Progress{Declined: Declined{Address: "10.77.0.11", MAC: "52:54:00:00:00:01", At: later}},
		},
		"DeclinedLate": {
			reason: "one that is written late is none that is news",
			before: Progress{Declined: Declined{Address: "10.77.0.11", MAC: "52:54:00:00:00:01", At: later}},
			see:    Sighting{Kind: SawReport, At: later.Add(-20 * time.Minute), Declined: "10.77.0.11", MAC: "52:54:00:00:00:01"},
			want:   Progress{Declined: Declined{Address: "10.77.0.11", MAC: "52:54:00:00:00:01", At: later}},
		},
		"DeclinesAgain": {
			reason: "once it's out of quarantine that it's still taken is news", session: boot.Session{Grant: grant, Consumed: used},
			before: Progress{Declined: Declined{Address: "10.77.0.11", MAC: "52:54:00:00:00:01", At: t0}},
			see:    Sighting{Kind: SawReport, At: t0.Add(10 * time.Minute), Declined: "10.77.0.11", MAC: "52:54:00:00:00:01"},
			want:   Progress{Declined: Declined{Address: "10.77.0.11", MAC: "52:54:00:00:00:01", At: t0.Add(10 * time.Minute)}},
		},
		"DeclinesAnother": {
			reason: "and so is another address, at once", session: boot.Session{Grant: grant, Consumed: used},
			before: Progress{Declined: Declined{Address: "10.77.0.11", MAC: "52:54:00:00:00:01", At: t0}},
			see:    Sighting{Kind: SawReport, At: t0.Add(time.Second), Declined: "fd00:77::11", MAC: "52:54:00:00:00:01"},
			want:   Progress{Declined: Declined{Address: "fd00:77::11", MAC: "52:54:00:00:00:01", At: t0.Add(time.Second)}},
		},
		"ResetDuringInstall": {
			reason: "a reset after consumption is counted, and the install's story stays", session: boot.Session{Grant: grant, Consumed: used},
			before: Progress{Stage: boot.StageInstalling, Timeline: story, Boots: 1},
			see:    Sighting{Kind: SawFirmwareDHCP, At: later},
			want:   Progress{Stage: boot.StageInstalling, Timeline: story, Boots: 2},
		},
		"HeldAfterReset": {
			reason: "why it was told to hold is said", session: boot.Session{Grant: grant, Consumed: used},
			before: Progress{Stage: boot.StageInstalling, Timeline: story},
			see:    Sighting{Kind: SawScript, At: later, Reason: boot.DecidedConsumed, GrantID: grantID},
			want:   Progress{Stage: boot.StageInstalling, Timeline: story, Reason: boot.DecidedConsumed},
		},
		"HeldBeforeGrant": {
			reason:  "what it was told for the grant before, written late, doesn't make the new install look interrupted",
			session: boot.Session{Grant: grant, Consumed: used},
			before:  Progress{Stage: boot.StageInstalling, Timeline: story, Reason: boot.DecidedGranted},
			see:     Sighting{Kind: SawScript, At: later, Reason: boot.DecidedConsumed, GrantID: "00000000000000bb"},
			want:    Progress{Stage: boot.StageInstalling, Timeline: story, Reason: boot.DecidedGranted},
		},
		"InstallersOwnDHCP": {
			reason: "the installer asks for an address as a system does: no sign of its disk", session: boot.Session{Grant: grant, Consumed: used},
			before: Progress{Stage: boot.StageInstalling}, see: Sighting{Kind: SawSystemDHCP, At: later}, want: Progress{Stage: boot.StageInstalling},
		},
		"OldSystem": {
			reason: "a system that asks while an install is granted is the old one", session: boot.Session{Grant: grant},
			before: Progress{Stage: boot.StageWaiting}, see: Sighting{Kind: SawSystemDHCP, At: later}, want: Progress{Stage: boot.StageWaiting},
		},
		"Disk": {
			reason: "after installed a system's DHCP is its disk's", session: boot.Session{Grant: grant, Consumed: used, Installed: done},
			before: Progress{Stage: boot.StageInstalled, Timeline: story}, see: Sighting{Kind: SawSystemDHCP, At: later},
			want: Progress{Stage: boot.StageBootedFromDisk, Timeline: Timeline{DHCP: t0, Began: t0, Installed: t0, BootedFromDisk: later}},
		},
		"DiskBeforeInstalled": {
			reason: "a sighting from before the report isn't", session: boot.Session{Grant: grant, Consumed: used, Installed: done},
			before: Progress{Stage: boot.StageInstalled}, see: Sighting{Kind: SawSystemDHCP, At: t0.Add(-time.Second)},
			want: Progress{Stage: boot.StageInstalled},
		},
		"DiskBySlowClock": {
			reason:  "of two bootds the one that saw the system has a slow clock; it knew of the install all the same",
			session: boot.Session{Grant: grant, Consumed: used, Installed: done},
			before:  Progress{Stage: boot.StageInstalled}, see: Sighting{Kind: SawSystemDHCP, At: t0.Add(-time.Minute), Installed: grantID},
			want: Progress{Stage: boot.StageBootedFromDisk, Timeline: Timeline{BootedFromDisk: t0.Add(-time.Minute)}},
		},
		"DiskOfAnEarlierInstall": {
			reason:  "that an earlier install was known says nothing of this one",
			session: boot.Session{Grant: grant, Consumed: used, Installed: done},
			before:  Progress{Stage: boot.StageInstalled}, see: Sighting{Kind: SawSystemDHCP, At: t0.Add(-time.Minute), Installed: "00000000000000bb"},
			want: Progress{Stage: boot.StageInstalled},
		},
		"FailedStays": {
			reason: "what failed isn't called booted", session: boot.Session{Grant: grant, Consumed: used, Failed: done},
			before: Progress{Stage: boot.StageFailed}, see: Sighting{Kind: SawSystemDHCP, At: later}, want: Progress{Stage: boot.StageFailed},
		},
		"RebootFromDisk": {
			reason: "an installed machine that reboots doesn't flap", session: boot.Session{Grant: grant, Consumed: used, Installed: done},
			before: Progress{Stage: boot.StageBootedFromDisk, Timeline: story, Boots: 1}, see: Sighting{Kind: SawFirmwareDHCP, At: later},
			want: Progress{Stage: boot.StageBootedFromDisk, Timeline: story, Boots: 2},
		},
		"LaggingDecision": {
			reason:  "an answer made before the watch delivered the report has its right reason",
			session: boot.Session{Grant: grant, Consumed: used, Installed: done},
			before:  Progress{Stage: boot.StageInstalled}, see: Sighting{Kind: SawScript, At: later, Reason: boot.DecidedConsumed, GrantID: grantID},
			want: Progress{Stage: boot.StageInstalled, Reason: boot.DecidedInstalled},
		},
		"ToldByASnapshotOfBeforeARestore": {
			reason:  "an answer by a snapshot that knew of an end which the session, put back by a backup, doesn't: the machine was reset after its install began",
			session: boot.Session{Grant: grant, Consumed: used},
			before:  Progress{Stage: boot.StageInstalling, Timeline: story}, see: Sighting{Kind: SawScript, At: later, Reason: boot.DecidedInstalled, GrantID: grantID},
			want: Progress{Stage: boot.StageInstalling, Timeline: story, Reason: boot.DecidedConsumed},
		},
		"ToldWithoutAGrant": {
			reason:  "the snapshot was of after its used grant had been cleared",
			session: boot.Session{Grant: grant, Consumed: &boot.Consumption{GrantID: grantID, At: t0}},
			before:  Progress{Stage: boot.StageInstalling, Timeline: story}, see: Sighting{Kind: SawScript, At: later, Reason: boot.DecidedInstalled},
			want: Progress{Stage: boot.StageInstalling, Timeline: story, Reason: boot.DecidedConsumed},
		},
		"WrittenLate": {
			reason:  "a boot from the disk of before this install says nothing about it",
			session: boot.Session{Grant: grant, Consumed: &boot.Consumption{GrantID: grantID, At: later}},
			before:  Progress{Stage: boot.StageInstalling, Timeline: story}, see: Sighting{Kind: SawScript, At: t0, Reason: boot.DecidedInstalled},
			want: Progress{Stage: boot.StageInstalling, Timeline: story},
		},
		"GenerationZero": {
			reason: "a machine that was never to be installed is seen to run", session: boot.Session{},
			see: Sighting{Kind: SawSystemDHCP, At: later}, want: Progress{Stage: boot.StageBootedFromDisk, Timeline: Timeline{BootedFromDisk: later}},
		},
		"Live": {
			reason: "a live system has no disk", session: boot.Session{},
			before: Progress{Stage: boot.StageKernel}, see: Sighting{Kind: SawSystemDHCP, At: later, Live: true}, want: Progress{Stage: boot.StageKernel},
		},
		"LateFirmware": {
			reason: "a late sighting doesn't set a boot back", session: boot.Session{Grant: grant},
			before: Progress{Stage: boot.StageKernel, Timeline: Timeline{Kernel: t0}}, see: Sighting{Kind: SawFirmwareFile, At: later},
			want: Progress{Stage: boot.StageKernel, Timeline: Timeline{Kernel: t0, Firmware: later}},
		},
		"Report": {
			reason: "what a machine says is kept", session: boot.Session{Grant: grant, Consumed: used},
			see: Sighting{Kind: SawReport, At: later, Message: "50 %"}, want: Progress{Report: "50 %"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := advance(Record{Session: tc.session, Progress: tc.before}, tc.see)
			if diff := cmp.Diff(tc.want, got.Progress); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestOpenedBeginsAStory(t *testing.T) {
	t0 := start()
	old := Progress{Stage: boot.StageBootedFromDisk, Timeline: Timeline{DHCP: t0, Began: t0, BootedFromDisk: t0}}
	if diff := cmp.Diff(Timeline{Script: t0}, opened(old, true, t0).Timeline); diff != "" {
		t.Errorf("the first script of a grant: -want +got:\n%s", diff)
	}
	now := Progress{Timeline: Timeline{DHCP: t0, Firmware: t0}}
	if diff := cmp.Diff(Timeline{DHCP: t0, Firmware: t0, Script: t0}, opened(now, true, t0).Timeline); diff != "" {
		t.Errorf("what led to it stays: -want +got:\n%s", diff)
	}
}

func TestClean(t *testing.T) {
	cases := map[string]struct{ reason, in, want string }{
		"Plain":   {"what is fine stays", "image written", "image written"},
		"Lines":   {"one line", "a\nb\t c\r\n", "a b c"},
		"Escapes": {"no terminal is steered", "\x1b[31mred\x00\x07", "[31mred"},
		"Invalid": {"no broken UTF-8", "a\xff\xfeb", "ab"},
		"Long":    {"bounded", strings.Repeat("x", 1000), strings.Repeat("x", MaxMessage-3) + "…"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Clean(tc.in); got != tc.want {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func FuzzClean(f *testing.F) {
	f.Add(strings.Repeat("ä", 500))
	f.Add("\x00\xff…\u202e")
	f.Fuzz(func(t *testing.T, s string) {
		got := Clean(s)
		if len(got) > MaxMessage || !utf8.ValidString(got) || strings.ContainsAny(got, "\n\x00\x1b") || Clean(got) != got {
			t.Errorf("%q became %q", s, got)
		}
	})
}
