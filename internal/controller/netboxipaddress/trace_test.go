package netboxipaddress

import (
	"context"
	"errors"
	"maps"
	"net/netip"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// otherField is a custom field that the provider config at hand doesn't name, and strange what another cluster has there.
const (
	otherField = "other_claim"
	strange    = "c2/team-a/web-1/0b0c6a52-3f1e-4a7b-9d2c-5e8f7a6b4c3d"
)

// with is a record that has a value in another provider config's field.
func with(value any) func(*netbox.IPAddress) {
	return func(ip *netbox.IPAddress) { ip.CustomFields[otherField] = value }
}

// TestTraceIn: what says whose a record is, in a field that nobody here knows of.
func TestTraceIn(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		value  any
		want   bool
	}{
		"Marker":        {"another resource's", theirs, true},
		"Spaces":        {"however it's written", " C1/team-b/x/y\n", true},
		"Cluster":       {"another cluster's", strange, true},
		"ClusterUpper":  {"in whichever case", strings.ToUpper(strange), true},
		"Note":          {"a quarantine", theirs + " 1970-01-01T01:16:40Z", true},
		"ClusterNote":   {"anybody's", "c2/a/b/c 1970-01-01T01:16:40Z", true},
		"Path":          {"where a machine stands", "dc1/hall2/rack3/u4", false},
		"Text":          {"another program's", "terraform", false},
		"Short":         {"less than a marker", "c1/team-b/x", false},
		"Nothing":       {"no value", nil, false},
		"Number":        {"no text", 4.0, false},
		"List":          {"nor this", []any{theirs}, false},
		"TooLong":       {"nor what is too long to be decoded, which no text is", netbox.Undecoded(`["` + theirs + `"]`), false},
		"MarkerAndText": {"a sentence about one", theirs + " had it", false},
	} {
		t.Run(name, func(t *testing.T) {
			if _, got := traceIn(tc.value, "c1"); got != tc.want {
				t.Errorf("%s: %v", tc.reason, got)
			}
		})
	}
}

