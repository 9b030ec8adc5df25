package netbox_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

func TestChanges(t *testing.T) {
	for _, v := range versions() {
		all := transcripts(t, v)
		id := number(t, all["570"])
		c, s := play(t, v, "590", "590")
		got, err := c.Changes(t.Context(), id)
		if err != nil || len(got) != 2 {
			t.Fatalf("%s: %v, %v", v, got, err)
		}
		if got[1].User != "admin" || !got[1].Changed("address") || got[1].Changed("description", "custom_fields.cf_zone", "assigned_object_id") {
			t.Errorf("%s: %+v", v, got[1])
		}
		if _, err := time.Parse(time.RFC3339, got[1].Time); err != nil {
			t.Errorf("%s: %v", v, err)
		}
		q := s.seen[0].Query
		for _, part := range []string{"changed_object_type=ipam.ipaddress", "changed_object_id=", "ordering=-time"} {
			if !strings.Contains(q, part) {
				t.Errorf("%s: asked ?%s", v, q)
			}
		}
		if other, err := c.Changes(t.Context(), id+1); err != nil || len(other) != 0 {
			t.Errorf("%s: a filter that is ignored shows others: %v, %v", v, other, err)
		}
	}
	created := netbox.Change{After: map[string]any{"description": "x"}}
	if created.Changed("description") {
		t.Error("what was made with a value isn't a change of it")
	}
	fields := netbox.Change{Before: map[string]any{"custom_fields": map[string]any{"a": 1.0}}, After: map[string]any{"custom_fields": map[string]any{"a": 2.0}}}
	if !fields.Changed("custom_fields.a") || fields.Changed("custom_fields.b") {
		t.Error("custom fields one by one")
	}
}

