package quirk

import (
	"maps"
	"strings"
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
	"Dell":       {"As it calls itself.", Machine{Manufacturer: "Dell Inc.", Model: "PowerEdge R750"}, Facts{Mode: Never, OEM: idrac(nil)}, []string{"dell-mode", "dell-oem-boot"}},
	"XE9680":     {"One word more.", Machine{Manufacturer: "Dell Inc.", Model: "PowerEdge XE9680"}, Facts{Mode: Never, OEM: idrac(map[string]string{"UefiHttp": "UefiHttp"})}, []string{"dell-mode", "dell-oem-boot", "dell-xe9680-oem-boot"}},
	"Fujitsu":    {"iRMC S5.", Machine{Manufacturer: "FUJITSU"}, Facts{OEM: irmcBoot}, []string{"fujitsu-oem-boot"}},
	"Fsas":       {"The same by another name.", Machine{Manufacturer: "Fsas Technologies"}, Facts{OEM: irmcBoot}, []string{"fsas-oem-boot"}},
	"HPE":        {"Without case.", Machine{Manufacturer: "hpe", Model: "ProLiant DL380"}, Facts{Mode: Never}, []string{"hpe-mode"}},
	"Supermicro": {"All generations.", Machine{Manufacturer: "Supermicro", Model: "SYS-821GE"}, Facts{Mode: IfPresent, StoredAs: map[string]string{"Pxe": "UefiBootNext"}}, []string{"supermicro-bootnext", "supermicro-mode"}},
	"Nokia":      {"By its service root.", Machine{Vendor: "Nokia Solutions and Networks"}, Facts{OverrideOn: OnSD}, []string{"nokia-sd"}},
	"NokiaToo":   {"Or its System.", Machine{Manufacturer: "Nokia"}, Facts{OverrideOn: OnSD}, []string{"nokia-sd-system"}},
	"Padded":     {"As some are.", Machine{Manufacturer: " HPE "}, Facts{Mode: Never}, []string{"hpe-mode"}},
	"Lenovo":     {"Its XCC's pending resource has no target, which is seen; its AMI-based machines take the override there.", Machine{Manufacturer: "Lenovo"}, Facts{}, nil},
	"Other":      {"Most machines do as the standard says.", Machine{Manufacturer: "Emulated Systems"}, Facts{}, nil},
	"Silent":     {"One that says nothing of itself is no vendor's.", Machine{}, Facts{}, nil},
}

// irmcBoot is an iRMC's own way to boot once.
var irmcBoot = OEMBoot{
	Resources: []string{"{system}/Oem/ts_fujitsu/BootConfig", "{system}/Oem/Fsas/BootConfig"}, Target: "/BootDevice",
	Words: map[string]string{"Pxe": "Pxe", "Cd": "Cd", "Hdd": "Hdd", "BiosSetup": "BiosSetup"}, With: map[string]string{"/NextBootOnlyEnabled": "true"},
}

// idrac is an iDRAC's, with more words.
func idrac(more map[string]string) OEMBoot {
	words := map[string]string{"Pxe": "PXE", "Hdd": "HDD", "BiosSetup": "BIOS"}
	maps.Copy(words, more)

	return OEMBoot{
		Resources: []string{"{manager}/Oem/Dell/DellAttributes/iDRAC.Embedded.1", "{manager}/Attributes"},
		Target:    "/Attributes/ServerBoot.1.FirstBootDevice", Words: words,
		With: map[string]string{"/Attributes/ServerBoot.1.BootOnce": "Enabled"},
	}
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
		for _, of := range r.Facts.OEM.Resources {
			if !strings.HasPrefix(of, OfSystem+"/") && !strings.HasPrefix(of, OfManager+"/") {
				t.Errorf("row %q: resource %q is nobody's", r.Name, of)
			}
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

// TestOEMOfAnotherRow: a row that names a property of its own has nothing of what goes with another one's; one that doesn't adds words.
func TestOEMOfAnotherRow(t *testing.T) {
	dell, maker := Machine{Manufacturer: "Dell Inc.", Model: "x"}, Match{Manufacturer: "Dell*"}
	own := OEMBoot{Resources: []string{OfSystem + "/Own"}, Target: "/Next", Words: map[string]string{"Cd": "Cd"}}
	facts, _ := For(append(Table(), Row{Name: "own", Match: maker, Facts: Facts{OEM: own}}), dell)
	if diff := cmp.Diff(own, facts.OEM); diff != "" {
		t.Errorf("another property: -want, +got:\n%s", diff)
	}
	facts, _ = For(append(Table(), Row{Name: "more", Match: maker, Facts: Facts{OEM: OEMBoot{Words: map[string]string{"Cd": "CD"}}}}), dell)
	if diff := cmp.Diff(idrac(map[string]string{"Cd": "CD"}), facts.OEM); diff != "" {
		t.Errorf("one word more: -want, +got:\n%s", diff)
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