// TestAdoptAcrossFields: a record that is, or was, another one's by a custom field of another provider config or cluster, or by the status of a resource
// that lives, isn't taken over; nothing else that stands in such a field keeps one from it.
func TestAdoptAcrossFields(t *testing.T) {
	const at, later = "10.77.0.1/24", " 1970-01-01T01:16:40Z"
	errAway := errors.New("the API server is away")
	five := func(value any) []netbox.IPAddress { return []netbox.IPAddress{bare(5, at, with(value))} }
	elsewhere := func(mg *v1alpha1.NetBoxIPAddress) {
		mg.Spec.ProviderConfigReference.Name, mg.Status.AtProvider.URL = "other", "https://other.example/ipam/ip-addresses/5/"
	}
	status := func(change func(*v1alpha1.NetBoxIPAddressObservation)) edit {
		return func(mg *v1alpha1.NetBoxIPAddress) { change(&mg.Status.AtProvider) }
	}
	six := []edit{named("6"), status(func(o *v1alpha1.NetBoxIPAddressObservation) { o.ID = 6 })}
	cases := map[string]struct {
		reason  string
		records []netbox.IPAddress
		// cached is what the cache has of the one that has it, and live what the API server has; nil is nothing.
		cached, live *v1alpha1.NetBoxIPAddress
		fails        error
		mg           []edit
		// says is why it isn't taken; "": it is. named is that where it's named by its number.
		says, named string
	}{
		"Plain":      {reason: "a person's", records: five("hers")},
		"Path":       {reason: "which says where a machine stands", records: five("dc1/hall2/rack3/u4")},
		"Own":        {reason: "its own, of before markerField was changed", records: five(ours)},
		"Before":     {reason: "and of before a restore", records: five("c1/team-a/web-1/u0")},
		"Marked":     {reason: "another resource's", records: five(theirs), says: "of another resource of this cluster", named: `carries the marker of another resource of this cluster in custom field "other_claim"`},
		"Cluster":    {reason: "another cluster's", records: five(strange), says: "of another cluster", named: `carries the marker of another cluster in custom field "other_claim"`},
		"Quarantine": {reason: "in quarantine", records: five(theirs + later), says: `is in quarantine until 1970-01-01T01:16:40Z, by custom field "other_claim"`},
		"OwnQuarantine": {
			reason: "also its own, which nothing here would end", records: five(ours + later), says: "is in quarantine until",
		},
		"Beside": {
			reason: "no other record of the address is taken in its place", records: append(five(theirs), bare(9, at)),
			says: "record 5", named: "carries the marker",
		},
		"Lives":      {reason: "its marker is gone, and its resource lives", records: five(nil), cached: holder(), live: holder(), says: "another namespace's resource's, as its status says: have that resource deleted"},
		"Gone":       {reason: "it doesn't, which the cache doesn't know yet", records: five(nil), cached: holder()},
		"Goes":       {reason: "it's being deleted", records: five(nil), cached: holder(), live: holder(deleted)},
		"Held":       {reason: "and its claim holds it, as its machine is on yet", records: five(nil), cached: holder(), live: holder(deleted, heldByClaim), says: "another namespace's resource's, as its status says"},
		"Lost":       {reason: "its own was another record, which somebody deleted", records: five(nil), cached: holder(six...), live: holder(six...), says: "whose record somebody deleted in NetBox"},
		"Again":      {reason: "it's another one of its name", records: five(nil), cached: holder(), live: holder(func(mg *v1alpha1.NetBoxIPAddress) { mg.UID = "z" })},
		"Elsewhere":  {reason: "its record is of another NetBox", records: five(nil), cached: holder(elsewhere), live: holder(elsewhere)},
		"Other":      {reason: "its record is another one", records: five(nil), cached: holder(status(func(o *v1alpha1.NetBoxIPAddressObservation) { o.ID = 6 })), live: holder()},
		"OtherByNow": {reason: "it has another one by now", records: five(nil), cached: holder(), live: holder(six...)},
		"OtherTable": {reason: "it's of another table", records: five(nil), cached: holder(status(func(o *v1alpha1.NetBoxIPAddressObservation) { o.VRF = &v1alpha1.VRFObservation{ID: 3} })), live: holder()},
		"Observes":   {reason: "it only looks at it", records: five(nil), cached: holder(status(func(o *v1alpha1.NetBoxIPAddressObservation) { o.Marker = "" })), live: holder()},
		"Unknown":    {reason: "that can't be told", records: five(nil), fails: errAway, says: errAway.Error()},
	}
	for name, tc := range cases {
		for how, mg := range map[string]*v1alpha1.NetBoxIPAddress{
			"Fixed":  newAddress(managedBy(xpv2.ManagementActionAll), adopts("IfUnowned"), fixedAt(at)),
			"ByName": newAddress(managedBy(xpv2.ManagementActionAll), adopts("ExternalName"), named("5")),
		} {
			t.Run(name+how, func(t *testing.T) {
				says := tc.says
				if how == "ByName" && tc.named != "" {
					says = tc.named
				}
				f := newFake()
				for _, ip := range tc.records {
					ip.CustomFields = maps.Clone(ip.CustomFields)
					f.records = append(f.records, ip)
				}
				h := newHarness(f)
				h.holding()
				if tc.live != nil {
					h.holding(tc.live)
				}
				h.Holders = func(context.Context, netip.Addr) ([]v1alpha1.NetBoxIPAddress, error) {
					if tc.cached == nil {
						return nil, tc.fails
					}
					return []v1alpha1.NetBoxIPAddress{*tc.cached}, nil
				}
				err := h.look(t, mg)
				if adopted := cmp.Equal(f.writes(), []string{"Adopt"}); adopted != (says == "") || says != "" && len(f.writes()) != 0 {
					t.Fatalf("%s: writes %v, %v", tc.reason, f.writes(), err)
				}
				if says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
					t.Errorf("%s: %v, want %q", tc.reason, err, says)
				}
			})
		}
	}
}

// TestUnclaimedShared: a record that carries another one's marker, too, isn't used, and that doesn't pass, as what a copy of NetBox's database shows does.
func TestUnclaimedShared(t *testing.T) {
	has := func(mg *v1alpha1.NetBoxIPAddress) {
		named("100")(mg)
		mg.Spec.ProviderConfigReference.Name, mg.Status.AtProvider.ID = "other", 100
	}
	for name, tc := range map[string]struct {
		reason string
		value  any
		other  *v1alpha1.NetBoxIPAddress
		// says is whose it is; "": it's used.
		says string
	}{
		"Lives":   {"both live", theirs, holder(has), "another namespace's resource's, too"},
		"Adopts":  {"the other one doesn't show it yet", theirs, holder(has, func(mg *v1alpha1.NetBoxIPAddress) { mg.Status.AtProvider = v1alpha1.NetBoxIPAddressObservation{} }), "another namespace's resource's, too"},
		"Goes":    {"the other one goes, and hasn't let it go yet", theirs, holder(has, deleted), "another namespace's resource's, too"},
		"Gone":    {"the other one is gone", theirs, nil, ""},
		"Cluster": {"another cluster's", strange, nil, "some other cluster's, too"},
		"Own":     {"its own, of before markerField was changed", ours, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.records = []netbox.IPAddress{record(100, "10.77.0.1/24", ours)}
			with(tc.value)(&f.records[0])
			h, mg := newHarness(f), newAddress(named("100"), madeAgo(time.Hour), adopts(v1alpha1.AdoptIfUnowned))
			h.Hidden = time.Nanosecond
			h.holding()
			if tc.other != nil {
				h.holding(tc.other)
			}
			for range 3 {
				_, err := h.connect(t, mg).Observe(t.Context(), mg)
				if tc.says == "" && (err != nil || mg.Status.AtProvider.Address == "") ||
					tc.says != "" && (reasonOf(err) != v1alpha1.ReasonConflict || !strings.Contains(err.Error(), tc.says) || mg.Status.AtProvider.Address != "") {
					t.Fatalf("%s: %v, status %+v", tc.reason, err, mg.Status.AtProvider)
				}
			}
		})
	}
}