// TestDeleted: what a change is called says that it took the record away, whatever a newer NetBox puts where that was.
func TestDeleted(t *testing.T) {
	some := map[string]any{"address": "10.0.0.1/24"}
	for name, tc := range map[string]struct {
		change netbox.Change
		want   bool
	}{
		"Delete":  {netbox.Change{Action: "delete", Before: some}, true},
		"Strange": {netbox.Change{Action: "delete", Before: some, After: map[string]any{"quantum_state": "up"}}, true},
		"Update":  {netbox.Change{Action: "update", Before: some}, false},
		"Create":  {netbox.Change{Action: "create", After: some}, false},
		"Unsaid":  {netbox.Change{Before: some}, true},
		"Unknown": {netbox.Change{Action: "entangle", Before: some, After: some}, false},
		"None":    {netbox.Change{}, false},
	} {
		if got := tc.change.Deleted(); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	for _, v := range versions() {
		c, _ := play(t, v, "590")
		got, err := c.Changes(t.Context(), number(t, transcripts(t, v)["570"]))
		if err != nil || len(got) != 2 || got[0].Action != "delete" || !got[0].Deleted() || got[1].Action != "update" || got[1].Deleted() {
			t.Errorf("%s: %+v, %v", v, got, err)
		}
	}
}

// TestChangesForbidden: the right to read changes is a nicety, and isn't asked for again and again.
func TestChangesForbidden(t *testing.T) {
	all := transcripts(t, "4.6.8")
	s := &script{t: t, answers: []transcript{all["802"], all["803"], page()}}
	now := time.Now()
	c := serveAt(t, s, func() time.Time { return now })
	for range 3 {
		if _, err := c.Changes(t.Context(), 1); !netbox.IsForbidden(err) {
			t.Errorf("without the right: %v", err)
		}
	}
	if _, err := c.HolderChanges(t.Context(), netbox.VirtualMachine, 1); !netbox.IsForbidden(err) || len(s.seen) != 2 {
		t.Errorf("asked again: %v, %v", err, s.requests())
	}
	now = now.Add(time.Hour)
	if _, err := c.HolderChanges(t.Context(), netbox.VirtualMachine, 1); err != nil || !strings.Contains(s.seen[2].Query, "virtualization.virtualmachine") {
		t.Errorf("an hour later: %v", err)
	}
}

func TestExplain(t *testing.T) {
	field := func(name, kind string, required bool) string {
		return fmt.Sprintf(`{"name":%q,"object_types":["ipam.ipaddress"],"type":{"value":%q,"label":%q},"required":%t}`, name, kind, kind, required)
	}
	tags := page(`{"id":1,"slug":"managed","object_types":[]}`, `{"id":2,"slug":"only-sites","object_types":["dcim.site"]}`)
	fields := page(field("claim_id", "text", true), field("n", "integer", false), field("d", "decimal", false), field("b", "boolean", false),
		field("s", "select", false), field("l", "multiselect", false), field("o", "object", false), field("j", "json", false), field("must", "text", true), field("day", "date", false),
		`{"name":"low","object_types":["ipam.ipaddress"],"type":"integer","validation_minimum":"10.00","validation_maximum":20}`,
		`{"name":"high","object_types":["ipam.ipaddress"],"type":"decimal","validation_minimum":10,"validation_maximum":20.5}`,
		`{"name":"word","object_types":["ipam.ipaddress"],"type":"text","validation_regex":"^[a-z]+$"}`,
		`{"name":"odd","object_types":["ipam.ipaddress"],"type":"text","validation_regex":"(?P=x)"}`)
	s := &script{t: t, answers: []transcript{tags, page(), fields}}
	got := serve(t, s).Explain(t.Context(), netbox.Request{
		Marker: "m", Tags: []string{"managed", "only-sites", "nope"}, Tenant: "nobody",
		CustomFields: map[string]any{"n": "five", "d": 1.5, "b": 1.0, "s": 2.0, "l": "a", "o": "x", "j": map[string]any{}, "unknown": 1.0, "day": 3.0, "low": 9.0, "high": 21.0, "word": "ABC", "odd": "x"},
	})
	want := []string{
		`tag "only-sites" isn't for IP addresses`,
		`NetBox has no tag with slug "nope", or the token may not see it`,
		`NetBox has no tenant with slug "nobody", or the token may not see it`,
		`custom field "b" takes true or false`,
		`custom field "day" takes a date, written as a text such as 2026-08-01`,
		`custom field "high" takes a number that is at most 20.5`,
		`custom field "l" takes a list of its choices`,
		`custom field "low" takes a number that is at least 10`,
		`custom field "n" takes a whole number`,
		`custom field "o" takes an object's id`,
		`custom field "s" takes one of its choices, as a text`,
		`NetBox has no custom field "unknown" for IP addresses`,
		`custom field "word" takes a text of the pattern that NetBox has for it`,
		`custom field "must" is required on IP addresses`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"GET /api/extras/tags/", "GET /api/tenancy/tenants/", "GET /api/extras/custom-fields/"}, s.requests()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, v := range versions() {
		c, _ := play(t, v, "123", "111")
		if got := c.Explain(t.Context(), netbox.Request{Tags: []string{"managed"}, CustomFields: map[string]any{"claim_id": 5.0}}); !cmp.Equal(got, []string{`custom field "claim_id" takes a text`}) {
			t.Errorf("%s: %q", v, got)
		}
		c, _ = play(t, v, "802", "803", "802", "803")
		if got := c.Explain(t.Context(), netbox.Request{Tags: []string{"managed"}}); len(got) != 0 {
			t.Errorf("%s: what can't be read is left out: %q", v, got)
		}
	}
}

// TestExplainMany: more tags than a URL has room for are looked up in parts.
func TestExplainMany(t *testing.T) {
	var tags []string
	for n := range 64 {
		tags = append(tags, fmt.Sprintf("%s%02d", strings.Repeat("x", 98), n))
	}
	one := func(slug string) string { return fmt.Sprintf(`{"id":1,"slug":%q,"object_types":[]}`, slug) }
	var first, rest []string
	for i, slug := range tags[:63] {
		if i < 28 {
			first = append(first, one(slug))
		} else {
			rest = append(rest, one(slug))
		}
	}
	s := &script{t: t, answers: []transcript{page(first...), page(rest...), page(), page()}}
	got := serve(t, s).Explain(t.Context(), netbox.Request{Tags: tags})
	if want := []string{fmt.Sprintf("NetBox has no tag with slug %q, or the token may not see it", tags[63])}; !cmp.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	for i, r := range s.seen[:len(s.seen)-1] {
		if !strings.HasSuffix(r.Path, "/tags/") || len(r.Query) > 3500 {
			t.Errorf("request %d: %s of %d bytes", i, r.Path, len(r.Query))
		}
	}
}
