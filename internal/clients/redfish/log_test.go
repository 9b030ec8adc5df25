package redfish

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExcerpt(t *testing.T) {
	cases := map[string]struct {
		reason  string
		entries []logEntry
		want    []string
	}{
		"Newest": {
			reason: "The newest three, whatever order they come in.",
			entries: []logEntry{
				{Created: "2026-01-04T00:00:00Z", Message: "d"}, {Created: "2026-01-01T00:00:00Z", Message: "a"},
				{Created: "2026-01-03T00:00:00Z", Message: "c", Severity: "Critical"}, {Created: "2026-01-02T00:00:00Z", Message: "b", Severity: "OK"},
			},
			want: []string{"2026-01-02T00:00:00Z b", "2026-01-03T00:00:00Z Critical: c", "2026-01-04T00:00:00Z d"},
		},
		"Undated": {
			reason:  "BMCs without a clock: the last ones.",
			entries: []logEntry{{Created: "1970-01-01T00:00:00Z", Message: "a"}, {Message: "b"}, {Message: "c"}, {Message: "d"}},
			want:    []string{"b", "c", "d"},
		},
		"User":    {reason: "Who logged in isn't told.", entries: []logEntry{{Message: "Login of Operator from 10.0.0.1"}, {Message: "Fan 1 failed"}}, want: []string{"Fan 1 failed"}},
		"Word":    {reason: "But what only has those letters in it is.", entries: []logEntry{{Message: "Cooperators 1 failed"}}, want: []string{"Cooperators 1 failed"}},
		"Secret":  {reason: "Nor what may hold one.", entries: []logEntry{{Message: "SNMP community public was set"}, {Message: "Password x is wrong"}, {Message: "PSU 1 failed"}}, want: []string{"PSU 1 failed"}},
		"Image":   {reason: "Nor a URL.", entries: []logEntry{{Message: "Mounted https://images.example/a.iso?token=x"}}},
		"Hostile": {reason: "No control sequences, and no book.", entries: []logEntry{{Message: text("\x1b[31m" + strings.Repeat("x", 999) + "\n")}}, want: []string{("[31m" + strings.Repeat("x", 999))[:excerptBytes]}},
		"Empty":   {reason: "Nothing is nothing.", entries: []logEntry{{}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, excerpt(tc.entries, []string{"operator", ""})); diff != "" {
				t.Errorf("\n%s\nexcerpt(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestNewestEntries: a collection that only links its entries has the newest at
// either end.
func TestNewestEntries(t *testing.T) {
	bmc, links := aBMC{"GET /redfish/v1/": {body: "{}"}}, []logEntry{}
	for i := range 9 {
		uri := fmt.Sprintf("/redfish/v1/Log/%d", i)
		entry := bmc["GET "+uri]
		entry.body = fmt.Sprintf(`{"Created":"2026-01-0%dT00:00:00Z","Message":"m%d"}`, i+1, i)
		bmc["GET "+uri] = entry
		links = append(links, logEntry{URI: text(uri)})
	}
	c := connectTo(t, bmc)
	for name, order := range map[string][]logEntry{"Last": links, "First": reversed(links)} {
		t.Run(name, func(t *testing.T) {
			want := []string{"2026-01-08T00:00:00Z m7", "2026-01-09T00:00:00Z m8"}
			if diff := cmp.Diff(want, excerpt(c.newestEntries(t.Context(), order), nil)); diff != "" {
				t.Errorf("newestEntries(...): -want, +got:\n%s", diff)
			}
		})
	}
}

func reversed(links []logEntry) []logEntry {
	out := slices.Clone(links)
	slices.Reverse(out)

	return out
}
