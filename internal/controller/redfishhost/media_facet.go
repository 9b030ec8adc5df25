package redfishhost

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// mediaBMC is what virtual media need of a BMC.
type mediaBMC interface {
	Media(ctx context.Context, s redfish.System) ([]redfish.Medium, error)
	InsertMedia(ctx context.Context, s redfish.System, m redfish.Medium, image redfish.Image) (redfish.Receipt, error)
	EjectMedia(ctx context.Context, s redfish.System, m redfish.Medium) (redfish.Receipt, error)
}

const (
	actInsertMedia action = "InsertMedia"
	actEjectMedia  action = "EjectMedia"
)

// wantMedium is one image that is wanted.
type wantMedium struct {
	image   string
	slot    string
	protect bool
	// secret is the name of the one with the account of the image's server; "" is
	// none.
	secret string
}

var mediaFacet = facet{ //nolint:gochecknoglobals // A row of the table of facets.
	actions: []action{actInsertMedia, actEjectMedia},
	wants:   wantsMedia, begin: beginMedia, resume: resumeMedia, perform: performMedia, failed: unsent, noted: mediaNoted,
	conditions: []xpv2.ConditionType{v1alpha1.ConditionMediaInserted}, show: showMedia,
	event: func(a act) event.Event {
		if a.Action == actEjectMedia {
			return event.Normal("MediaEjected", "the "+a.Target+" image was taken out")
		}

		return event.Normal("MediaInserted", "the BMC was told to insert the "+a.Target+" image")
	},
}

func wantsMedia(p v1alpha1.RedfishHostParameters, w *want) {
	for _, m := range p.VirtualMedia {
		if w.media == nil {
			w.media = map[string]wantMedium{}
		}
		w.media[string(m.Type)] = wantMedium{image: m.Image, slot: m.Slot, protect: m.WriteProtect != "Disabled", secret: secretName(m.CredentialsSecretRef)}
	}
}

// mediaIn are the drives that were seen; known is false where they weren't read,
// busy where the BMC has no time for it now, or doesn't answer in time.
type mediaIn struct {
	slots []redfish.Medium
	known bool
	busy  bool
	// accounts are those of images' servers, by type of drive.
	accounts map[string]mediaAccount
}

// slotFor chooses the drive for an image: the one that is named, the one that
// has it, the one that we used, or the first that is empty and takes the type.
// occupied says that all that would do have others' images in them.
func (m mediaIn) slotFor(kind string, w wantMedium, ours insertedRecord) (slot redfish.Medium, ok, occupied bool) {
	var empty []redfish.Medium
	for _, s := range m.slots {
		switch {
		case w.slot != "" && s.ID != w.slot, !s.Takes(kind):
		case s.Holds(w.image) && s.Image != "", s.ID == ours.Slot:
			return s, true, false
		case s.Inserted:
			occupied = true
		default:
			empty = append(empty, s)
		}
	}
	if len(empty) == 0 {
		return redfish.Medium{}, false, occupied
	}

	return empty[0], true, false
}

func (m mediaIn) at(id string) (redfish.Medium, bool) {
	for _, s := range m.slots {
		if s.ID == id {
			return s, true
		}
	}

	return redfish.Medium{}, false
}

// beginMedia ejects what we inserted and isn't wanted any more, then inserts
// what is wanted. What others inserted is never ejected.
func beginMedia(v view, j journal) step {
	switch {
	case v.seen.media.busy && len(v.want.media) > 0:
		// The machine isn't started without its image for that.
		return step{wait: true, why: "the BMC has no time to show its drives"}
	case !v.seen.media.known:
		return step{}
	}
	for _, kind := range slices.Sorted(maps.Keys(j.Media)) {
		if st := beginEject(v, j, kind); !st.idle() {
			return st
		}
	}
	waits := step{}
	for _, kind := range slices.Sorted(maps.Keys(v.want.media)) {
		st := beginInsert(v, j, kind)
		if st.do != actNone || st.journal != nil {
			return st
		}
		if st.wait {
			waits = st // The others go in meanwhile.
		}
	}

	return waits
}

// beginEject looks after what we inserted into drives of a type.
func beginEject(v view, j journal, kind string) step {
	r := j.Media[kind]
	w, wanted := v.want.media[kind]
	slot, there := v.seen.media.at(r.Slot)
	comes, changed := v.comes(kind, r), wanted && r.differs(w)
	out := func(why string) step {
		next := j.withMedia(kind, nil)

		return step{journal: &next, why: why}
	}
	switch {
	case there && !r.Begun.IsZero() && r.in(slot) && (comes || slot.Image != ""):
		r.Begun = time.Time{}
		next := j.withMedia(kind, &r)

		return step{journal: &next, why: "an image has come that nothing waited for any more"}
	case comes:
		return step{}
	case !r.Begun.IsZero():
		return out("an image hasn't come")
	case !there || !r.in(slot):
		if wanted && !changed {
			return step{} // It's lost by the BMC's restart, and inserted again below, or another one is in.
		}

		return out("an image that isn't wanted any more is out")
	case !wanted && j.Settings.given(act{Action: actEjectMedia, Target: kind}, v.asked):
		return out("an image that can't be taken out is left") // Nothing waits for it any more.
	case !wanted || changed:
		return attempt(v, j, act{Action: actEjectMedia, Target: kind})
	default:
		return step{}
	}
}

