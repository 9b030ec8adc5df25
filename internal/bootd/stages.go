package bootd

import (
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

const (
	// maxStages machines are remembered on their way.
	maxStages = 16384
	// oneBoot is how long after its last stage a boot is taken for over.
	oneBoot = 24 * time.Hour
)

// stages measures how long machines take from one stage of a boot to the next that is seen.
type stages struct {
	// seed of machines' numbers: by them a machine is found without looking at others' UIDs, which are in no cache.
	seed maphash.Seed

	mu sync.Mutex
	of map[uint64]reached // by entry UID
}

// reached is the last stage of a machine.
type reached struct {
	stage boot.Stage
	at    time.Time
}

func newStages() *stages { return &stages{seed: maphash.MakeSeed(), of: map[uint64]reached{}} }

// reach notes a stage, and says how long it took from the one before; false: it's the first of a boot, or no later one than that.
func (s *stages) reach(entryUID string, stage boot.Stage, at time.Time) (took time.Duration, ok bool) {
	machine := maphash.String(s.seed, entryUID)
	s.mu.Lock()
	defer s.mu.Unlock()
	before, known := s.of[machine]
	took = at.Sub(before.at)
	fresh := !known || stage == boot.StageDHCP || took < 0 || took > oneBoot
	if !fresh && order(stage) <= order(before.stage) {
		return 0, false
	}
	if len(s.of) >= maxStages && !known {
		clear(s.of) // It costs at worst a figure of each.
	}
	s.of[machine] = reached{stage, at}
	return took, !fresh
}

// order of the stages. A failure is where an install may end, as well as a success.
func order(s boot.Stage) int {
	if s == boot.StageFailed {
		s = boot.StageInstalled
	}
	return slices.Index([]boot.Stage{
		boot.StageDHCP, boot.StageFirmware, boot.StageScript, boot.StageKernel, boot.StageInstalling, boot.StageInstalled, boot.StageBootedFromDisk,
	}, s)
}
