package netboxipaddress

import (
	"slices"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// noted is what a quarantine of an hour leaves, begun when the harness' clock stands.
const noted = ours + " 1970-01-01T01:16:40Z"

func releasedBy(policy string) edit {
	return params(func(p *v1alpha1.NetBoxIPAddressParameters) {
		p.Release = &v1alpha1.ReleasePolicy{Policy: policy, After: &metav1.Duration{Duration: time.Hour}}
	})
}

func wantedOn(device string) edit {
	return params(func(p *v1alpha1.NetBoxIPAddressParameters) {
		p.AssignTo = &v1alpha1.Assignment{Device: &v1alpha1.NetBoxDevice{Name: device}, Interface: &v1alpha1.NetBoxInterface{Name: "eno1"}}
	})
}

// on is an interface of a device.
func on(device string) *netbox.Place {
	return &netbox.Place{Kind: netbox.Device, ID: 1, Name: "eno1", Holder: 4, HolderName: device}
}

// until deletes a resource: looks, and whatever they lead to, until nothing of it is left or an error stays. A crash restarts the provider.
func (h *harness) until(t *testing.T, mg *v1alpha1.NetBoxIPAddress) error {
	t.Helper()
	var err error
	for range 6 {
		var gone bool
		if gone, err = h.deleteOnce(t, mg); gone {
			return nil
		}
	}
	return err
}

func (h *harness) deleteOnce(t *testing.T, mg *v1alpha1.NetBoxIPAddress) (gone bool, err error) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			if _, ok := p.(crashed); !ok {
				panic(p)
			}
			h.crash = ""
		}
	}()
	look := mg.DeepCopy() // What a look finds is only kept if it's written.
	e := h.connect(t, look)
	o, err := e.Observe(t.Context(), look)
	if err != nil || !o.ResourceExists {
		return err == nil, err
	}
	_, err = e.Delete(t.Context(), look)
	return false, err
}

