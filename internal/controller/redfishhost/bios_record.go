package redfishhost

import (
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// biosRecord is the journal's line about the declared map that it names.
type biosRecord struct {
	// Digest of the declared map.
	Digest string `json:"digest,omitempty"`
	// State is Staged, Verified, gaveUp, or "": not staged yet.
	State string `json:"state,omitempty"`
	// Why it was given up: a reason of the condition.
	Why string `json:"why,omitempty"`
	// Resets that were made for it, one at most; Turns are those for all maps, of
	// which two may be declared in turns.
	Resets int64 `json:"resets,omitempty"`
	Turns  turns `json:"turns,omitzero"`
	// Adopted says that it was declared when there was no journal: no reset is made
	// for it.
	Adopted bool `json:"adopted,omitempty"`
	// Job is the BMC's that has it until the boot, where nothing else shows that.
	Job string `json:"job,omitempty"`
	// Time, Power and LastReset as they were when it was staged.
	Time      time.Time     `json:"time,omitzero"`
	Power     redfish.Power `json:"power,omitempty"`
	LastReset time.Time     `json:"lastReset,omitzero"`
	// Asked is the look that was asked for last when it was given up.
	Asked string `json:"asked,omitempty"`
}

// biosOf is the journal's line about the map that is wanted.
func (j *journal) biosOf(w *wantBIOS) biosRecord {
	if j.BIOS.Digest == w.digest {
		return j.BIOS
	}

	return biosRecord{Digest: w.digest, Turns: j.BIOS.Turns}
}

// bootedSince says whether the machine booted after its map was staged: by what
// it shows, or by our own hand.
func (r biosRecord) bootedSince(s seen, j journal) bool {
	return bootedSince(act{Power: r.Power, LastReset: r.LastReset}, s) || s.on() && j.PoweredOn.After(r.Time)
}

// mayReset says whether the machine may be reset for the map, which it is once.
func (r biosRecord) mayReset() bool { return r.Resets == 0 && !r.Adopted }

// given says whether the map was given up, and nobody has asked for another try.
func (r biosRecord) given(v view) bool { return r.State == gaveUp && r.Asked == v.asked }
