package netboxipaddress

import (
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

func adopts(a v1alpha1.AdoptPolicy) edit {
	return params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.Adopt = a })
}

func fixedAt(address string) edit {
	return params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.From, p.Address = nil, address })
}

func managedBy(p ...xpv2.ManagementAction) edit {
	return func(mg *v1alpha1.NetBoxIPAddress) { mg.SetManagementPolicies(p) }
}

// bare is a record that carries no marker.
func bare(id int64, address string, change ...func(*netbox.IPAddress)) netbox.IPAddress {
	ip := record(id, address, "")
	ip.CustomFields = map[string]any{testField: nil}
	for _, c := range change {
		c(&ip)
	}
	return ip
}

func withNote(text string) func(*netbox.IPAddress) {
	return func(ip *netbox.IPAddress) { ip.CustomFields[testNote], ip.Status = text, netbox.StatusDeprecated }
}

func TestAdopt(t *testing.T) {
	const at, later = "10.77.0.40/24", " 1970-01-01T01:16:40Z"
	policy := []v1alpha1.NetBoxPolicy{{Namespaces: []string{"team-a"}, Prefixes: []string{"10.77.0.0/24"}, Tenant: "a"}}
	zone := []v1alpha1.NetBoxPolicy{{Namespaces: []string{"team-a"}, Prefixes: []string{"10.77.0.0/24"}, DNSZones: []string{"a.example"}}}
	inZone := func(name string) func(*netbox.IPAddress) { return func(ip *netbox.IPAddress) { ip.DNSName = name } }
	cases := map[string]struct {
		reason  string
		mg      []edit
		records []netbox.IPAddress
		fake    func(*fakeNetBox)
		policy  []v1alpha1.NetBoxPolicy
		// number is the record that is ours afterwards; 0: none.
		number int64
		writes []string
		want   xpv2.ConditionReason
		text   string
	}{
		"Never":            {reason: "somebody's record isn't taken", mg: []edit{named("9")}, records: []netbox.IPAddress{bare(9, at)}, want: "Conflict", text: "adopt: ExternalName to take it over"},
		"ByName":           {reason: "unless somebody says so", mg: []edit{named("9"), adopts("ExternalName")}, records: []netbox.IPAddress{bare(9, at)}, number: 9, writes: []string{"Adopt"}},
		"ByNameGone":       {reason: "which isn't there", mg: []edit{named("9"), adopts("ExternalName")}, want: "NotFound", text: "has no record 9"},
		"ByNameUnnamed":    {reason: "which nobody named: no other one is made in its place", mg: []edit{adopts("ExternalName")}, want: "Invalid", text: "there is no such annotation"},
		"ByNameForgotten":  {reason: "the annotation of what it has was taken off", mg: []edit{adopts("ExternalName")}, records: []netbox.IPAddress{record(9, at, ours)}, number: 9},
		"ByNameOther":      {reason: "another resource's", mg: []edit{named("9"), adopts("ExternalName")}, records: []netbox.IPAddress{record(9, at, "c1/team-b/x/y")}, want: "Conflict", text: "belongs to another resource"},
		"ByNameCluster":    {reason: "another cluster's", mg: []edit{named("9"), adopts("ExternalName")}, records: []netbox.IPAddress{record(9, at, "c2/team-a/web-1/u1")}, want: "Conflict", text: "belongs to another cluster"},
		"ByNameText":       {reason: "another program's", mg: []edit{named("9"), adopts("ExternalName")}, records: []netbox.IPAddress{record(9, at, "terraform")}, want: "Conflict", text: "no marker of ours"},
		"ByNameAddress":    {reason: "another address than spec's", mg: []edit{named("9"), adopts("ExternalName"), fixedAt("10.77.0.41/24")}, records: []netbox.IPAddress{bare(9, at)}, want: "Conflict", text: `is of address "10.77.0.40/24"`},
		"ByNameNotAllowed": {reason: "a number is no way around the policies", mg: []edit{named("9"), adopts("ExternalName")}, records: []netbox.IPAddress{bare(9, "10.78.0.9/24")}, policy: policy, want: "NotAllowed", text: "record 9 of NetBox is not allowed"},
		"ByNameTenant":     {reason: "nor to another tenant's", mg: []edit{named("9"), adopts("ExternalName")}, records: []netbox.IPAddress{bare(9, at, func(ip *netbox.IPAddress) { ip.Tenant = "b" })}, policy: policy, want: "NotAllowed"},
		"ByNameOwnTenant":  {reason: "its own it may have", mg: []edit{named("9"), adopts("ExternalName")}, records: []netbox.IPAddress{bare(9, at)}, policy: policy, number: 9, writes: []string{"Adopt"}},
		"ByNameOtherZone":  {reason: "nor a name of another's zone, whatever spec calls it", mg: []edit{named("9"), adopts("ExternalName")}, records: []netbox.IPAddress{bare(9, at, inZone("db.b.example"))}, policy: zone, want: "NotAllowed", text: "record 9 of NetBox is not allowed"},
		"ByNameRenamed":    {reason: "also where spec would give it one of its own", mg: []edit{named("9"), adopts("ExternalName"), params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.DNSName = new("db.a.example") })}, records: []netbox.IPAddress{bare(9, at, inZone("db.b.example"))}, policy: zone, want: "NotAllowed", text: "record 9 of NetBox is not allowed"},
		"ByNameOwnZone":    {reason: "a name of its own zone it may have", mg: []edit{named("9"), adopts("ExternalName")}, records: []netbox.IPAddress{bare(9, at, inZone("db.a.example"))}, policy: zone, number: 9, writes: []string{"Adopt"}},
		"FixedOtherZone":   {reason: "by its address neither", mg: []edit{adopts("IfUnowned"), fixedAt(at)}, records: []netbox.IPAddress{bare(9, at, inZone("db.b.example"))}, policy: zone, want: "NotAllowed", text: "record 9 of NetBox is not allowed"},
		"FixedUpper":       {reason: "an address is one in whichever form it's written", mg: []edit{adopts("IfUnowned"), fixedAt("2001:DB8::0:5/64")}, records: []netbox.IPAddress{bare(9, "2001:db8::5/64")}, fake: func(f *fakeNetBox) { f.prefixes = append(f.prefixes, inPrefix(3, "2001:db8::/64")) }, number: 9, writes: []string{"Adopt"}},
		"FixedUpperNamed":  {reason: "also by its number", mg: []edit{named("9"), adopts("IfUnowned"), fixedAt("2001:DB8::0:5/64")}, records: []netbox.IPAddress{bare(9, "2001:db8::5/64")}, number: 9, writes: []string{"Adopt"}},
		"ByNameElsewhere":  {reason: "it has a record of its own", mg: []edit{named("9"), adopts("ExternalName")}, records: []netbox.IPAddress{bare(9, at), record(6, "10.77.0.6/24", ours)}, want: "Conflict", text: "which is record 6"},
		"ByNameNoCreate":   {reason: "policies that let nothing be made", mg: []edit{named("9"), adopts("ExternalName"), managedBy(xpv2.ManagementActionObserve, xpv2.ManagementActionUpdate)}, records: []netbox.IPAddress{bare(9, at)}, want: "NotFound", text: "add Create there"},
		"FirstField":       {reason: "the field first", mg: []edit{named("9"), adopts("ExternalName")}, records: []netbox.IPAddress{bare(9, at)}, fake: func(f *fakeNetBox) { f.field = netbox.FieldMissing }, number: 9, writes: []string{"CreateMarkerField", "Adopt"}},
		"Lost":             {reason: "adopted, and the answer is lost: found by marker", mg: []edit{named("9"), adopts("ExternalName")}, records: []netbox.IPAddress{bare(9, at)}, fake: func(f *fakeNetBox) { f.lose["Adopt"] = kind(netbox.KindUnknownOutcome) }, number: 9, writes: []string{"Adopt"}},
		"Raced":            {reason: "somebody was faster", mg: []edit{named("9"), adopts("ExternalName")}, records: []netbox.IPAddress{bare(9, at)}, fake: func(f *fakeNetBox) { f.fail["Adopt"] = kind(netbox.KindConflict) }, want: "Conflict", writes: []string{"Adopt"}},
		"Assigned":         {reason: "it's on another device than spec says", mg: []edit{named("9"), adopts("ExternalName"), wantedOn("r7-u12")}, records: []netbox.IPAddress{bare(9, at, func(ip *netbox.IPAddress) { ip.Assigned = on("db-1") })}, want: "Conflict", text: `device "db-1"`},
		"AssignedAsIs":     {reason: "where spec says nothing it stays where it is", mg: []edit{named("9"), adopts("ExternalName")}, records: []netbox.IPAddress{bare(9, at, func(ip *netbox.IPAddress) { ip.Assigned = on("db-1") })}, number: 9, writes: []string{"Adopt"}},
		"Fixed":            {reason: "the one record of the address", mg: []edit{adopts("IfUnowned"), fixedAt(at)}, records: []netbox.IPAddress{bare(9, at)}, number: 9, writes: []string{"Adopt"}},
		"FixedNew":         {reason: "or a new one", mg: []edit{adopts("IfUnowned"), fixedAt(at)}, number: 100, writes: []string{"Create"}},
		"FixedNamed":       {reason: "also by its number", mg: []edit{named("9"), adopts("IfUnowned"), fixedAt(at)}, records: []netbox.IPAddress{bare(9, at)}, number: 9, writes: []string{"Adopt"}},
		"FixedMask":        {reason: "with another mask it's another address", mg: []edit{adopts("IfUnowned"), fixedAt(at)}, records: []netbox.IPAddress{bare(9, "10.77.0.40/32")}, want: "Conflict", text: "correct spec.forProvider.address"},
		"FixedTwo":         {reason: "two records: never pick", mg: []edit{adopts("IfUnowned"), fixedAt(at)}, records: []netbox.IPAddress{bare(9, at), bare(10, at)}, want: "Conflict", text: "same address as record 10"},
		"FixedOther":       {reason: "another resource's", mg: []edit{adopts("IfUnowned"), fixedAt(at)}, records: []netbox.IPAddress{record(9, at, "c1/team-b/x/y")}, want: "Conflict"},
		"FixedCluster":     {reason: "another cluster's", mg: []edit{adopts("IfUnowned"), fixedAt(at)}, records: []netbox.IPAddress{record(9, at, "c2/team-a/web-1/u1")}, want: "Conflict"},
		"FixedOurs":        {reason: "its own, since the cluster's data was set back", mg: []edit{adopts("IfUnowned"), fixedAt(at)}, records: []netbox.IPAddress{record(9, at, ours)}, number: 9},
		"FixedQuarantine":  {reason: "what another let go isn't reused at once", mg: []edit{adopts("IfUnowned"), fixedAt(at)}, records: []netbox.IPAddress{bare(9, at, withNote("c1/team-b/x/y"+later))}, want: "Conflict", text: "is in quarantine until 1970-01-01T01:16:40Z"},
		"FixedOver":        {reason: "its quarantine is over, and somebody uses it: nothing ends that note", mg: []edit{adopts("IfUnowned"), fixedAt(at)}, records: []netbox.IPAddress{bare(9, at, withNote("c1/team-b/x/y 1970-01-01T00:00:01Z"), func(ip *netbox.IPAddress) { ip.Status = "active" })}, want: "Conflict", text: "clear that field in NetBox"},
		"FixedOwn":         {reason: "but by whoever let it go", mg: []edit{adopts("IfUnowned"), fixedAt(at)}, records: []netbox.IPAddress{bare(9, at, withNote("c1/team-a/web-1/u0"+later))}, number: 9, writes: []string{"Adopt"}},
		"FixedKept":        {reason: "what somebody left behind", mg: []edit{adopts("IfUnowned"), fixedAt(at)}, records: []netbox.IPAddress{bare(9, at, withNote("c1/team-b/x/y"), func(ip *netbox.IPAddress) { ip.Status = "active" })}, number: 9, writes: []string{"Adopt"}},
		"TakenBack":        {reason: "restored from a backup of before its deletion: its own", mg: []edit{named("9")}, records: []netbox.IPAddress{bare(9, at, withNote(ours+later))}, number: 9, writes: []string{"Adopt"}},
		"KeptNotTaken":     {reason: "what it left to others isn't taken back by itself", mg: []edit{named("9")}, records: []netbox.IPAddress{bare(9, at, withNote(ours))}, want: "Conflict", text: "adopt: ExternalName"},
		"InUseNotTaken":    {reason: "nor what somebody put back into use", mg: []edit{named("9")}, records: []netbox.IPAddress{bare(9, at, withNote(ours+later), func(ip *netbox.IPAddress) { ip.Status = "active" })}, want: "Conflict"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.records = tc.records
			if tc.fake != nil {
				tc.fake(f)
			}
			h, mg := newHarness(f), newAddress(append([]edit{managedBy(xpv2.ManagementActionAll)}, tc.mg...)...)
			h.cfg.Config.Policies = tc.policy
			err := h.look(t, mg)
			got, message := reasonOf(err), ""
			if err != nil {
				message = err.Error()
			} else if c := mg.GetCondition(xpv2.TypeReady); c.Reason != xpv2.ReasonAvailable {
				got, message = c.Reason, c.Message
			}
			if got != tc.want || !strings.Contains(message, tc.text) {
				t.Fatalf("%s: %q: %s; want %q with %q", tc.reason, got, message, tc.want, tc.text)
			}
			if diff := cmp.Diff(tc.writes, f.writes()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if tc.number == 0 {
				return
			}
			ip, err := f.FindByMarker(t.Context(), ours)
			if err != nil || ip.ID != tc.number || ip.Status != "active" || ip.CustomFields[testNote] != nil {
				t.Errorf("%s: ours is %+v, %v; want %d", tc.reason, ip, err, tc.number)
			}
			if told := strings.HasPrefix(strings.Join(h.events, " "), "Adopted: record"); told != strings.Contains(strings.Join(tc.writes, " "), "Adopt") && name != "Lost" {
				t.Errorf("%s: events %q", tc.reason, h.events)
			}
		})
	}
}

