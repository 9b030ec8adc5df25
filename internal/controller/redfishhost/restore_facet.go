package redfishhost

import (
	"context"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// orderRest is how long after a boot was seen the boot order is left as it was
// set for it: firmware reads it minutes after the power comes.
const orderRest = 10 * time.Minute

// beginRestore takes away what is ours and isn't wanted any more. Of a host that is
// deleted what may come late is waited for at last, for some minutes.
func beginRestore(v view, j journal) step {
	st := takeAway(v, j)
	if st.idle() && v.awaitsLate(j) {
		return step{wait: true, why: "what had no effect yet may have it soon, and is undone then"}
	}

	return st
}

// takeAway takes away an override that the machine hasn't used up, a lasting one, a
// boot order that was changed for one boot. Foreign ones, or none, aren't ours to clear.
func takeAway(v view, j journal) step {
	if st := beginLate(v, j); !st.idle() {
		return st
	}
	b := v.seen.boot
	if v.want.once != nil && j.Override != "" && !v.overridden() {
		// What is shown later is somebody else's.
		j.Override = ""

		return step{journal: &j, why: "the override was used up"}
	}
	once := v.want.once == nil && j.Override != ""
	lasts := v.want.persistent == nil && j.Boot.Lasting != nil
	there := once && b.Enabled == redfish.EnabledOnce && !b.Idle() || lasts && b.Enabled == redfish.EnabledContinuous && !b.Idle() && j.Boot.Lasting.is(b)
	t := j.Boot.Clear.of(clearWish)
	switch {
	case !once && !lasts && j.Boot.Moved == nil && j.unsourced() && v.want.once == nil:
		j.forget(false, false)

		return step{journal: &j, why: "the boot source isn't ours any more"}
	case !once && !lasts:
		return beginPutBack(v, j)
	case there && t.resting(v, actClearBoot) && !t.Over:
		return step{wait: true, why: "the BMC didn't clear the override"}
	case there && t.Over && t.Shown != "" && t.Shown != shownBoot(b):
		j.forget(once, lasts)
		j.Boot.Clear = nil

		return step{journal: &j, why: "the override that couldn't be cleared is gone: what is shown is somebody else's"}
	case there && t.Over && t.keptOn(v, actClearBoot) && !v.want.leaving:
		return beginPutBack(v, j) // Which doesn't wait for that.
	case there && (!t.Over || !v.want.leaving): // What stood in the way may be mended.
		a := act{Action: actClearBoot, Wish: clearWish}
		if j.Boot.Via != nil {
			a.Option = j.Boot.Via.Resource
		}

		return start(v, j, a)
	default:
		j.forget(once, lasts)
		if !there {
			j.Boot.Clear = nil
		}

		return step{journal: &j, why: "the override was used up, or can't be cleared"}
	}
}

// clearWish is the wish of clearing an override.
const clearWish = "clear"

// forget drops what isn't on the machine any more.
func (j *journal) forget(once, lasts bool) {
	if once {
		j.Override = ""
	}
	if lasts {
		j.Boot.Lasting = nil
	}
	if j.unsourced() {
		j.Boot.Via = nil
	}
}

// unsourced says that there's a word about a boot source, and none of ours is left.
func (j *journal) unsourced() bool {
	return j.Boot.Via != nil && j.Override == "" && j.Boot.Lasting == nil && j.Boot.Moved == nil && j.Boot.Order == nil
}

// beginPutBack puts the boot order, or the vendor's own setting, back that a boot for
// once changed: some time after that boot, or at once where it isn't wanted any more.
func beginPutBack(v view, j journal) step {
	if j.Boot.Moved == nil {
		return step{}
	}
	m := *j.Boot.Moved
	back := m.putBack()
	t := j.Boot.Back.of(back.Wish)
	now := v.want.once == nil || wantsOnce(v, j)
	once := j.Boot.Once
	switch {
	case len(v.want.order) > 0 && !m.byOEM(), t.Over && (v.want.leaving || triesOnce(v, j)):
		// A declared order is another one; and what can't be put back stays where
		// somebody waits for that.
		j.Boot.Moved = nil

		return step{journal: &j, why: "the boot order isn't put back"}
	case t.Over && t.keptOn(v, actPutBack):
		return step{}
	case t.Over: // What stood in the way may be mended.
	case t.resting(v, actPutBack):
		return step{wait: now, why: "the BMC didn't put the boot order back"}
	case once != nil && once.resting(v, actSetBootOnce):
		return step{wait: now, why: "what had no effect yet may have it later"}
	case now:
	case !m.Booted.IsZero():
		if v.rested(actPutBack, m.Booted) < orderRest {
			return step{}
		}
	case m.bootedSince(v.seen, j):
		m.Booted = v.now.UTC().Truncate(time.Second)
		j.Boot.Moved = &m

		return step{journal: &j, why: "the boot has come that the boot order was changed for"}
	case v.seen.off() && m.Power != redfish.PowerOff:
		m.Power = redfish.PowerOff // The next time that it's on is a boot.
		j.Boot.Moved = &m

		return step{journal: &j, why: "the machine is off"}
	default:
		return step{}
	}

	return start(v, j, back)
}

func resumeRestore(v view, j journal) step {
	a := *j.Act
	switch {
	case a.Action == actClearBoot && v.seen.boot.Idle():
		j.cleared()

		return finish(j, "the override is cleared")
	case a.Action == actPutBack && j.Boot.Moved == nil:
		return finish(j, "there's no boot order to put back")
	case mustGoOff(v):
		return beginOff(v, j)
	case a.Wish == "":
		a.Wish = clearWish // Of a journal of another version.
	}

	return retry(v, j, a)
}

func performRestore(ctx context.Context, _ *external, bmc BMC, s redfish.System, a act) (redfish.Receipt, error) {
	if a.Action == actPutBack && a.byOEM() {
		return redfish.Receipt{}, bmc.ClearOEM(ctx, s, a.Target, a.oem()) //nolint:wrapcheck // The caller asks for its kind.
	}
	if a.Action == actPutBack {
		return redfish.Receipt{}, bmc.PutBack(ctx, s, a.plan()) //nolint:wrapcheck // The caller asks for its kind.
	}

	return redfish.Receipt{}, bmc.ClearBoot(ctx, s, a.Option) //nolint:wrapcheck // The caller asks for its kind.
}

// cleared writes down that no override of ours is left.
func (j *journal) cleared() {
	j.Override, j.Boot.Lasting, j.Boot.Clear = "", nil, nil
	j.forget(false, false)
}

// restored is how things are after something was taken back.
func restored(v view, j journal, _ redfish.Receipt) (*journal, seen) {
	s := v.seen
	if j.Act.Action == actPutBack {
		j.Boot.Moved, j.Boot.Back = nil, nil
		if c := j.Boot.Clear; c != nil && c.Wish != clearWish {
			j.Boot.Clear = nil // Of an older version, which kept both there.
		}
		j.forget(false, false)
		a := *j.Act
		a.Option, a.At, a.Set = "", nil, nil
		j.Act = &a
	} else {
		j.cleared()
		s.boot.Target, s.boot.Enabled = redfish.TargetNone, redfish.EnabledDisabled
	}

	return finish(j, "").journal, s
}
