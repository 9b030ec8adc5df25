package redfishhost

import (
	"maps"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// insertedRecord is the journal's line about an image that we inserted.
type insertedRecord struct {
	// Slot is the id of the drive.
	Slot string `json:"slot"`
	// Digest of the image's URL, which may hold more than people should read, and
	// Shown that of the URL as BMCs show it.
	Digest string `json:"digest"`
	Shown  string `json:"shown"`
	// Open says that the machine may write to it.
	Open bool `json:"open,omitempty"`
	// Begun is when its insertion was begun, until the image is seen: it may still
	// come when nothing waits for it any more.
	Begun time.Time `json:"begun,omitzero"`
}

// in says whether the image is still in the drive, and not another one.
func (r insertedRecord) in(s redfish.Medium) bool {
	return s.Inserted && (s.Image == "" || digest(redfish.PlainImage(s.Image)) == r.Shown)
}

// holds says whether it's the wanted image, by what the BMC shows or by what we
// put in: some show another URL than they were given.
func (r insertedRecord) holds(s redfish.Medium, image string) bool {
	return s.Holds(image) || r.Slot == s.ID && r.in(s) && r.Digest == digest(image)
}

// differs says whether it isn't as wanted.
func (r insertedRecord) differs(w wantMedium) bool {
	return r.Digest != digest(w.image) || w.slot != "" && w.slot != r.Slot || r.Open == w.protect
}

// comes says whether an image that wasn't seen may still be on its way.
func (v view) comes(kind string, r insertedRecord) bool {
	return !r.Begun.IsZero() && v.rested(insertionOf(kind), r.Begun) < patience[len(patience)-1]
}

// insertionOf is by what the stopwatch knows an image that may still come.
func insertionOf(kind string) action { return actInsertMedia + "/" + action(kind) }

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
