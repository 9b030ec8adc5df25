package redfishhost

import (
	"slices"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

func TestRenamedFrom(t *testing.T) {
	const uuid = "11111111-2222-3333-4444-555555555555"
	same := redfish.Identity{Serial: "ABC", UUID: uuid, URI: "/redfish/v1/Systems/1"}
	cases := map[string]struct {
		reason      string
		external    string
		annotations map[string]string
		is          redfish.Identity
		want        string
	}{
		"New":         {reason: "A host that isn't enrolled was nobody.", is: same},
		"Serial":      {reason: "The same serial.", external: "ABC", is: same},
		"SerialCase":  {reason: "Firmware updates change the case.", external: "abc", is: same},
		"UUID":        {reason: "Enrolled while it had no serial.", external: uuid, is: same},
		"URI":         {reason: "Enrolled while it had neither.", external: "/redfish/v1/Systems/1", is: same},
		"Other":       {reason: "Another serial.", external: "XYZ", is: same, want: "XYZ"},
		"SerialGone":  {reason: "A serial that is gone (a BMC that is starting) isn't this machine as far as anybody knows.", external: "ABC", is: redfish.Identity{URI: "/redfish/v1/Systems/1"}, want: "ABC"},
		"Granted":     {reason: "The external name was edited, but what was granted tells.", external: "ABC", annotations: map[string]string{v1alpha1.AnnotationGranted: `{"serial":"OLD"}`}, is: same, want: "OLD"},
		"Installed":   {reason: "The same for what was installed.", external: "ABC", annotations: map[string]string{v1alpha1.AnnotationInstalled: `{"serial":"OLD"}`}, is: same, want: "OLD"},
		"SameGranted": {reason: "Granted to this machine.", external: "ABC", annotations: map[string]string{v1alpha1.AnnotationGranted: `{"serial":"ABC"}`}, is: same},
		"NoSerial":    {reason: "What an older version took for a serial number isn't one.", external: "123456789", annotations: map[string]string{v1alpha1.AnnotationGranted: `{"serial":"123456789"}`}, is: same},
		"BadRecord":   {reason: "A record that can't be read says nothing.", external: "ABC", annotations: map[string]string{v1alpha1.AnnotationGranted: `{`}, is: same},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h := &v1alpha1.RedfishHost{}
			h.SetAnnotations(tc.annotations)
			if tc.external != "" {
				meta.SetExternalName(h, tc.external)
			}
			if got := renamedFrom(h, tc.is); got != tc.want {
				t.Errorf("\n%s\nrenamedFrom(...): got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestSilent(t *testing.T) {
	was := v1alpha1.HostIdentity{Serial: "ABC", UUID: "u", SystemURI: "/s"}
	cases := map[string]struct {
		reason string
		was    v1alpha1.HostIdentity
		is     redfish.Identity
		want   bool
	}{
		"Starting":  {reason: "A BMC that is starting tells neither.", was: was, is: redfish.Identity{URI: "/s"}, want: true},
		"SameUUID":  {reason: "The UUID is the same.", was: was, is: redfish.Identity{URI: "/s", UUID: "U"}, want: true},
		"OtherUUID": {reason: "Another UUID is another machine.", was: was, is: redfish.Identity{URI: "/s", UUID: "v"}},
		"OtherURI":  {reason: "Another System is another machine.", was: was, is: redfish.Identity{URI: "/t"}},
		"Serial":    {reason: "Another serial is another machine.", was: was, is: redfish.Identity{URI: "/s", Serial: "XYZ"}},
		"NeverHad":  {reason: "A machine that never had one isn't silent about it.", is: redfish.Identity{URI: "/s"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h := &v1alpha1.RedfishHost{}
			h.Status.AtProvider.Identity = tc.was
			if got := silent(h, tc.is); got != tc.want {
				t.Errorf("\n%s\nsilent(...): got %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}

func host(uid string, created int64, address string, change func(*v1alpha1.RedfishHost)) v1alpha1.RedfishHost {
	h := v1alpha1.RedfishHost{ObjectMeta: metav1.ObjectMeta{
		Name: uid, UID: types.UID(uid), CreationTimestamp: metav1.NewTime(time.Unix(created, 0)),
	}}
	h.Spec.ForProvider.Address = address
	if change != nil {
		change(&h)
	}

	return h
}

// elsewhere is a host of another namespace, with what is wrong with it and its external name.
func elsewhere(why xpv2.ConditionReason, name string) func(*v1alpha1.RedfishHost) {
	return func(h *v1alpha1.RedfishHost) {
		h.Namespace = "team-b"
		h.SetConditions(condition(v1alpha1.ConditionReachable, corev1.ConditionFalse, why, ""))
		if name != "" {
			meta.SetExternalName(h, name)
		}
	}
}

func letIn(h *v1alpha1.RedfishHost) { meta.SetExternalName(h, "ABC") }

func selecting(s v1alpha1.SystemSelector) func(*v1alpha1.RedfishHost) {
	return func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.System = &s }
}

func being(i v1alpha1.HostIdentity) func(*v1alpha1.RedfishHost) {
	return func(h *v1alpha1.RedfishHost) { h.Status.AtProvider.Identity = i }
}

func TestDuplicateBySpec(t *testing.T) {
	cases := map[string]struct {
		reason string
		self   v1alpha1.RedfishHost
		others []v1alpha1.RedfishHost
		want   string
	}{
		"Alone":        {reason: "Itself isn't another.", self: host("b", 2, "10.0.0.1", nil), others: []v1alpha1.RedfishHost{host("b", 2, "10.0.0.1", nil)}},
		"Other":        {reason: "Another BMC.", self: host("b", 2, "10.0.0.1", nil), others: []v1alpha1.RedfishHost{host("a", 1, "10.0.0.2", nil)}},
		"Later":        {reason: "The later one is refused.", self: host("b", 2, "10.0.0.1", nil), others: []v1alpha1.RedfishHost{host("a", 1, "10.0.0.1", nil)}, want: "a"},
		"Earlier":      {reason: "The earlier one isn't.", self: host("a", 1, "10.0.0.1", nil), others: []v1alpha1.RedfishHost{host("b", 2, "10.0.0.1", nil)}},
		"Tie":          {reason: "The same second: by UID.", self: host("b", 1, "10.0.0.1", nil), others: []v1alpha1.RedfishHost{host("a", 1, "10.0.0.1", nil)}, want: "a"},
		"TieLetIn":     {reason: "The same second: one that was let in already keeps its machine, whatever the UIDs.", self: host("b", 1, "10.0.0.1", letIn), others: []v1alpha1.RedfishHost{host("a", 1, "10.0.0.1", nil)}},
		"TieOtherIn":   {reason: "And the other way round.", self: host("a", 1, "10.0.0.1", nil), others: []v1alpha1.RedfishHost{host("b", 1, "10.0.0.1", letIn)}, want: "b"},
		"Spelling":     {reason: "One address in two spellings.", self: host("b", 2, "https://BMC.example/", nil), others: []v1alpha1.RedfishHost{host("a", 1, "bmc.example:443", nil)}, want: "a"},
		"TwoSystems":   {reason: "Two Systems of one BMC.", self: host("b", 2, "10.0.0.1", selecting(v1alpha1.SystemSelector{ID: "1"})), others: []v1alpha1.RedfishHost{host("a", 1, "10.0.0.1", selecting(v1alpha1.SystemSelector{ID: "2"}))}},
		"SameSystem":   {reason: "The same System of one BMC.", self: host("b", 2, "10.0.0.1", selecting(v1alpha1.SystemSelector{ID: "Node0"})), others: []v1alpha1.RedfishHost{host("a", 1, "10.0.0.1", selecting(v1alpha1.SystemSelector{ID: "node0"}))}, want: "a"},
		"OneSelects":   {reason: "One of them leaves it open.", self: host("b", 2, "10.0.0.1", selecting(v1alpha1.SystemSelector{ID: "1"})), others: []v1alpha1.RedfishHost{host("a", 1, "10.0.0.1", nil)}, want: "a"},
		"OldestOfMany": {reason: "The oldest is named.", self: host("c", 3, "10.0.0.1", nil), others: []v1alpha1.RedfishHost{host("b", 2, "10.0.0.1", nil), host("a", 1, "10.0.0.1", nil)}, want: "a"},
		"Squatter":     {reason: "One of another namespace that the BMC never let in keeps nobody from it.", self: host("b", 2, "10.0.0.1", nil), others: []v1alpha1.RedfishHost{host("a", 1, "10.0.0.1", elsewhere(v1alpha1.ReasonUnauthorized, ""))}},
		"Unreachable":  {reason: "One that wasn't answered yet may still be let in.", self: host("b", 2, "10.0.0.1", nil), others: []v1alpha1.RedfishHost{host("a", 1, "10.0.0.1", elsewhere(v1alpha1.ReasonUnreachable, ""))}, want: "a"},
		"WasLetIn":     {reason: "One that was let in once keeps its machine when its password is changed.", self: host("b", 2, "10.0.0.1", nil), others: []v1alpha1.RedfishHost{host("a", 1, "10.0.0.1", elsewhere(v1alpha1.ReasonUnauthorized, "ABC"))}, want: "a"},
		"BadAddress":   {reason: "Addresses that can't be used are no BMC.", self: host("b", 2, "ftp://x", nil), others: []v1alpha1.RedfishHost{host("a", 1, "ftp://x", nil)}},
		"ByAddress":    {reason: "Two Systems of one BMC, by their URLs.", self: host("b", 2, "https://10.0.0.1/redfish/v1/Systems/1", nil), others: []v1alpha1.RedfishHost{host("a", 1, "https://10.0.0.1/redfish/v1/Systems/2", nil)}},
		"SameAddress":  {reason: "One by its URL, and by its id.", self: host("b", 2, "https://10.0.0.1/redfish/v1/Systems/1", nil), others: []v1alpha1.RedfishHost{host("a", 1, "10.0.0.1", selecting(v1alpha1.SystemSelector{ID: "1"}))}, want: "a"},
		"Proxy":        {reason: "Two BMCs behind one proxy.", self: host("b", 2, "https://10.0.0.1/bmc-1", nil), others: []v1alpha1.RedfishHost{host("a", 1, "https://10.0.0.1/bmc-2", nil)}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := nameOf(duplicateBySpec(&tc.self, tc.others)); got != tc.want {
				t.Errorf("\n%s\nduplicateBySpec(...): got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func nameOf(h *v1alpha1.RedfishHost) string {
	if h == nil {
		return ""
	}

	return h.GetName()
}

// turnedA is uuidA with its first three fields turned round.
const turnedA = "33221100-5544-7766-8899-aabbccddeeff"

func TestDuplicateByIdentity(t *testing.T) {
	cases := map[string]struct {
		reason string
		is     redfish.Identity
		other  v1alpha1.RedfishHost
		want   string
	}{
		"Serial":      {reason: "One machine under two addresses.", is: redfish.Identity{Serial: "ABC"}, other: host("a", 1, "10.0.0.2", being(v1alpha1.HostIdentity{Serial: "ABC"})), want: "a"},
		"UUID":        {reason: "The same by UUID.", is: redfish.Identity{UUID: "u"}, other: host("a", 1, "10.0.0.2", being(v1alpha1.HostIdentity{UUID: "u"})), want: "a"},
		"Spelling":    {reason: "A serial that is spelt otherwise elsewhere.", is: redfish.Identity{Serial: "ABC"}, other: host("a", 1, "10.0.0.2", being(v1alpha1.HostIdentity{Serial: "abc"})), want: "a"},
		"Turned":      {reason: "A UUID in the other byte order.", is: redfish.Identity{UUID: uuidA}, other: host("a", 1, "10.0.0.2", being(v1alpha1.HostIdentity{UUID: turnedA})), want: "a"},
		"Node":        {reason: "Two nodes with a BMC each, that both have their chassis' serial.", is: redfish.Identity{Serial: "ABC", UUID: uuidA}, other: host("a", 1, "10.0.0.2", being(v1alpha1.HostIdentity{Serial: "ABC", UUID: uuidB}))},
		"OneUUID":     {reason: "The other's UUID isn't known: it may be this one.", is: redfish.Identity{Serial: "ABC", UUID: uuidA}, other: host("a", 1, "10.0.0.2", being(v1alpha1.HostIdentity{Serial: "ABC"})), want: "a"},
		"Board":       {reason: "One machine with another serial by its other BMC.", is: redfish.Identity{Serial: "ABC", UUID: uuidA}, other: host("a", 1, "10.0.0.2", being(v1alpha1.HostIdentity{Serial: "X", UUID: uuidA})), want: "a"},
		"Blank":       {reason: "Two machines without a name aren't one.", is: redfish.Identity{URI: "/redfish/v1/Systems/1"}, other: host("a", 1, "10.0.0.2", being(v1alpha1.HostIdentity{SystemURI: "/redfish/v1/Systems/1"}))},
		"ChassisMate": {reason: "Two nodes of one BMC share their chassis' serial.", is: redfish.Identity{Serial: "ABC", URI: "/redfish/v1/Systems/Node1"}, other: host("a", 1, "10.0.0.1", being(v1alpha1.HostIdentity{Serial: "ABC", SystemURI: "/redfish/v1/Systems/Node0"}))},
		"SameURI":     {reason: "Two selectors that mean one System.", is: redfish.Identity{Serial: "ABC", URI: "/redfish/v1/Systems/1"}, other: host("a", 1, "10.0.0.1", being(v1alpha1.HostIdentity{SystemURI: "/redfish/v1/Systems/1"})), want: "a"},
		"Unknown":     {reason: "What isn't known yet isn't the same.", is: redfish.Identity{Serial: "ABC", URI: "/redfish/v1/Systems/1"}, other: host("a", 1, "10.0.0.1", nil)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			self := host("b", 2, "10.0.0.1", nil)
			if got := nameOf(duplicateByIdentity(&self, tc.is, []v1alpha1.RedfishHost{tc.other})); got != tc.want {
				t.Errorf("\n%s\nduplicateByIdentity(...): got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestDuplicateOfLentUUID: a UUID that was lent anew since the other host was looked at makes no second machine of one.
func TestDuplicateOfLentUUID(t *testing.T) {
	recorded := func(h v1alpha1.RedfishHost, bmc string) v1alpha1.RedfishHost {
		h.SetAnnotations(map[string]string{v1alpha1.AnnotationIdentity: `{"uri":"/s","serial":"ABC","uuid":"` + uuidB + `","bmcUUID":"` + bmc + `"}`})

		return h
	}
	is := redfish.Identity{Serial: "ABC", UUID: uuidA, URI: "/s"}
	other := host("a", 1, "10.0.0.2", being(v1alpha1.HostIdentity{Serial: "ABC", UUID: uuidB}))
	self := host("b", 2, "10.0.0.1", nil)
	self.SetAnnotations(map[string]string{v1alpha1.AnnotationIdentity: `{"uri":"/s","bmcUUID":"` + bmcA + `"}`})
	for bmc, want := range map[string]string{bmcA: "a", uuidB: "", "": ""} {
		if got := nameOf(duplicateByIdentity(&self, is, []v1alpha1.RedfishHost{recorded(other, bmc)})); got != want {
			t.Errorf("the other's BMC was %q: duplicate of %q, want %q", bmc, got, want)
		}
	}
}

func TestSelectorOf(t *testing.T) {
	cases := map[string]struct {
		reason  string
		address string
		system  *v1alpha1.SystemSelector
		want    redfish.Selector
		invalid bool
	}{
		"Open":    {reason: "Whichever there is.", address: "10.0.0.1"},
		"Spec":    {reason: "As it says.", address: "10.0.0.1", system: &v1alpha1.SystemSelector{Serial: "ABC"}, want: redfish.Selector{Serial: "ABC"}},
		"Address": {reason: "A System's own address.", address: "https://10.0.0.1/redfish/v1/Systems/Node0", want: redfish.Selector{ID: "Node0"}},
		"Both":    {reason: "Both say the same.", address: "https://10.0.0.1/redfish/v1/Systems/Node0", system: &v1alpha1.SystemSelector{ID: "node0"}, want: redfish.Selector{ID: "node0"}},
		"AndMore": {reason: "Both must be right.", address: "https://10.0.0.1/redfish/v1/Systems/Node0", system: &v1alpha1.SystemSelector{Serial: "ABC"}, want: redfish.Selector{ID: "Node0", Serial: "ABC"}},
		"Differ":  {reason: "Nothing is guessed.", address: "https://10.0.0.1/redfish/v1/Systems/Node0", system: &v1alpha1.SystemSelector{ID: "Node1"}, want: redfish.Selector{ID: "Node1"}, invalid: true},
		"Bad":     {reason: "No address at all.", address: "ftp://x", invalid: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := selectorOf(v1alpha1.RedfishHostParameters{Address: tc.address, System: tc.system})
			if got != tc.want || (redfish.KindOf(err) == redfish.Invalid) != tc.invalid {
				t.Errorf("\n%s\nselectorOf(...): %+v, %v; want %+v, invalid %v", tc.reason, got, err, tc.want, tc.invalid)
			}
		})
	}
}

// TestMachinesOf: two hosts that may be one machine have a value of the index in common.
func TestMachinesOf(t *testing.T) {
	h := host("a", 1, "https://BMC.example/redfish/v1/Systems/1", being(v1alpha1.HostIdentity{Serial: "ABC", UUID: "u", SystemURI: "/s"}))
	if got, want := machinesOf(&h), []string{"serial abc", "uuid u", "bmc bmc.example:443"}; !slices.Equal(got, want) {
		t.Errorf("machinesOf(...): got %q, want %q", got, want)
	}
	one, other := namesIndexed(redfish.Identity{Serial: "Abc", UUID: uuidA}), namesIndexed(redfish.Identity{Serial: "aBC", UUID: turnedA})
	if !slices.Equal(one, other) {
		t.Errorf("one machine in two spellings: %q and %q", one, other)
	}
	h = host("a", 1, "ftp://x", nil)
	if got := machinesOf(&h); len(got) != 0 {
		t.Errorf("machinesOf(...) of a host that nothing is known of: got %q", got)
	}
}
