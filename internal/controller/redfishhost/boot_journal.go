package redfishhost

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// Actions on boot sources, beside SetBootOnce and ClearBoot.
const (
	actSetBoot  action = "SetBoot"
	actSetOrder action = "SetBootOrder"
	// actPutBack puts the persistent boot order back that a boot for once changed.
	actPutBack action = "PutBackBootOrder"
)

// boots is what the journal keeps of boot sources, beside the newest act. What it
// points at is never changed, only replaced.
type boots struct {
	// Via is by what the newest source was set.
	Via *v1alpha1.BootVia `json:"via,omitempty"`
	// Lasting is the persistent source that we set.
	Lasting *lasting `json:"lasting,omitempty"`
	// Moved is the boot order that is ours for one boot.
	Moved *moved `json:"moved,omitempty"`
	// Late are those that were told and weren't seen: they may come about yet, with
	// the next boot at last.
	Late []moved `json:"late,omitempty"`
	// Order is what a declared order came to.
	Order *ordered `json:"order,omitempty"`
	// Trials at what the BMC doesn't do, each of one wish.
	Once    *trial `json:"once,omitempty"`
	Lastly  *trial `json:"persistent,omitempty"`
	Ordered *trial `json:"ordered,omitempty"`
	Clear   *trial `json:"clear,omitempty"`
	Back    *trial `json:"back,omitempty"`
}

// lasting is a persistent source that was set.
type lasting struct {
	Wish   string `json:"wish"`
	Target string `json:"target"`
	// Shown is the BMC's own name for it, "" until it was seen.
	Shown string `json:"shown,omitempty"`
	Turns turns  `json:"turns,omitzero"`
}

// moved is a boot order with one option in front for one boot, or a setting of the
// vendor's own that is for one boot.
type moved struct {
	// Was is the order before, or what the setting was.
	Was []string `json:"was"`
	// First is the option that was moved, or the target that the setting is for.
	First string `json:"first"`
	// Resource of the vendor's own; "" is the boot order. At are the pointers of what
	// was set there, and Set to what, by the row of quirks of that time; a journal of
	// an older version has neither.
	Resource string   `json:"resource,omitempty"`
	At       []string `json:"at,omitempty"`
	Set      []string `json:"set,omitempty"`
	// Time, Power and LastReset as they were then; a journal of an older version has
	// no time.
	Time      time.Time     `json:"time,omitzero"`
	Power     redfish.Power `json:"power,omitempty"`
	LastReset time.Time     `json:"lastReset,omitzero"`
	// Booted is when the boot was seen that it was for.
	Booted time.Time `json:"booted,omitzero"`
	// Told says that the BMC accepted it once, or may have got it, so that it may
	// come about whatever the BMC says later.
	Told bool `json:"told,omitempty"`
}

// ordered is a declared boot order that was set.
type ordered struct {
	Wish string `json:"wish"`
	// First are the references that the declared words stand for.
	First []string `json:"first,omitempty"`
	// Staged says that the BMC has it at its next boot, after Power and LastReset;
	// Booted is when that was seen.
	Staged    bool          `json:"staged,omitempty"`
	Power     redfish.Power `json:"power,omitempty"`
	LastReset time.Time     `json:"lastReset,omitzero"`
	Booted    time.Time     `json:"booted,omitzero"`
	Turns     turns         `json:"turns,omitzero"`
}

// turns count how often a thing was set that somebody else changes back.
type turns struct {
	Sets int       `json:"sets,omitempty"`
	At   time.Time `json:"at,omitzero"`
}

// Of a thing that is changed back within the hour, each time that it's set.
const (
	maxTurns = 3
	turnTime = time.Hour
)

// next counts one more. One that held for long begins anew.
func (t turns) next(now time.Time) turns {
	if now.Sub(t.At).Abs() >= turnTime {
		t.Sets = 0
	}

	return turns{Sets: t.Sets + 1, At: now.UTC().Truncate(time.Second)}
}

// contested says whether it was set often enough, and somebody else wants it
// otherwise.
func (t turns) contested(now time.Time) bool {
	return t.Sets >= maxTurns && now.Sub(t.At).Abs() < turnTime
}

// trial is how far it has come with a wish that the BMC doesn't fulfil.
type trial struct { //nolint:recvcheck // of reads one that may not be there; the others are of one that is.
	// Wish is the digest of what was asked for.
	Wish string `json:"wish"`
	// Tried is how often the BMC refused it, or accepted it without effect, and
	// Time when it did last.
	Tried int       `json:"tried,omitempty"`
	Time  time.Time `json:"time,omitzero"`
	// Reason, Field, Message and Offers are what it said last.
	Reason  xpv2.ConditionReason `json:"reason,omitempty"`
	Field   string               `json:"field,omitempty"`
	Message string               `json:"message,omitempty"`
	Offers  []string             `json:"offers,omitempty"`
	// Plan is how it can be had by the boot order: what is moved to the front, and
	// the order as it was.
	Plan []string `json:"plan,omitempty"`
	// OEM is how it can be had by the vendor's own way, where there's no Plan, or
	// that came to nothing: the resource, and what is there; and of which properties
	// that is, and what they're to be.
	OEM []string `json:"oem,omitempty"`
	At  []string `json:"at,omitempty"`
	Set []string `json:"set,omitempty"`
	// Replans are how often it was planned anew, since its row of quirks was another one.
	Replans int `json:"replans,omitempty"`
	// Before is what was said of the ways before the one that is tried now.
	Before string `json:"before,omitempty"`
	// Over says that it isn't tried any more, as long as the BMC offers what it
	// Shows, and nobody has asked for another look since Asked.
	Over  bool   `json:"over,omitempty"`
	Shows string `json:"shows,omitempty"`
	// Shown is the override that was seen then, of a trial at clearing it.
	Shown string `json:"shown,omitempty"`
	Asked string `json:"asked,omitempty"`
}

