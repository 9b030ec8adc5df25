package redfish

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/lenient"
)

// maxSlots bounds how many of a BMC's drives are read.
const maxSlots = 16

// The standard's names of a drive's actions, as their targets end.
const (
	actionInsert = "/VirtualMedia.InsertMedia"
	actionEject  = "/VirtualMedia.EjectMedia"
)

// Medium is one of a BMC's virtual drives (Redfish schema VirtualMedia v1.x).
type Medium struct {
	// ID of the drive, and where it is.
	ID, URI string
	// Types of media that it takes: CD, DVD, Floppy, USBStick.
	Types []string
	// Inserted says whether there's an image in it, and Image its URL, which some
	// BMCs keep to themselves.
	Inserted bool
	Image    string
	// Protected says that the machine can't write to it.
	Protected bool

	etag, insert, eject string
}

// Takes says whether the drive takes media of a type. One that lists none may.
func (m Medium) Takes(kind string) bool {
	return len(m.Types) == 0 || slices.ContainsFunc(m.Types, func(t string) bool { return strings.EqualFold(t, kind) })
}

// Holds says whether the drive has an image in it which may be that one.
func (m Medium) Holds(image string) bool {
	plain := PlainImage(image)

	return m.Inserted && (m.Image == "" || plain != "" && PlainImage(m.Image) == plain)
}

// PlainImage is an image's URL as BMCs show it, without what only the image's
// server must know; "" where it's no URL.
func PlainImage(image string) string {
	u, err := url.Parse(strings.TrimSpace(image))
	if err != nil {
		return ""
	}
	u.RawQuery, u.Fragment, u.User = "", "", nil

	return u.String()
}

type mediumBody struct {
	ID        text  `json:"Id"`
	Types     texts `json:"MediaTypes"`
	Inserted  lenient.Flag
	Image     text
	Protected lenient.Flag `json:"WriteProtected"`
	Actions   struct {
		Insert *resetBody `json:"#VirtualMedia.InsertMedia"`
		Eject  *resetBody `json:"#VirtualMedia.EjectMedia"`
	}
}

// Media lists the virtual drives of s: those of its managers, or its own.
// Unsupported: there are none.
func (c *Client) Media(ctx context.Context, s System) ([]Medium, error) {
	uris, err := c.drives(ctx, s)
	if err != nil {
		return nil, err
	}
	var out []Medium
	for _, uri := range uris[:min(len(uris), maxSlots)] {
		var b mediumBody
		a, err := c.get(ctx, uri, &b)
		if err != nil && !skippable(err) {
			return nil, err
		}
		// Some tell null of a drive that is empty.
		drive := b.Inserted.Known || len(b.Types) > 0 || b.Actions.Insert != nil
		if err != nil || !drive {
			continue
		}
		m := Medium{ID: clip(b.ID), URI: uri, Types: b.Types, Inserted: b.Inserted.True || !b.Inserted.Known && b.Image != "", Image: string(b.Image), Protected: b.Protected.True, etag: a.etag}
		if b.Actions.Insert != nil {
			m.insert = string(b.Actions.Insert.Target)
		}
		if b.Actions.Eject != nil {
			m.eject = string(b.Actions.Eject.Target)
		}
		if parent, ok := strings.CutSuffix(m.insert, actionInsert); ok && m.eject == "" {
			m.eject = parent + actionEject // Supermicro's X13 lists one of the two at a time.
		}
		out = append(out, m)
	}
	if len(out) == 0 {
		return nil, unsupported("VirtualMedia")
	}

	return out, nil
}

// drives are the links to the virtual drives of a System.
func (c *Client) drives(ctx context.Context, s System) ([]string, error) {
	managers, err := c.managersOf(ctx, s)
	if err != nil && !skippable(err) {
		return nil, err
	}
	collections := make([]string, 0, len(managers)+1)
	for _, uri := range managers {
		var b struct{ VirtualMedia ref }
		if _, err := c.get(ctx, uri, &b); err != nil && !skippable(err) {
			return nil, err
		}
		collections = append(collections, string(b.VirtualMedia))
	}
	for _, uri := range append(collections, s.media) {
		if uri == "" {
			continue
		}
		found, err := c.members(ctx, uri)
		if err != nil && !skippable(err) {
			return nil, err
		}
		if len(found) > 0 {
			return found, nil
		}
	}

	return nil, nil
}

// InsertMedia puts an image into a drive. The BMC fetches it itself, which may
// take its time: whether it's in is seen by Media.
func (c *Client) InsertMedia(ctx context.Context, s System, m Medium, image Image) (Receipt, error) {
	body := image.with(map[string]any{"Image": image.URL, "Inserted": true, "WriteProtected": image.Protect})
	if m.insert == "" {
		return c.patchMedium(ctx, s, m, body)
	}
	a, err := c.do(ctx, http.MethodPost, m.insert, body, "")
	for _, more := range insertLadder(image) {
		// A BMC that refuses a parameter, or misses one, hasn't inserted anything.
		if statusOf(err) != http.StatusBadRequest || says(err, "ResourceInUse") {
			break
		}
		again, againErr := c.do(ctx, http.MethodPost, m.insert, more, "")
		if statusOf(againErr) != http.StatusBadRequest {
			a, err = again, againErr

			break
		}
	}
	if err != nil {
		return Receipt{}, err
	}

	return receiptOf(a), nil
}

// patchMedium writes to a drive that has no actions (Lenovo's).
func (c *Client) patchMedium(ctx context.Context, s System, m Medium, body map[string]any) (Receipt, error) {
	facts, _, err := c.quirks(ctx, s)
	if err != nil {
		return Receipt{}, err
	}
	a, err := c.patched(ctx, place{path: m.URI, etag: m.etag}, body, facts)
	if err != nil {
		return Receipt{}, err
	}

	return receiptOf(a), nil
}

// insertLadder are the bodies of an InsertMedia that is refused as the standard
// has it: with what some want to be told, and with the image alone.
func insertLadder(image Image) []map[string]any {
	scheme, _, _ := strings.Cut(image.URL, "://")
	protocol := strings.ToUpper(scheme)
	if protocol == "SMB" {
		protocol = "CIFS"
	}

	return []map[string]any{
		image.with(map[string]any{"Image": image.URL, "TransferProtocolType": protocol, "TransferMethod": "Stream"}),
		image.with(map[string]any{"Image": image.URL}),
	}
}

// EjectMedia takes the image out of a drive. One that is empty is left alone.
func (c *Client) EjectMedia(ctx context.Context, s System, m Medium) (Receipt, error) {
	if !m.Inserted {
		return Receipt{}, nil
	}
	if m.eject == "" {
		return c.patchMedium(ctx, s, m, map[string]any{"Image": nil, "Inserted": false})
	}
	a, err := c.do(ctx, http.MethodPost, m.eject, map[string]any{}, "")
	if err != nil {
		return Receipt{}, err
	}

	return receiptOf(a), nil
}