func TestRelease(t *testing.T) {
	kept := func(ip *netbox.IPAddress) { ip.CustomFields = map[string]any{testField: nil, testNote: ours} }
	quarantined := func(ip *netbox.IPAddress) {
		ip.CustomFields = map[string]any{testField: nil, testNote: noted}
		ip.Status, ip.DNSName, ip.Assigned = netbox.StatusDeprecated, "", nil
	}
	seated := func(f *fakeNetBox) {
		f.rack.holders = []netbox.Holder{{Kind: netbox.Device, ID: 4, Name: "r7-u12", Seated: map[netbox.Seat]netbox.Seated{netbox.SeatPrimary4: {ID: 5}, netbox.SeatOutOfBand: {ID: 5}}}}
	}
	cases := map[string]struct {
		reason string
		mg     []edit
		is     func(*netbox.IPAddress)
		fake   func(*fakeNetBox)
		// want is what is left of the record; nil: nothing.
		want   func(*netbox.IPAddress)
		writes []string
		events []string
		err    xpv2.ConditionReason
		text   string
	}{
		"Delete":     {reason: "it's free at once", writes: []string{"Delete"}, events: []string{"Released"}},
		"Keep":       {reason: "it stays as it is, and is nobody's", mg: []edit{releasedBy("Keep")}, is: func(ip *netbox.IPAddress) { ip.Assigned, ip.DNSName = on("db-1"), "db-1.example" }, want: kept, writes: []string{"EnsureReleaseField", "Release"}, events: []string{"Kept"}},
		"Quarantine": {reason: "it isn't reused at once", mg: []edit{releasedBy("Quarantine")}, want: quarantined, writes: []string{"EnsureReleaseField", "Release"}, events: []string{"Quarantined"}},
		"QuarantineAssigned": {
			reason: "its device lets go of it first", mg: []edit{releasedBy("Quarantine"), wantedOn("r7-u12")}, is: func(ip *netbox.IPAddress) { ip.Assigned = on("r7-u12") }, fake: seated,
			want: quarantined, writes: []string{"EnsureReleaseField", "Seat", "Seat", "Release"}, events: []string{"Quarantined"},
		},
		"DeletePrimary": {reason: "NetBox clears the device's fields itself (581)", mg: []edit{wantedOn("R7-U12")}, is: func(ip *netbox.IPAddress) { ip.Assigned = on("r7-u12") }, fake: seated, writes: []string{"Delete"}, events: []string{"Released"}},
		"NoField": {
			reason: "a field that can't be made", mg: []edit{releasedBy("Quarantine")}, fake: func(f *fakeNetBox) { f.fail["EnsureReleaseField"] = kind(netbox.KindReleaseField) },
			want: func(*netbox.IPAddress) {}, writes: slices.Repeat([]string{"EnsureReleaseField"}, 6), err: v1alpha1.ReasonInvalid, text: "can't hold the release note",
		},
		"Down": {
			reason: "it waits, and doesn't forget", fake: func(f *fakeNetBox) { f.fail["Get"] = kind(netbox.KindUnreachable) }, want: func(*netbox.IPAddress) {},
			err: v1alpha1.ReasonUnreachable, text: "tried again",
		},
		"DownInBetween": {
			reason: "also in the middle", fake: func(f *fakeNetBox) { f.fail["Delete"] = kind(netbox.KindUnknownOutcome) }, want: func(*netbox.IPAddress) {},
			writes: slices.Repeat([]string{"Delete"}, 6), err: v1alpha1.ReasonUnreachable, text: "looked up first",
		},
		"Reassigned": {
			reason: "a person put it on another device", mg: []edit{wantedOn("r7-u12")}, is: func(ip *netbox.IPAddress) { ip.Assigned = on("db-1") }, want: func(ip *netbox.IPAddress) { ip.Assigned = on("db-1") },
			err: v1alpha1.ReasonConflict, text: `is assigned to interface "eno1" of device "db-1", which isn't this resource's doing`,
		},
		"AssignedByHand": {
			reason: "a person put it on a device", mg: []edit{releasedBy("Quarantine")}, is: func(ip *netbox.IPAddress) { ip.Assigned = on("db-1") }, want: func(ip *netbox.IPAddress) { ip.Assigned = on("db-1") },
			err: v1alpha1.ReasonConflict, text: "release.policy: Keep",
		},
		"Renamed": {
			reason: "a person gave it another's name", mg: []edit{params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.DNSName = new("web-1.example") })}, is: func(ip *netbox.IPAddress) { ip.DNSName = "db-1.example" },
			want: func(ip *netbox.IPAddress) { ip.DNSName = "db-1.example" }, err: v1alpha1.ReasonConflict, text: `has DNS name "db-1.example", where this resource asks for "web-1.example"`,
		},
		"Remarked": {
			reason: "another resource's by now", is: func(ip *netbox.IPAddress) { ip.CustomFields[testField] = "c1/team-b/x/y" }, want: func(ip *netbox.IPAddress) { ip.CustomFields[testField] = "c1/team-b/x/y" },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.records = []netbox.IPAddress{record(5, "10.77.0.11/24", ours)}
			if tc.is != nil {
				tc.is(&f.records[0])
			}
			if tc.fake != nil {
				tc.fake(f)
			}
			h, mg := newHarness(f), newAddress(append([]edit{named("5"), deleted}, tc.mg...)...)
			err := h.until(t, mg)
			if reasonOf(err) != tc.err || (err != nil && !strings.Contains(err.Error(), tc.text)) {
				t.Fatalf("%s: got %v, want %q with %q", tc.reason, err, tc.err, tc.text)
			}
			var want []netbox.IPAddress
			if tc.want != nil {
				ip := record(5, "10.77.0.11/24", ours)
				tc.want(&ip)
				want = append(want, ip)
			}
			if len(want) != len(f.records) || (len(want) == 1 && cmp.Diff(want[0].CustomFields, f.records[0].CustomFields) != "") {
				t.Errorf("%s: left %+v, want %+v", tc.reason, f.records, want)
			}
			if len(want) == 1 && len(f.records) == 1 && (want[0].Status != f.records[0].Status || want[0].DNSName != f.records[0].DNSName && name != "Keep") {
				t.Errorf("%s: left %+v, want %+v", tc.reason, f.records, want)
			}
			if diff := cmp.Diff(tc.writes, f.writes()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			var events []string
			for _, e := range h.events {
				word, _, _ := strings.Cut(e, ":")
				events = append(events, word)
			}
			if diff := cmp.Diff(tc.events, events); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestReleaseCrashes ends the provider, or loses NetBox's answer, at every point of a release. What is left is the same each time, and no
// step that was done is undone.
func TestReleaseCrashes(t *testing.T) {
	cases := map[string]struct {
		reason string
		policy string
		crash  string
		lose   string
		fail   string
	}{
		"Delete":              {"the answer to the DELETE is lost", "Delete", "", "Delete", ""},
		"Keep":                {"the answer to the PATCH is lost", "Keep", "", "Release", ""},
		"AfterUnseat":         {"killed between the device and the address", "Quarantine", "netbox-after-unseat", "", ""},
		"Unseat":              {"the device let go, and the answer is lost", "Quarantine", "", "Seat", ""},
		"UnseatNot":           {"the device didn't", "Quarantine", "", "", "Seat"},
		"Quarantine":          {"the answer to the PATCH is lost", "Quarantine", "", "Release", ""},
		"QuarantineNot":       {"so is the request", "Quarantine", "", "", "Release"},
		"FieldNot":            {"the field couldn't be asked for", "Quarantine", "", "", "EnsureReleaseField"},
		"QuarantineUnnamed":   {"its number was never recorded", "Quarantine", "", "Release", ""},
		"QuarantineRestarted": {"nothing goes wrong", "Quarantine", "", "", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.records = []netbox.IPAddress{record(5, "10.77.0.11/24", ours), record(6, "10.77.0.12/24", "c1/team-b/x/y")}
			f.records[0].Assigned = on("r7-u12")
			f.rack.holders = []netbox.Holder{{Kind: netbox.Device, ID: 4, Seated: map[netbox.Seat]netbox.Seated{netbox.SeatPrimary4: {ID: 5}, netbox.SeatPrimary6: {ID: 6}}}}
			h, mg := newHarness(f), newAddress(named("5"), deleted, releasedBy(tc.policy), wantedOn("r7-u12"))
			if name == "QuarantineUnnamed" {
				mg.SetAnnotations(map[string]string{"crossplane.io/external-create-pending": "2026-09-01T10:00:00Z"})
			}
			h.crash = tc.crash
			if tc.lose != "" {
				f.lose[tc.lose] = kind(netbox.KindUnknownOutcome)
			}
			if tc.fail != "" {
				f.fail[tc.fail] = kind(netbox.KindUnknownOutcome)
			}
			gone, err := h.deleteOnce(t, mg)
			if tc.crash == "" && (tc.lose != "" || tc.fail != "") && (err == nil || gone) {
				t.Fatalf("%s: the first try: gone %v, %v", tc.reason, gone, err)
			}
			f.lose, f.fail = map[string]error{}, map[string]error{}
			again := newHarness(f) // A new process remembers nothing.
			again.now = h.now.Add(time.Minute)
			if err := again.until(t, mg); err != nil {
				t.Fatalf("%s: the second try: %v", tc.reason, err)
			}
			left := f.records[0]
			switch tc.policy {
			case "Delete":
				if len(f.records) != 1 || left.ID != 6 {
					t.Errorf("%s: left %+v", tc.reason, f.records)
				}
				return
			case "Keep":
				if left.CustomFields[testNote] != ours || left.Assigned == nil || left.Status != "active" {
					t.Errorf("%s: left %+v", tc.reason, left)
				}
			case "Quarantine":
				n, ok := parseNote(left.Marker(testNote))
				if !ok || n.marker != ours || n.until.Before(h.now.Add(time.Hour)) || left.Status != netbox.StatusDeprecated || left.Assigned != nil {
					t.Errorf("%s: left %+v", tc.reason, left)
				}
				if s := f.rack.holders[0].Seated; s[netbox.SeatPrimary4].ID != 0 || s[netbox.SeatPrimary6].ID != 6 {
					t.Errorf("%s: the device's seats are %+v: ours goes, others stay", tc.reason, s)
				}
			}
			if left.CustomFields[testField] != nil {
				t.Errorf("%s: the marker is still there: %+v", tc.reason, left)
			}
			done := 0
			for _, c := range f.calls {
				if c == "Release" {
					done++
				}
			}
			if tc.lose == "Release" && done != 1 {
				t.Errorf("%s: released %d times", tc.reason, done)
			}
		})
	}
}

func TestParseNote(t *testing.T) {
	at := time.Date(2026, 9, 1, 10, 0, 0, 0, time.UTC)
	cases := map[string]struct {
		reason string
		text   string
		want   note
		ok     bool
	}{
		"Quarantine": {"marker and time", ours + " 2026-09-01T10:00:00Z", note{ours, at}, true},
		"Zone":       {"in any zone", ours + " 2026-09-01T12:00:00+02:00", note{ours, at}, true},
		"Kept":       {"marker alone", ours, note{marker: ours}, true},
		"NoTime":     {"a time that isn't one: nothing is deleted by it", ours + " tomorrow", note{}, false},
		"ZeroTime":   {"nor by none", ours + " 0001-01-01T00:00:00Z", note{}, false},
		"Spaces":     {"nor by something else", ours + "  2026-09-01T10:00:00Z", note{}, false},
		"Text":       {"a person's words", "ask Bob", note{}, false},
		"Empty":      {"nothing", "", note{}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, ok := parseNote(tc.text)
			if ok != tc.ok || got.marker != tc.want.marker || !got.until.Equal(tc.want.until) {
				t.Errorf("%s: got %+v, %v", tc.reason, got, ok)
			}
		})
	}
}

