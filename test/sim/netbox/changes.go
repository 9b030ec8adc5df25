package netbox

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"
)

// An author of changes: who, and by which request.
type author struct {
	user, request, method, path string
	message                     string
}

// byHand is somebody in the web interface.
func (s *Server) byHand(user string) author {
	return author{user: user, request: s.requestID(), method: http.MethodPost, path: "/ipam/ip-addresses/"}
}

// requestID is a UUID that nobody had before.
func (s *Server) requestID() string {
	n := s.state.number("request", 0)
	return fmt.Sprintf("00000000-0000-4000-8000-%012x", n)
}

// A change of one address, as in the change log. Before is nil for a new one, after for a deleted one.
type change struct {
	id            int64
	at            time.Time
	by            author
	before, after *Address
}

func (c change) record() *Address {
	if c.after != nil {
		return c.after
	}
	return c.before
}

func (c change) action() (value, label string) {
	switch {
	case c.before == nil:
		return "create", "Created"
	case c.after == nil:
		return "delete", "Deleted"
	}
	return "update", "Updated"
}

// changed calls the webhooks, and writes the change log unless nothing was changed (531, 590).
func (s *Server) changed(by author, before, after *Address) {
	c := change{at: s.now().UTC(), by: by, before: before, after: after}
	x := &exchange{s: s}
	if before == nil || after == nil || !reflect.DeepEqual(x.snapshot(before), x.snapshot(after)) {
		c.id = s.state.number("change", 0)
		s.state.changes = append(s.state.changes, c)
	}
	s.state.latest = c
	for _, h := range s.state.hooks {
		s.deliver(h, c)
	}
}

// madeBy says whether a request changed an address.
func (s *state) madeBy(id int64, request string) bool {
	return slices.ContainsFunc(s.changes, func(c change) bool { return c.by.request == request && c.record().ID == id })
}

// A Webhook is called for each change of an address.
type Webhook struct {
	// URL that is posted to.
	URL string
	// Secret of the signature; without one there is none.
	Secret string
	// Header is sent, too.
	Header http.Header
}

// webhookDelay is how long NetBox's worker takes until the receiver hears of a change.
const webhookDelay = 100 * time.Millisecond

// deliver posts once, whatever the receiver answers (877). The caller holds the lock: the body is of this moment.
func (s *Server) deliver(h Webhook, c change) {
	body, err := json.Marshal(s.hookBody(c))
	if err != nil {
		return
	}
	r, err := http.NewRequest(http.MethodPost, h.URL, strings.NewReader(string(body))) //nolint:noctx // The worker isn't part of any request.
	if err != nil {
		return
	}
	maps.Copy(r.Header, h.Header)
	r.Header.Set("Content-Type", "application/json")
	if h.Secret != "" {
		r.Header.Set("X-Hook-Signature", signature(h.Secret, body))
	}
	time.AfterFunc(webhookDelay, func() {
		client := &http.Client{Timeout: 5 * time.Second}
		res, err := client.Do(r)
		if err == nil {
			_ = res.Body.Close()
		}
	})
}

// signature is X-Hook-Signature: HMAC-SHA512 of the raw body in hex (872).
func signature(secret string, body []byte) string {
	h := hmac.New(sha512.New, []byte(secret))
	h.Write(body)
	return hex.EncodeToString(h.Sum(nil))
}

// hookBody is what a webhook is told, in the form of the version (872 to 875).
func (s *Server) hookBody(c change) map[string]any {
	x := &exchange{s: s} // no base: URLs in webhooks are relative
	value, _ := c.action()
	m := map[string]any{
		"event":     map[string]string{"create": "created", "update": "updated", "delete": "deleted"}[value],
		"timestamp": c.at.Format("2006-01-02T15:04:05.000000") + "+00:00",
		"data":      x.renderAddress(*c.record()),
		"snapshots": map[string]any{"prechange": x.hooked(c.before, false), "postchange": x.hooked(c.after, true)},
	}
	if s.traits.atLeast(4, 4) {
		m["object_type"] = typeAddress
	}
	if !s.traits.atLeast(4, 6) {
		m["model"] = "ipaddress"
	} else {
		m["request"] = map[string]any{"id": c.by.request, "method": c.by.method, "path": c.by.path, "user": c.by.user}
	}
	if r, ok := m["request"].(map[string]any); ok && s.traits.atLeast(4, 7) {
		r["path_info"], r["GET"] = c.by.path, map[string]any{}
	}
	if !s.traits.atLeast(4, 7) {
		m["username"], m["request_id"] = c.by.user, c.by.request
	}
	return m
}

// hooked is a snapshot as webhooks have it, with its time, and before 4.5 with that of the change (872, 873).
func (c *exchange) hooked(a *Address, after bool) any {
	if a == nil {
		return nil
	}
	m := c.snapshot(a)
	m["created"] = a.Created.UTC().Format("2006-01-02T15:04:05.000Z")
	if after && !c.s.traits.atLeast(4, 5) {
		m[keyLastUpdated] = a.LastUpdated.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	return m
}

// snapshot is a record as the change log keeps it: choices and custom fields as they are stored, tags by name. {} is none.
func (c *exchange) snapshot(a *Address) map[string]any {
	if a == nil {
		return map[string]any{}
	}
	fields := map[string]any{}
	for k, v := range a.CustomFields {
		if v != nil {
			fields[k] = v
		}
	}
	tags := []string{}
	for _, id := range a.Tags {
		t, _ := c.s.state.thing("tag", id)
		tags = append(tags, t.Name)
	}
	m := map[string]any{
		"vrf": numberOrNil(a.VRF), "role": orNil(a.Role), "tags": tags, "status": a.Status, "tenant": numberOrNil(a.Tenant),
		"address": a.Address.String(), "comments": a.Comments, "dns_name": a.DNSName, "nat_inside": nil, "description": a.Description,
		keyCustomFields: fields, "assigned_object_id": numberOrNil(a.Assigned.ID), "assigned_object_type": nil,
	}
	if a.Assigned.ID != 0 {
		m["assigned_object_type"] = c.s.traits.interfaceType()
	}
	if c.s.traits.atLeast(4, 6) {
		m["owner"] = nil
	}
	return m
}

func numberOrNil(id int64) any {
	if id == 0 {
		return nil
	}
	return id
}