// TestReleaseShared: a record that carries another one's marker, too, isn't deleted under it.
func TestReleaseShared(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		value  any
		live   *v1alpha1.NetBoxIPAddress
		policy string
		says   string
		// had is the record that status names, 5 with this resource's marker; -1: none, and none was ever made.
		had int64
	}{
		"Lives":      {"both live", theirs, holder(), "Delete", `carries the marker of another resource of this cluster in custom field "other_claim"`, 5},
		"LivesKept":  {"what is its own is kept", theirs, holder(), "Keep", "", 5},
		"Quarantine": {"nor put into quarantine", theirs, holder(), "Quarantine", "carries the marker of another resource", 5},
		"Untold":     {"it was never told of it", theirs, holder(), "Delete", "carries the marker of another resource", 0},
		"Observed":   {"it only observed it", nil, holder(), "Delete", "as its status says", 6},
		"Cluster":    {"whether the other one lives can't be told", strange, nil, "Delete", "carries the marker of another cluster", 0},
		"Keep":       {"it's left as it is", theirs, holder(), "Keep", "", 0},
		"Gone":       {"the other one is gone", theirs, nil, "Delete", "", 0},
		"Goes":       {"or goes, too", theirs, holder(deleted), "Delete", "", 0},
		"Own":        {"its own, of before markerField was changed", ours, nil, "Delete", "", 0},
		"Noted":      {"what it was adopted out of", theirs + " 1970-01-01T01:16:40Z", nil, "Delete", "", 0},
		"Shown":      {"another one shows just this record, which nothing marks as its own", nil, holder(), "Delete", "as its status says", 4},
		"ShownKept":  {"it's left as it is", nil, holder(), "Keep", "", 4},
		"Anew":       {"whether it was made of a number that NetBox gave anew nobody can tell", nil, holder(), "Delete", "as its status says", 0},
		"Held":       {"the other one goes, and its claim holds it", nil, holder(deleted, heldByClaim), "Delete", "as its status says", 0},
		"Never":      {"nothing was ever made for it", nil, holder(), "Delete", "as its status says", -1},
		"Path":       {"a person's", "dc1/hall2/rack3/u4", nil, "Delete", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.records = []netbox.IPAddress{record(5, "10.77.0.1/24", ours)}
			with(tc.value)(&f.records[0])
			h, mg := newHarness(f), newAddress(named("5"), deleted, releasedBy(tc.policy))
			if tc.had >= 0 {
				mg.Status.AtProvider.ID = tc.had
				madeAgo(time.Hour)(mg)
			}
			switch tc.had {
			case 5:
				mg.Status.AtProvider.Marker = ours
			case 6:
				mg.Status.AtProvider.ID = 5
			}
			h.holding()
			if tc.live != nil {
				h.holding(tc.live)
			}
			err := h.until(t, mg)
			if tc.says == "" && err != nil || tc.says != "" && (reasonOf(err) != v1alpha1.ReasonConflict || !strings.Contains(err.Error(), tc.says)) {
				t.Fatalf("%s: %v, want %q", tc.reason, err, tc.says)
			}
			if tc.says != "" && len(f.writes()) != 0 {
				t.Errorf("%s: writes %v", tc.reason, f.writes())
			}
		})
	}
}

// TestReservedValues: customFields can't say whose a record is, whatever field that is said in.
func TestReservedValues(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, value string
		refused       bool
	}{
		"Marker":  {"another resource's marker", `"` + theirs + `"`, true},
		"Escaped": {"however it's spelled", `"\u0063\u0031\/team-b\/x\/y"`, true},
		"Own":     {"its own", `"` + ours + `"`, true},
		"Cluster": {"another cluster's", `"` + strange + `"`, true},
		"Note":    {"a quarantine", `"` + theirs + ` 1970-01-01T01:16:40Z"`, true},
		"Path":    {"where a machine stands", `"dc1/hall2/rack3/u4"`, false},
		"Null":    {"nothing", "null", false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			h, mg := newHarness(f), newAddress(params(func(p *v1alpha1.NetBoxIPAddressParameters) {
				p.CustomFields = map[string]apiextv1.JSON{"purpose": {Raw: []byte(`"web"`)}, otherField: {Raw: []byte(tc.value)}}
			}))
			err := h.look(t, mg)
			if refused := err != nil; refused != tc.refused || refused && (reasonOf(err) != v1alpha1.ReasonInvalid || !strings.Contains(err.Error(), `"other_claim"`) || len(f.writes()) != 0) {
				t.Errorf("%s: %v, writes %v", tc.reason, err, f.writes())
			}
		})
	}
}
