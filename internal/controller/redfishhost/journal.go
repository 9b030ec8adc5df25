package redfishhost

import (
	"encoding/json"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// action is one thing that is done to a BMC in one step.
type action string

// The actions. A reset is two of them, each of which can be repeated and seen:
// whatever a crash leaves behind, the power state says where to go on.
const (
	actNone        action = ""
	actSetBootOnce action = "SetBootOnce"
	actClearBoot   action = "ClearBoot"
	actPowerOn     action = "PowerOn"
	actGracefulOff action = "GracefulOff"
	actForceOff    action = "ForceOff"
	actResetOff    action = "ResetOff"
	actResetOn     action = "ResetOn"
	// actLeaveOn ends a reset that was given up: the machine isn't left off.
	actLeaveOn action = "LeaveOn"
	// actRestart is a reset of a machine whose BMC can't do one in two steps. It
	// can't be seen, so it's never done twice.
	actRestart action = "Restart"
)

// States of an act.
const (
	begun = "begun"
	done  = "done"
	// failed: the BMC said that it didn't do it, so it is begun anew.
	failed = "failed"
	// gaveUp: it was attempted as often as there is patience, without effect.
	gaveUp = "gaveUp"
)

// act is one line of the journal: written as begun before the call, as done
// when the goal was seen.
type act struct {
	Action     action    `json:"action"`
	Generation int64     `json:"generation,omitempty"`
	Time       time.Time `json:"time"`
	State      string    `json:"state"`
	// Slot is the drive that an image is put into.
	Slot string `json:"slot,omitempty"`
	// Digest of the BIOS settings that are staged, or of an image's URL.
	Digest string `json:"digest,omitempty"`
	// Target of SetBootOnce and SetBoot, and what goes with it. Option holds words
	// that are several, one a line.
	Target string `json:"target,omitempty"`
	Mode   string `json:"mode,omitempty"`
	URI    string `json:"uri,omitempty"`
	Path   string `json:"path,omitempty"`
	Option string `json:"option,omitempty"`
	// Wish is the digest of what a boot act is for, and Shown of the boot source
	// that was seen before it.
	Wish  string `json:"wish,omitempty"`
	Shown string `json:"shown,omitempty"`
	// Power and LastReset as they were seen before: what differs later happened
	// in between. They are the BMC's own words, so no clocks are compared.
	Power     redfish.Power `json:"power,omitempty"`
	LastReset time.Time     `json:"lastReset,omitzero"`
	// Refused says that the BMC can't do it, so that waiting is in vain.
	Refused bool `json:"refused,omitempty"`
	// Attempts at it that the BMC may have carried out; 0 of older versions is 1.
	Attempts int `json:"attempts,omitempty"`
	// Unasked says that the BMC refused to pass a shutdown on, for the moment, or
	// wasn't told of a reset.
	Unasked bool `json:"unasked,omitempty"`
	// Rung is the way of several by which it is done, "" where there is but one.
	Rung string `json:"rung,omitempty"`
	// At and Set are what it's done to by the vendor's own way, as moved has them.
	At  []string `json:"at,omitempty"`
	Set []string `json:"set,omitempty"`
	// Was is the override that a boot for once is put in the place of, by target and
	// enabled; none: it was idle.
	Was []string `json:"was,omitempty"`
	// Task is where the BMC tells how far it is, "" where it doesn't.
	Task string `json:"task,omitempty"`
	// Refusals are how often the BMC said that it doesn't do it now, and Message
	// the MessageId that it said so with last.
	Refusals int    `json:"refusals,omitempty"`
	Message  string `json:"message,omitempty"`
	// Offers are what the BMC has instead of what it was Refused for.
	Offers string `json:"offers,omitempty"`
	// Spec is the generation of the host's spec for which it was given up, and
	// Asked the look that was asked for last by then.
	Spec  int64  `json:"spec,omitempty"`
	Asked string `json:"asked,omitempty"`
}

// attempt is which one of its attempts an act is at, from 0.
func (a act) attempt() int { return min(max(a.Attempts, 1), len(patience)) - 1 }

// patience is how long the effect of its newest attempt is waited for.
func (a act) patience() time.Duration { return patience[a.attempt()] }

// pause is how long a BMC is left alone that doesn't do an act now. One that
// says that it's too soon is asked again soon, for ten minutes.
func (a act) pause() time.Duration {
	const soon = 30
	switch {
	case a.Refusals == 0:
		return 0
	case a.Refusals <= soon && redfish.TooSoon(a.Message):
		return settle
	default:
		return patience[min(a.Refusals, len(patience))-1]
	}
}

// turnedDown says that a BMC has only ever refused an act, or wasn't told of it:
// nothing of it was carried out. No attempts alone don't say that: an older
// version didn't count them.
func (a act) turnedDown() bool { return a.Attempts < 1 && (a.Refusals > 0 || a.Unasked) }

// blind says that an act switches on a machine that its BMC calls on already,
// since it may be wrong: that it's called on later doesn't tell that it was done.
func (a act) blind() bool {
	return a.Action == actLeaveOn || a.Action == actResetOn && (seen{power: a.Power}).on()
}

// accepted is an act with what the BMC promised, and whether that is news.
func (a act) accepted(r redfish.Receipt) (now act, news bool) {
	news = r.Follow() != "" || a.Refusals > 0
	a.Task, a.Refusals, a.Message = r.Follow(), 0, ""

	return a, news
}

// last says whether no further attempt is made.
func (a act) last() bool { return a.attempt() == len(patience)-1 }

// journal is what the provider did and is about to do to a BMC. It is an
// annotation, since it must survive a backup that loses status.
type journal struct {
	// Needs is what a version must understand to go on with it, as journalKnown.
	Needs int `json:"needs,omitempty"`
	// BootOnce is the newest boot.once.generation that was carried out.
	BootOnce int64 `json:"bootOnce"`
	// Reset is the newest resetGeneration that was carried out.
	Reset int64 `json:"reset"`
	// Override is the target that we set once and that wasn't cleared since.
	Override string `json:"override,omitempty"`
	// BIOS says how far the declared BIOS settings have come.
	BIOS biosRecord `json:"bios,omitzero"`
	// Media are the images that we inserted, by the type of their drive.
	Media map[string]insertedRecord `json:"media,omitempty"`
	// Settings says what small settings the BMC didn't take.
	Settings settingsRecord `json:"settings,omitzero"`
	// BMCReset is the newest bmcResetGeneration that was carried out.
	BMCReset int64 `json:"bmcReset,omitempty"`
	// Rotation says how far the rotation of the BMC's password has come.
	Rotation rotationRecord `json:"rotation,omitzero"`
	// Boot is what else is known of boot sources.
	Boot boots `json:"boot,omitzero"`
	// Push is the subscription by which the BMC sends its events.
	Push pushRecord `json:"push,omitzero"`
	// PoweredOn is when we last powered the machine on.
	PoweredOn time.Time `json:"poweredOn,omitzero"`
	// Act is the newest act.
	Act *act `json:"act,omitempty"`
	// Held is one that was given up, or failed, while Act, which has nothing to do
	// with it, is done meanwhile; nil else.
	Held *act `json:"held,omitempty"`
}

// parseJournal reads the journal of a host. One that is missing or can't be
// read is nil: what is asked for now then counts as done, which forgets an act
// at worst but never repeats one.
func parseJournal(annotation string) *journal {
	if annotation == "" {
		return nil
	}
	var j journal
	if json.Unmarshal([]byte(annotation), &j) == nil {
		return &j
	}
	// What it needs can be read, whatever shape the rest has in a newer version.
	var of struct {
		Needs int `json:"needs"`
	}
	if newer := json.Unmarshal([]byte(annotation), &of) == nil && of.Needs > journalKnown; newer {
		return &journal{Needs: of.Needs}
	}

	return nil
}

// journalKnown is what of a journal this version understands. A version that
// understands less would take one thing for another, or forget it unsaid.
const journalKnown = 1

// newer says that a journal needs a newer version.
func (j *journal) newer() bool { return j != nil && j.Needs > journalKnown }

// needs is what a version must understand to go on with j: 1 where something is on
// the machine, or may come, that versions before didn't know of.
func (j *journal) needs() int {
	b := j.Boot
	if b.Moved != nil && b.Moved.byOEM() || len(b.Late) > 0 || j.Act != nil && j.Act.State == begun && j.Act.byOEM() {
		return 1
	}

	return 0
}

// encoded is the journal as it's written.
func (j *journal) encoded() (string, error) {
	written := *j
	written.Needs = j.needs()
	b, err := json.Marshal(written)
	if err != nil {
		return "", errors.Wrap(err, "cannot encode the journal")
	}

	return string(b), nil
}

// String is the journal as it's written; one that can't be is none, by which what
// is asked for counts as done.
func (j *journal) String() string {
	text, _ := j.encoded()

	return text
}

// pending says whether an act was begun and its goal not seen yet.
func (j *journal) pending() bool { return j != nil && j.Act != nil && j.Act.State == begun }

// gaveUp says whether the newest act was given up.
func (j *journal) gaveUp() bool { return j != nil && j.Act != nil && j.Act.State == gaveUp }

// holds says whether an act was held while another one was done.
func (j *journal) holds() bool { return j != nil && j.Held != nil }

// with returns a copy of j with a as its act.
func (j *journal) with(a act) *journal {
	next := *j
	next.Act = &a

	return &next
}

// adopted is the journal of a host that has none: everything that is asked for
// at this moment counts as done, so that registering changes nothing.
func adopted(w want) *journal {
	j := &journal{Reset: w.reset, BMCReset: w.bmcReset, Rotation: rotationRecord{Kept: true, Done: w.rotation}}
	if w.once != nil {
		j.BootOnce = w.once.Generation
	}
	if w.bios != nil {
		j.BIOS = biosRecord{Digest: w.bios.digest, Adopted: true}
	}

	return j
}

// want is what a host's spec asks of its BMC.
type want struct {
	power v1alpha1.PowerState
	grace time.Duration
	force bool // after the grace
	once  *v1alpha1.BootOnce
	reset int64
	bios  *wantBIOS

	settings wantSettings
	media    map[string]wantMedium // by type
	bmcReset int64
	// rotation is the generation of the password that is wanted; 0 is none.
	rotation int64
	// persistent is nil, and order empty, where nothing is asked for.
	persistent *v1alpha1.BootSource
	order      []string
	// leaving says that the host is deleted: what was begun comes to its end, as
	// far as anything of it was carried out.
	leaving bool
}

// defaultGrace is powerOff.grace where the spec says nothing.
const defaultGrace = 5 * time.Minute

// released is what is wanted of a host that is deleted while it is bound: off,
// and nothing else. A host whose power isn't ours stays as it is.
func released(w want, j *journal) want {
	if w.power != v1alpha1.Unmanaged && w.power != "" {
		w.power = v1alpha1.PoweredOff
	}
	w.rotation, w.once, w.persistent, w.order, w.bios, w.settings, w.media = 0, nil, nil, nil, nil, wantSettings{}, nil
	w.leaving = true
	if j != nil {
		w.reset, w.bmcReset = j.Reset, j.BMCReset
	}

	return w
}
