package quirk

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// known are machines that built-in rows are for: every row is met by one.
var known = map[string]struct {
	reason string
	is     Machine
	want   Facts
	names  []string
}{
	"Dell":       {"As it calls itself.", Machine{Manufacturer: "Dell Inc.", Model: "PowerEdge R750"}, Facts{Mode: Never}, []string{"dell-mode"}},
	"HPE":        {"Without case.", Machine{Manufacturer: "hpe", Model: "ProLiant DL380"}, Facts{Mode: Never}, []string{"hpe-mode"}},
	"Supermicro": {"All generations.", Machine{Manufacturer: "Supermicro", Model: "SYS-821GE"}, Facts{Mode: IfPresent, StoredAs: map[string]string{"Pxe": "UefiBootNext"}}, []string{"supermicro-bootnext", "supermicro-mode"}},
	"Nokia":      {"By its service root.", Machine{Vendor: "Nokia Solutions and Networks"}, Facts{OverrideOn: OnSD}, []string{"nokia-sd"}},
	"NokiaToo":   {"Or its System.", Machine{Manufacturer: "Nokia"}, Facts{OverrideOn: OnSD}, []string{"nokia-sd-system"}},
	"Padded":     {"As some are.", Machine{Manufacturer: " HPE "}, Facts{Mode: Never}, []string{"hpe-mode"}},
	"Lenovo":     {"Its XCC's pending resource has no target, which is seen; its AMI-based machines take the override there.", Machine{Manufacturer: "Lenovo"}, Facts{}, nil},
	"Other":      {"Most machines do as the standard says.", Machine{Manufacturer: "Emulated Systems"}, Facts{}, nil},
	"Silent":     {"One that says nothing of itself is no vendor's.", Machine{}, Facts{}, nil},
}

func TestTable(t *testing.T) {
	met := map[string]bool{}
	for name, tc := range known {
		t.Run(name, func(t *testing.T) {
			facts, names := For(Table(), tc.is)
			if diff := cmp.Diff(tc.want, facts); diff != "" {
				t.Errorf("\n%s\nfacts: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.names, names); diff != "" {
				t.Errorf("\n%s\nrows: -want, +got:\n%s", tc.reason, diff)
			}
			for _, n := range names {
				met[n] = true
			}
		})
	}
	for _, r := range Table() {
		if r.Name == "" || r.Source == "" || cmp.Equal(r.Facts, Facts{}) || !met[r.Name] {
			t.Errorf("row %q: want a name, a source, facts, and a machine of the test that it is for", r.Name)
		}
	}
}

func TestFor(t *testing.T) {
	rows := []Row{
		{Name: "maker", Match: Match{Manufacturer: "acme*"}, Facts: Facts{Mode: Never, Rungs: []string{"System"}, StoredAs: map[string]string{"Cd": "UsbCd", "Pxe": "Net"}}},
		{Name: "model", Match: Match{Manufacturer: "acme*", Model: "*X1*"}, Facts: Facts{OverrideOn: OnSystem, StoredAs: map[string]string{"Pxe": "Lan"}}},
		{Name: "firmware", Match: Match{Firmware: "1.*"}, Facts: Facts{IfMatch: Never, Continuous: Refused}},
		{Name: "nothing", Facts: Facts{IfMatch: Never}},
	}
	facts, names := For(rows, Machine{Manufacturer: "ACME Corp.", Model: "Server x1 Rev 2", Firmware: "1.04"})
	want := Facts{OverrideOn: OnSystem, Mode: Never, IfMatch: Never, Continuous: Refused, Rungs: []string{"System"}, StoredAs: map[string]string{"Cd": "UsbCd", "Pxe": "Lan"}}
	if diff := cmp.Diff(want, facts); diff != "" {
		t.Errorf("all rows that match count, the last one most: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"maker", "model", "firmware"}, names); diff != "" {
		t.Errorf("a row without a match fits none: -want, +got:\n%s", diff)
	}
	if rows[0].Facts.StoredAs["Pxe"] != "Net" {
		t.Error("a row was changed by another one")
	}
}

func TestLike(t *testing.T) {
	cases := map[string]struct {
		pattern, text string
		want          bool
	}{
		"Same": {"abc", "abc", true}, "Longer": {"abc", "abcd", false}, "Prefix": {"ab*", "abc", true}, "Suffix": {"*bc", "abc", true},
		"Part": {"*b*", "abc", true}, "All": {"*", "", true}, "Order": {"a*b*c", "axbyc", true}, "WrongOrder": {"a*c*b", "abc", false},
		"Overlap": {"ab*ba", "aba", false}, "Twice": {"*a*a*", "a", false}, "Empty": {"**", "x", true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := like(tc.pattern, tc.text); got != tc.want {
				t.Errorf("like(%q, %q): got %v", tc.pattern, tc.text, got)
			}
		})
	}
}