// of is the trial of a wish, a new one where it was about another.
func (t *trial) of(wish string) trial {
	if t == nil || t.Wish != wish {
		return trial{Wish: wish}
	}

	return *t
}

// hopeless says whether a wish isn't tried any more. What the BMC doesn't offer is
// tried again when it offers something else, as after a change of its firmware.
func (t trial) hopeless(v view) bool {
	return t.Over && t.Asked == v.asked && (t.Reason != v1alpha1.ReasonNotSupported || t.Shows == shows(v.seen.boot))
}

// resting says whether the BMC is left alone for a while after it refused.
func (t trial) resting(v view, a action) bool {
	return t.Tried > 0 && v.rested(a, t.Time) < patience[min(t.Tried, len(patience))-1]
}

// end ends a trial.
func (t trial) end(v view) trial {
	t.Over, t.Shows, t.Asked, t.Before = true, shows(v.seen.boot), v.asked, ""
	if t.Wish == clearWish {
		t.Shown = shownBoot(v.seen.boot)
	}
	t.Plan, t.OEM, t.At, t.Set = nil, nil, nil, nil

	return t
}

// shows is the digest of what a BMC offers to boot.
func shows(b redfish.Boot) string {
	return digest(slices.Concat(b.Targets, []string{""}, b.Enabling, []string{""}, b.Modes)...)
}

// digest is a short name for words.
func digest(words ...string) string {
	const length = 8
	sum := sha256.Sum256([]byte(strings.Join(words, "\x00")))

	return hex.EncodeToString(sum[:length])
}

// restOf is by what the stopwatch knows a rest of a host, beside its act.
func restOf(host types.UID, a action) types.UID { return host + "/" + types.UID(a) }

// trials is where the trial of an action is kept.
func (b *boots) trials(a action) **trial {
	switch a {
	case actSetBootOnce:
		return &b.Once
	case actSetBoot:
		return &b.Lastly
	case actSetOrder:
		return &b.Ordered
	case actPutBack:
		return &b.Back
	default:
		return &b.Clear
	}
}

// trying says whether a BMC is left alone for a while before the next attempt.
func (j *journal) trying() bool {
	if j == nil {
		return false
	}
	for _, t := range []*trial{j.Boot.Once, j.Boot.Lastly, j.Boot.Ordered, j.Boot.Clear, j.Boot.Back} {
		if t != nil && !t.Over && time.Since(t.Time) < 2*patience[len(patience)-1] {
			return true
		}
	}

	return false
}

// traces says whether something of ours is on the machine, or may be.
func (b *boots) traces(a *act) bool {
	return b.Lasting != nil || b.Moved != nil || len(b.Late) > 0 || a != nil && a.State == begun && (a.Action == actSetBoot || a.Action == actPutBack)
}

// bootFailed is what becomes of a boot act whose call failed.
func bootFailed(_ view, a act, err error) act {
	switch {
	case busy(err) && !notCalled(err):
		a.Attempts-- // The BMC is busy with itself: it wasn't tried.
	case answered(err):
		a.State = failed
	}

	return a
}

// bootNoted writes down what the BMC said of a wish. After three times it isn't
// tried any more in that way; at once where the machine doesn't offer it, but for
// what is to be put back: a BMC that starts may not show that for a while.
func bootNoted(v view, j *journal, err error) {
	var e *redfish.Error
	if notCalled(err) || busy(err) || !answered(err) || !errors.As(err, &e) || saidReason(e.Kind) == "" {
		return
	}
	a := j.Act
	slot := j.Boot.trials(a.Action)
	t := (*slot).of(a.Wish)
	if !a.Action.undoes() {
		j.doubt(*a, e.Kind == redfish.NoEffect || a.Attempts > 1)
	}
	t.Tried, t.Time = t.Tried+1, v.now.UTC().Truncate(time.Second)
	t.Reason, t.Field, t.Message, t.Offers = saidReason(e.Kind), bounded(e.Field, 256), e.MessageID, e.Offers
	last := e.Kind == redfish.Unsupported && !a.Action.undoes() && e.Field != redfish.Unlisted || t.Tried >= len(patience)
	switch {
	case a.byOEM() && !a.Action.undoes() && e.Field == redfish.OtherRow && t.Replans < len(patience):
		t, a.Refused = trial{Wish: a.Wish, Replans: t.Replans + 1}, true // By the row that there is now.
	case !last:
	case a.Rung == "" && t.falls(e, a.Was, len(v.want.order) > 0):
		t.before(j.Boot.Late, *a)
		t.Tried, a.Refused = 0, true
	case a.byOrder() && len(t.OEM) > 0:
		t.Before, t.Plan = t.Before+"; "+a.Rung+": "+saidOf(t), nil
		t.Tried, a.Refused = 0, true
	default:
		t = t.end(v)
		a.Refused = true
	}
	*slot = &t
}

// saidReason is the word for what a BMC said of a wish; "" says nothing of it.
func saidReason(k redfish.Kind) xpv2.ConditionReason {
	switch k {
	case redfish.Unsupported:
		return v1alpha1.ReasonNotSupported
	case redfish.NoEffect:
		return v1alpha1.ReasonNoEffect
	case redfish.Forbidden:
		return v1alpha1.ReasonForbidden
	case redfish.Refused, redfish.NotFound:
		return v1alpha1.ReasonRefused
	default:
		return ""
	}
}

// bounded is a text up to a limit of bytes.
func bounded(s string, limit int) string {
	if len(s) <= limit {
		return s
	}

	return strings.ToValidUTF8(s[:limit], "")
}
