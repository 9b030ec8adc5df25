package netbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// StatusDeprecated is what a record is while it waits for its deletion: it isn't in use, and its address is nobody's to be given.
const StatusDeprecated = "deprecated"

// OpRelease is what an Error says was tried where a record was to be released.
const OpRelease = "release"

// A Release is how a record is let go that isn't deleted at once.
type Release struct {
	// Marker that it must carry; it goes.
	Marker string
	// Note is put into the release field instead.
	Note string
	// Retire makes the record deprecated, and takes its DNS name and its assignment away.
	Retire bool
	// Clear takes away, too, whatever a Request writes: role, description, comments, tenant, tags, and these custom fields. Where NetBox refuses that,
	// as it does of what it requires, they stay.
	Clear  bool
	Fields []string
}

// Release lets a record go: one PATCH, so that there is no moment in which it carries neither marker nor note. A record that is gone is
// fine; one that doesn't carry the marker, or was changed since ip was read, is KindConflict, as is one that NetBox refuses to change
// by a rule of its own, such as that it's the primary or out-of-band address of its machine, or lacks what is required. KindForbidden: the token may see it, and not write to it. KindReleaseField: NetBox dropped the note; the
// marker was put back.
func (c *Client) Release(ctx context.Context, ip IPAddress, r Release) error {
	now, err := c.ours(ctx, OpRelease, ip, r.Marker)
	if err != nil {
		return ignoreNotFound(err)
	}
	k := c.idCall(OpRelease, http.MethodPatch, ip.ID, http.StatusOK)
	k.body, k.ifMatch = c.releaseBody(now, r), now.ETag
	got, err := c.one(ctx, k)
	if r.Clear && (IsInvalid(err) || IsMarkerTaken(err)) {
		r.Clear = false
		k.body = c.releaseBody(now, r)
		got, err = c.one(ctx, k)
	}
	switch {
	case IsNotFound(err):
		return c.unlessGone(ctx, k, ip.ID, err)
	case IsMarkerTaken(err): // No marker is written here: it's a rule of another kind.
		e := k.failed(KindConflict, c.unreleased(ctx, now, r), err)
		e.Status = http.StatusBadRequest
		return e
	case IsInvalid(err):
		c.forgetReleaseField()
	case err == nil && got.Marker(c.note) != r.Note:
		return c.unrelease(ctx, k, got, r.Marker)
	}
	return err
}

func (c *Client) releaseBody(now IPAddress, r Release) map[string]any {
	fields := map[string]any{}
	m := map[string]any{"custom_fields": fields}
	if r.Clear {
		m["role"], m["description"], m["comments"], m["tenant"], m["tags"] = "", "", "", nil, slugs(nil)
		for _, f := range r.Fields {
			fields[f] = nil
		}
	}
	fields[c.field], fields[c.note] = nil, r.Note
	if !r.Retire {
		return m
	}
	m["status"], m["dns_name"] = StatusDeprecated, ""
	if now.Assigned != nil {
		m["assigned_object_type"], m["assigned_object_id"] = nil, nil
	}
	return m
}

// unrelease marks a record as ours again: NetBox 4.4.10 to 4.5.7 drop a custom field that they don't know and say nothing, and without
// the note nobody would find it any more.
func (c *Client) unrelease(ctx context.Context, k call, ip IPAddress, marker string) error {
	c.forgetReleaseField()
	reason := "NetBox took the change and left the release note out: the custom field is missing or renamed"
	_, err := c.Patch(ctx, ip, Patch{CustomFields: map[string]any{c.field: marker}})
	if err != nil {
		return k.failed(KindReleaseField, fmt.Sprintf("%s; the marker couldn't be put back either: put %q back into custom field %q by hand", reason, marker, c.field), err)
	}
	return k.failed(KindReleaseField, reason+"; the marker was put back", nil)
}

// releasedFields are what Released reads of each.
const releasedFields = lookFields + ",assigned_object_type,assigned_object_id,assigned_object"

// Released returns the records whose release note begins as this cluster's markers do, at one look. They are as they were then: Expire looks again.
// Where there is no such field, as far as can be seen, there are none; where it isn't fit, which is KindReleaseField, there may be.
func (c *Client) Released(ctx context.Context) ([]IPAddress, error) {
	state, err := c.ReleaseField(ctx)
	if errors.Is(err, errIgnored) || state == FieldMissing || c.begins == "" {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	cluster, _, _ := strings.Cut(c.begins, "/") // Of whichever namespace: its own provider config may be gone.
	begins := cluster + "/"
	k := call{
		op: "list the released addresses of cluster", subject: cluster, method: http.MethodGet,
		path: addressesPath, want: http.StatusOK, most: c.room.limits.Page,
		query: url.Values{"cf_" + c.note + "__isw": {begins}, "ordering": {"id"}, "fields": {releasedFields}},
	}
	leave, err := c.room.enter(ctx)
	if err != nil {
		return nil, k.failed(KindUnreachable, "looks at other NetBoxes take all the time that there is for them", err)
	}
	defer leave()
	p := c.room.pile(k)
	all, err := listPages(ctx, c, k, c.room.bound(), func(b []byte) (IPAddress, error) {
		ip, err := p.decode(b)
		if errors.Is(err, errDense) {
			return IPAddress{}, nil // It's none of ours, which has neither that many tags nor that many fields.
		}
		if err == nil && !strings.HasPrefix(strings.ToLower(ip.Marker(c.note)), strings.ToLower(begins)) {
			err = errors.New("NetBox doesn't know how to filter by a note's beginning")
		}
		return ip, err
	})
	if err != nil {
		c.forgetReleaseField() // An unknown filter returns everything.
		return nil, err
	}
	var ours []IPAddress
	for _, ip := range all {
		if strings.HasPrefix(ip.Marker(c.note), begins) { // The filter ignores case; ids don't.
			ours = append(ours, ip)
		}
	}
	return ours, nil
}

// Retired says whether a record is as Release has left it, and nobody's: deprecated, without a marker in that field, unassigned, unnamed.
func (ip IPAddress) Retired(markerField string) bool {
	return ip.Status == StatusDeprecated && ip.Unmarked(markerField) && ip.Assigned == nil && ip.DNSName == ""
}

// Retired says so of a record of this connection, whose marker's field is known.
func (c *Client) Retired(ip IPAddress) bool { return ip.Retired(c.field) }

// Expire deletes a record that was released with a note, unless it isn't retired any more or carries another note: KindConflict. It's
// read just before. A record that is gone is fine.
func (c *Client) Expire(ctx context.Context, number int64, note string) error {
	now, err := c.Get(ctx, number)
	if err != nil {
		return ignoreNotFound(err)
	}
	if note == "" || now.Marker(c.note) != note || !c.Retired(now) {
		return c.spared(c.idCall("delete released", http.MethodDelete, number, 0), "somebody took it back into use")
	}
	return c.delete(ctx, now)
}