// FuzzParseNote: what is read is written the same, and without a time nothing is ever due.
func FuzzParseNote(f *testing.F) {
	for _, s := range []string{"", ours, noted, ours + " x", "a/b/c/d 2026-09-01T10:00:00+02:00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, ok := parseNote(s)
		if !ok && (n.marker != "" || !n.until.IsZero()) {
			t.Errorf("%q: not a note, but %+v", s, n)
		}
		if again, same := parseNote(n.String()); ok && (!same || again.marker != n.marker || !again.until.Equal(n.until.Truncate(time.Second))) {
			t.Errorf("%q: %+v became %+v", s, n, again)
		}
	})
}

func TestReused(t *testing.T) {
	status := func(o v1alpha1.NetBoxIPAddressObservation) edit {
		return func(mg *v1alpha1.NetBoxIPAddress) { mg.Status.AtProvider = o }
	}
	name := func(s string, drift v1alpha1.DriftPolicy) edit {
		return params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.DNSName, p.Drift = &s, drift })
	}
	by := func(o v1alpha1.AssignmentObservation) edit {
		return status(v1alpha1.NetBoxIPAddressObservation{Assigned: &o})
	}
	device, vm := v1alpha1.AssignmentObservation{Device: &v1alpha1.NetBoxObject{ID: 4}}, v1alpha1.AssignmentObservation{VirtualMachine: &v1alpha1.NetBoxObject{ID: 4}}
	cases := map[string]struct {
		reason string
		mg     []edit
		at     *netbox.Place
		name   string
		want   bool
	}{
		"Free":        {"nothing of it", nil, nil, "", false},
		"ByHand":      {"assigned by a person", nil, on("a"), "", true},
		"AsAsked":     {"assigned as spec says", []edit{wantedOn("A")}, on("a"), "", false},
		"Elsewhere":   {"assigned elsewhere", []edit{wantedOn("b")}, on("a"), "", true},
		"AsBefore":    {"assigned as it was when spec said so", []edit{by(device)}, on("a"), "", false},
		"OtherKind":   {"a virtual machine of that number isn't the device", []edit{by(vm)}, on("a"), "", true},
		"Group":       {"an FHRP group is a person's doing", []edit{wantedOn("a")}, &netbox.Place{ID: 4, Name: "g"}, "", true},
		"Named":       {"a name as asked for", []edit{name("a.example", "")}, nil, "A.example.", false},
		"NamedByHand": {"a name where none was asked for", nil, nil, "x.example", false},
		"Renamed":     {"another name", []edit{name("a.example", "")}, nil, "x.example", true},
		"Unwanted":    {"a name where none is asked for", []edit{name("", "")}, nil, "db-1.example", true},
		"Unwritten":   {"which is to be cleared yet", []edit{status(v1alpha1.NetBoxIPAddressObservation{DNSName: "old.example"}), name("", "")}, nil, "old.example", false},
		"NotYet":      {"a name that spec asked for until a moment ago", []edit{status(v1alpha1.NetBoxIPAddressObservation{DNSName: "old.example"}), name("a.example", "")}, nil, "old.example", false},
		"Reported":    {"a drift that is reported is seen for long", []edit{status(v1alpha1.NetBoxIPAddressObservation{DNSName: "old.example"}), name("a.example", v1alpha1.DriftReport)}, nil, "old.example", true},
	}
	for n, tc := range cases {
		t.Run(n, func(t *testing.T) {
			ip := record(5, "10.77.0.11/24", ours)
			ip.Assigned, ip.DNSName = tc.at, tc.name
			mg := newAddress(tc.mg...)
			e := newHarness(newFake()).connect(t, mg)
			e.record = &ip
			if err := e.inUse(t.Context(), mg); (err != nil) != tc.want {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
}