// beginInsert inserts what is wanted of a type. The record is written with the act:
// however that ends, the image is ours when it comes.
func beginInsert(v view, j journal, kind string) step {
	w, r := v.want.media[kind], j.Media[kind]
	slot, ok, _ := v.seen.media.slotFor(kind, w, r)
	a := act{Action: actInsertMedia, Target: kind, Slot: slot.ID, Digest: digest(w.image)}
	switch {
	case !ok, slot.Inserted: // It's in, or somebody else's is.
		return step{}
	case v.seen.media.accounts[kind].missing != nil && j.Settings.given(a, v.asked):
		return step{}
	case v.seen.media.accounts[kind].missing != nil:
		// The Secret may come after the host: the machine isn't started without its image for that.
		return step{wait: true, why: "nobody knows the account of the server of the " + kind + " image"}
	}
	if again := j.Act != nil && j.Act.State == failed && j.Act.mark() == a.mark(); v.comes(kind, r) && !again {
		return step{} // The one that is on its way comes first.
	}
	st := attempt(v, j, a)
	if st.do == actInsertMedia {
		next := st.journal.withMedia(kind, &insertedRecord{
			Slot: slot.ID, Digest: a.Digest, Shown: digest(redfish.PlainImage(w.image)), Open: !w.protect, Begun: st.journal.Act.Time,
		})
		st.journal = &next
	}

	return st
}

// mediaNoted takes the record back of an image that the BMC said it didn't insert.
func mediaNoted(_ view, j *journal, err error) {
	sure := notCalled(err) || answered(err) // A 503 may come after the effect.
	if a := *j.Act; a.Action == actInsertMedia && sure && a.Attempts <= 1 {
		*j = j.withMedia(a.Target, nil)
	}
}

func resumeMedia(v view, j journal) step {
	const why = "an image is on its way"
	a := *j.Act
	w, wanted := v.want.media[a.Target]
	r := j.Media[a.Target]
	failedNow := a
	failedNow.State = failed
	if slot, there := v.seen.media.at(a.Slot); a.Action == actInsertMedia && there && slot.Inserted {
		// The drive was empty: whatever the BMC shows of the image, it's ours.
		j = j.withMedia(a.Target, &insertedRecord{Slot: slot.ID, Digest: a.Digest, Shown: digest(redfish.PlainImage(slot.Image)), Open: r.Open})
		if !mustGoOff(v) {
			return finish(j, "the image is in")
		}
	}
	switch {
	case mustGoOff(v):
		return beginOff(v, j)
	case !v.seen.media.known && v.lap(a).age < a.patience():
		return step{wait: true, why: why}
	case !v.seen.media.known:
		return step{journal: j.with(failedNow), why: "nobody knows what is in the drives"}
	case a.Action == actEjectMedia:
		if slot, there := v.seen.media.at(r.Slot); !there || !r.in(slot) {
			next := j.withMedia(a.Target, nil)

			return finish(next, "the image is out")
		}
	case !wanted || digest(w.image) != a.Digest:
		return finish(j, "another image is wanted by now")
	}
	if v.running(a) || v.lap(a).age < a.patience() {
		return step{wait: true, why: why}
	}
	if v.lap(a).task.State == redfish.TaskRunning {
		failedNow.Attempts = len(patience) // It's at it still: to be told once more doesn't help.
	}

	return step{journal: j.with(failedNow), why: "the BMC accepted it and nothing is seen of it"}
}

// performMedia looks at the drives once more, and inserts into an empty one, or
// ejects from ours.
func performMedia(ctx context.Context, e *external, bmc BMC, s redfish.System, a act) (redfish.Receipt, error) {
	slots, err := bmc.Media(ctx, s)
	if err != nil {
		return redfish.Receipt{}, notCalledError{err}
	}
	now := mediaIn{slots: slots, known: true}
	// What is begun next isn't begun on an older look.
	e.media = now
	e.connector.mediaLooks.put(e.glance(e.mediaWanted(e.want), false), &now)
	r := e.inserted[a.Target]
	if a.Action == actEjectMedia {
		slot, ok := now.at(r.Slot)
		if !ok || !r.in(slot) {
			return redfish.Receipt{}, nil
		}

		return bmc.EjectMedia(ctx, s, slot) //nolint:wrapcheck // The caller asks for its kind.
	}
	w := e.want.media[a.Target]
	slot, ok := now.at(a.Slot)
	switch {
	case !ok || slot.Inserted && !slot.Holds(w.image):
		return redfish.Receipt{}, notCalledError{redfish.Invalidf("the BMC's drives changed in the meantime: they are looked at again")}
	case slot.Inserted:
		return redfish.Receipt{}, nil
	}
	account := e.accounts[a.Target]
	if account.missing != nil {
		return redfish.Receipt{}, notCalledError{account.missing}
	}
	image := redfish.Image{URL: w.image, Protect: w.protect, Username: account.Username, Password: account.Password}

	return bmc.InsertMedia(ctx, s, slot, image) //nolint:wrapcheck // The caller asks for its kind.
}
