package redfishhost

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// mediaBMC is what virtual media need of a BMC.
type mediaBMC interface {
	Media(ctx context.Context, s redfish.System) ([]redfish.Medium, error)
	InsertMedia(ctx context.Context, s redfish.System, m redfish.Medium, image string, protect bool) (redfish.Receipt, error)
	EjectMedia(ctx context.Context, s redfish.System, m redfish.Medium) (redfish.Receipt, error)
}

const (
	actInsertMedia action = "InsertMedia"
	actEjectMedia  action = "EjectMedia"
)

// insertedRecord is the journal's line about an image that we inserted.
type insertedRecord struct {
	// Slot is the id of the drive.
	Slot string `json:"slot"`
	// Digest of the image's URL, which may hold more than people should read, and
	// Shown that of the URL as BMCs show it.
	Digest string `json:"digest"`
	Shown  string `json:"shown"`
}

// in says whether the image is still in the drive, and not another one.
func (r insertedRecord) in(s redfish.Medium) bool {
	return s.Inserted && (s.Image == "" || imageDigest(redfish.PlainImage(s.Image)) == r.Shown)
}

// holds says whether it's the wanted image, by what the BMC shows or by what we
// put in: some show another URL than they were given.
func (r insertedRecord) holds(s redfish.Medium, image string) bool {
	return s.Holds(image) || r.Slot == s.ID && r.in(s) && r.Digest == imageDigest(image)
}

// wantMedium is one image that is wanted.
type wantMedium struct {
	image   string
	slot    string
	protect bool
}

var mediaFacet = facet{ //nolint:gochecknoglobals // A row of the table of facets.
	actions: []action{actInsertMedia, actEjectMedia},
	wants:   wantsMedia, begin: beginMedia, resume: resumeMedia, perform: performMedia, failed: unsent,
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
		w.media[string(m.Type)] = wantMedium{image: m.Image, slot: m.Slot, protect: m.WriteProtect != "Disabled"}
	}
}

func imageDigest(image string) string {
	sum := sha256.Sum256([]byte(image))

	return hex.EncodeToString(sum[:])
}

// mediaIn are the drives that were seen; known is false where they weren't read.
type mediaIn struct {
	slots []redfish.Medium
	known bool
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

// withMedia returns a journal with another line about a type; nil takes it out.
func (j *journal) withMedia(kind string, r *insertedRecord) journal {
	media := map[string]insertedRecord{}
	maps.Copy(media, j.Media)
	delete(media, kind)
	if r != nil {
		media[kind] = *r
	}
	next := *j
	next.Media = media

	return next
}

// beginMedia ejects what we inserted and isn't wanted any more, then inserts
// what is wanted. What others inserted is never ejected.
func beginMedia(v view, j journal) step {
	if !v.seen.media.known {
		return step{}
	}
	for _, kind := range slices.Sorted(maps.Keys(j.Media)) {
		r := j.Media[kind]
		w, wanted := v.want.media[kind]
		slot, there := v.seen.media.at(r.Slot)
		changed := wanted && imageDigest(w.image) != r.Digest
		switch {
		case !there || !r.in(slot):
			if wanted && !changed {
				continue // It's lost by the BMC's restart, and inserted again below, or another one is in.
			}
			next := j.withMedia(kind, nil)

			return step{journal: &next, why: "an image that isn't wanted any more is out"}
		case !wanted && j.Settings.given(act{Action: actEjectMedia, Target: kind}.mark(), v.asked):
			next := j.withMedia(kind, nil) // It was tried; nothing waits for it any more.

			return step{journal: &next, why: "an image that can't be taken out is left"}
		case !wanted || changed:
			return attempt(v, j, act{Action: actEjectMedia, Target: kind})
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(v.want.media)) {
		w := v.want.media[kind]
		slot, ok, _ := v.seen.media.slotFor(kind, w, j.Media[kind])
		if !ok || slot.Inserted { // It's in, or somebody else's is.
			continue
		}
		if st := attempt(v, j, act{Action: actInsertMedia, Target: kind, Slot: slot.ID, Digest: imageDigest(w.image)}); !st.idle() {
			return st
		}
	}

	return step{}
}

// mark names what is given up: one image in one type of drive.
func (a act) mark() act { return act{Action: a.Action + "/" + action(a.Target), Target: a.Digest} }

// attempt begins an act that may be tried three times without effect; after
// that it stands in nobody's way.
func attempt(v view, j journal, a act) step {
	if j.Settings.given(a.mark(), v.asked) {
		return step{}
	}
	if last := j.Act; last != nil && last.Action == a.Action && last.Target == a.Target && last.Digest == a.Digest && last.State == failed {
		if a.Attempts = last.Attempts; last.last() && last.Attempts > 0 {
			j.Settings = j.Settings.with(a.mark(), v.asked)

			return step{journal: &j, why: "given up: " + string(a.Action)}
		}
	}

	return start(v, j, a)
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
		j = j.withMedia(a.Target, &insertedRecord{Slot: slot.ID, Digest: a.Digest, Shown: imageDigest(redfish.PlainImage(slot.Image))})
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
	case !wanted || imageDigest(w.image) != a.Digest:
		return finish(j, "another image is wanted by now")
	}
	if v.running(a) || v.lap(a).age < a.patience() {
		return step{wait: true, why: why}
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

	return bmc.InsertMedia(ctx, s, slot, w.image, w.protect) //nolint:wrapcheck // The caller asks for its kind.
}