// TestAdoptCrashes: killed between an adoption and its recording, the next process finds it, and writes nothing twice.
func TestAdoptCrashes(t *testing.T) {
	for name, mg := range map[string]*v1alpha1.NetBoxIPAddress{
		"ByName": newAddress(managedBy(xpv2.ManagementActionAll), named("9"), adopts("ExternalName")),
		"Fixed":  newAddress(managedBy(xpv2.ManagementActionAll), adopts("IfUnowned"), fixedAt("10.77.0.40/24")),
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.records = []netbox.IPAddress{bare(9, "10.77.0.40/24")}
			h := newHarness(f)
			h.crash = "netbox-after-post"
			before := mg.DeepCopy()
			meta.SetExternalCreatePending(before, time.Unix(1000, 0)) // As the managed reconciler does first.
			func() {
				defer func() { _ = recover() }()
				_ = h.look(t, mg.DeepCopy())
				t.Error("it never came to the failpoint")
			}()
			again := newHarness(f)
			if err := again.look(t, before); err != nil || meta.GetExternalName(before) != "9" {
				t.Errorf("%v, external name %q", err, meta.GetExternalName(before))
			}
			if diff := cmp.Diff([]string{"Adopt"}, f.writes()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestNeverAdopted: a resource whose adoption never came about goes without touching what it named.
func TestNeverAdopted(t *testing.T) {
	f := newFake()
	f.records = []netbox.IPAddress{bare(9, "10.77.0.40/24")}
	mg := newAddress(named("9"), adopts("ExternalName"), deleted)
	meta.RemoveAnnotations(mg, meta.AnnotationKeyExternalCreatePending)
	if gone, err := newHarness(f).deleteOnce(t, mg); err != nil || !gone || len(f.writes()) != 0 {
		t.Errorf("gone %v, %v, writes %v", gone, err, f.writes())
	}
}

// TestImport: what is only observed may be anybody's, needs no marker field, and nothing is ever written.
func TestImport(t *testing.T) {
	policy := []v1alpha1.NetBoxPolicy{{Namespaces: []string{"team-a"}, Prefixes: []string{"10.77.0.0/24"}, DNSZones: []string{"good"}, Tenant: "a"}}
	cases := map[string]struct {
		reason  string
		mg      []edit
		records []netbox.IPAddress
		fake    func(*fakeNetBox)
		policy  []v1alpha1.NetBoxPolicy
		want    xpv2.ConditionReason
		err     bool
	}{
		"Bare":        {reason: "nobody's", mg: []edit{named("9")}, records: []netbox.IPAddress{bare(9, "10.77.0.40/24")}, want: "Available"},
		"Other":       {reason: "another resource's", mg: []edit{named("9")}, records: []netbox.IPAddress{record(9, "10.77.0.40/24", "c1/team-b/x/y")}, want: "Available"},
		"Cluster":     {reason: "another cluster's", mg: []edit{named("9")}, records: []netbox.IPAddress{record(9, "10.77.0.40/24", "c2/team-a/web-1/u1")}, want: "Available"},
		"Ours":        {reason: "what it made before, also where spec differs", mg: []edit{named("9"), params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.Description = new("d") })}, records: []netbox.IPAddress{record(9, "10.77.0.40/24", ours)}, want: "Available"},
		"NoField":     {reason: "without the marker's field", mg: []edit{named("9")}, records: []netbox.IPAddress{bare(9, "10.77.0.40/24")}, fake: func(f *fakeNetBox) { f.fail["Preflight"] = kind(netbox.KindMarkerField) }, want: "Available"},
		"Allowed":     {reason: "within the policies", mg: []edit{named("9")}, records: []netbox.IPAddress{bare(9, "10.77.0.40/24")}, policy: policy, want: "Available"},
		"Gone":        {reason: "not there", mg: []edit{named("9")}, want: v1alpha1.ReasonNotFound},
		"Unnamed":     {reason: "no record is named", want: v1alpha1.ReasonNotFound},
		"NotAllowed":  {reason: "a number is no way around the policies", mg: []edit{named("9")}, records: []netbox.IPAddress{bare(9, "10.78.0.40/24")}, policy: policy, want: v1alpha1.ReasonNotAllowed, err: true},
		"OtherZone":   {reason: "nor to a name", mg: []edit{named("9")}, records: []netbox.IPAddress{bare(9, "10.77.0.40/24", func(ip *netbox.IPAddress) { ip.DNSName = "x.evil" })}, policy: policy, want: v1alpha1.ReasonNotAllowed, err: true},
		"OtherTenant": {reason: "nor to another tenant's record", mg: []edit{named("9")}, records: []netbox.IPAddress{bare(9, "10.77.0.40/24", func(ip *netbox.IPAddress) { ip.Tenant = "b" })}, policy: policy, want: v1alpha1.ReasonNotAllowed, err: true},
		"Down":        {reason: "what can't be asked for", mg: []edit{named("9")}, fake: func(f *fakeNetBox) { f.fail["Get"] = kind(netbox.KindUnreachable) }, want: v1alpha1.ReasonUnreachable, err: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.records = tc.records
			if tc.fake != nil {
				tc.fake(f)
			}
			h, mg := newHarness(f), newAddress(append([]edit{managedBy(xpv2.ManagementActionObserve), params(func(p *v1alpha1.NetBoxIPAddressParameters) { p.From = nil })}, tc.mg...)...)
			h.cfg.Config.Policies = tc.policy
			o, err := h.connect(t, mg).Observe(t.Context(), mg)
			if (err != nil) != tc.err || mg.GetCondition(xpv2.TypeReady).Reason != tc.want {
				t.Fatalf("%s: %v, %+v, want %q", tc.reason, err, mg.GetCondition(xpv2.TypeReady), tc.want)
			}
			if err == nil && (!o.ResourceExists || !o.ResourceUpToDate || o.ResourceLateInitialized) {
				t.Errorf("%s: %+v would be written", tc.reason, o)
			}
			if shown := mg.Status.AtProvider.Address != ""; shown != (tc.want == "Available") {
				t.Errorf("%s: status %+v", tc.reason, mg.Status.AtProvider)
			}
			if len(f.writes()) != 0 {
				t.Errorf("%s: writes %v", tc.reason, f.writes())
			}
		})
	}
}

// TestImportWithdrawn: what the policies don't allow any more isn't shown any more.
func TestImportWithdrawn(t *testing.T) {
	f := newFake()
	f.records = []netbox.IPAddress{bare(9, "10.77.0.40/24")}
	h, mg := newHarness(f), newAddress(managedBy(xpv2.ManagementActionObserve), named("9"))
	for _, policies := range [][]v1alpha1.NetBoxPolicy{nil, {{Namespaces: []string{"team-b"}}}} {
		h.cfg.Config.Policies = policies
		_, _ = h.connect(t, mg).Observe(t.Context(), mg)
	}
	if c := mg.GetCondition(xpv2.TypeReady); c.Reason != v1alpha1.ReasonNotAllowed || mg.Status.AtProvider.Address != "" || strings.Contains(c.Message, "10.77") {
		t.Errorf("condition %+v, status %+v", c, mg.Status.AtProvider)
	}
}
