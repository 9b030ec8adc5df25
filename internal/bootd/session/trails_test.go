package session

import (
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

func TestReached(t *testing.T) {
	type step struct {
		stage boot.Stage
		at    time.Duration // since the beginning
		took  time.Duration // -1: none
	}
	cases := map[string]struct {
		reason string
		steps  []step
	}{
		"Install": {"each from the one before", []step{
			{boot.StageDHCP, 0, -1}, {boot.StageFirmware, 2 * time.Second, 2 * time.Second}, {boot.StageScript, 5 * time.Second, 3 * time.Second},
			{boot.StageKernel, 6 * time.Second, time.Second}, {boot.StageInstalling, 66 * time.Second, time.Minute}, {boot.StageInstalling, 70 * time.Second, -1},
			{boot.StageInstalled, 126 * time.Second, time.Minute}, {boot.StageBootedFromDisk, 156 * time.Second, 30 * time.Second},
		}},
		"Skipped":  {"one that isn't seen counts with the next", []step{{boot.StageDHCP, 0, -1}, {boot.StageKernel, 9 * time.Second, 9 * time.Second}}},
		"Anew":     {"a new boot begins", []step{{boot.StageDHCP, 0, -1}, {boot.StageKernel, time.Second, time.Second}, {boot.StageDHCP, time.Minute, -1}, {boot.StageFirmware, 61 * time.Second, time.Second}}},
		"Failed":   {"an end, too", []step{{boot.StageInstalling, 0, -1}, {boot.StageFailed, time.Second, time.Second}, {boot.StageInstalled, 2 * time.Second, -1}}},
		"Renewal":  {"what runs already has no boot", []step{{boot.StageBootedFromDisk, 0, -1}, {boot.StageBootedFromDisk, time.Hour, -1}}},
		"LongAgo":  {"the day after it's another boot", []step{{boot.StageDHCP, 0, -1}, {boot.StageFirmware, 25 * time.Hour, -1}}},
		"PutBack":  {"a clock that is put back makes no figure", []step{{boot.StageDHCP, 0, -1}, {boot.StageFirmware, -time.Hour, -1}}},
		"Backward": {"nothing goes back within a boot", []step{{boot.StageDHCP, 0, -1}, {boot.StageScript, time.Second, time.Second}, {boot.StageFirmware, 2 * time.Second, -1}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l, begin := NewTrails(), time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC)
			for i, x := range tc.steps {
				took, ok := l.Reached(1, x.stage, begin.Add(x.at))
				if ok != (x.took >= 0) || ok && took != x.took {
					t.Errorf("%s: step %d, %s: %s, %v", tc.reason, i, x.stage, took, ok)
				}
			}
		})
	}
	l := NewTrails()
	for i := range 3 * maxTrails {
		l.Reached(Machine(i+1), boot.StageDHCP, time.Now())
	}
	if l.of.Len() > maxTrails {
		t.Errorf("%d machines are remembered", l.of.Len())
	}
}
