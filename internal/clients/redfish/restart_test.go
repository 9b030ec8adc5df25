package redfish

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/quirk"
)

// TestRestartNeverSent: a BMC that doesn't even show its managers wasn't told to restart, which is what one that needs it may do.
func TestRestartNeverSent(t *testing.T) {
	const manager = `{"Actions":{"#Manager.Reset":{"target":"/redfish/v1/Managers/1/Actions/Manager.Reset"}}}`
	cases := map[string]struct {
		reason string
		bmc    aBMC
		system System
		unsent bool
	}{
		"List":    {reason: "Its managers aren't told.", bmc: aBMC{"GET /redfish/v1/Managers": {status: 500}}, unsent: true},
		"Manager": {reason: "The one that is known isn't shown.", bmc: aBMC{"GET /redfish/v1/Managers/1": {status: 503}}, system: System{managers: []string{"/redfish/v1/Managers/1"}}, unsent: true},
		"NoList":  {reason: "It answers that there are none: that counts.", bmc: aBMC{"GET /redfish/v1/Managers": {status: 404}}},
		"Sent": {reason: "It was told, and nobody knows what it did.", bmc: aBMC{
			"GET /redfish/v1/Managers/1": {body: manager}, "POST /redfish/v1/Managers/1/Actions/Manager.Reset": {status: 500},
		}, system: System{managers: []string{"/redfish/v1/Managers/1"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.bmc["GET /redfish/v1/"].body == "" {
				tc.bmc["GET /redfish/v1/"] = aBMC{"root": {body: "{}"}}["root"]
			}
			if err := connectTo(t, tc.bmc).ResetBMC(t.Context(), tc.system); err == nil || IsUnsent(err) != tc.unsent {
				t.Errorf("%s\nResetBMC(...): %v, unsent %t", tc.reason, err, IsUnsent(err))
			}
		})
	}
}

// recordingBMC is an aBMC, and says what was posted to it.
type recordingBMC struct {
	aBMC

	posts []string
}

func (b *recordingBMC) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "Reset") {
		b.posts = append(b.posts, r.URL.Path)
	}
	b.aBMC.ServeHTTP(w, r)
}

// TestRestartOfSeveral: of several managers the BMC is restarted, and not an enclosure's.
func TestRestartOfSeveral(t *testing.T) {
	manager := func(kind, target string) string {
		return `{"ManagerType":"` + kind + `","Actions":{"#Manager.Reset":{"target":"` + target + `"}}}`
	}
	cases := map[string]struct {
		reason string
		first  string
		second string
		want   string
	}{
		"Enclosure": {reason: "The other one is the BMC.", first: manager("EnclosureManager", "/e/Reset"), second: manager("BMC", "/b/Reset"), want: "/b/Reset"},
		"First":     {reason: "None of them says so.", first: manager("", "/e/Reset"), second: manager("Service", "/b/Reset"), want: "/e/Reset"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := &recordingBMC{aBMC: aBMC{
				"GET /redfish/v1/": {body: emptyRoot}, "GET /redfish/v1/Managers": {body: `{"Members":[{"@odata.id":"/redfish/v1/Managers/1"},{"@odata.id":"/redfish/v1/Managers/2"}]}`},
				"GET /redfish/v1/Managers/1": {body: tc.first}, "GET /redfish/v1/Managers/2": {body: tc.second},
				"POST /e/Reset": {status: 204}, "POST /b/Reset": {status: 204},
			}}
			if err := connectTo(t, b).ResetBMC(t.Context(), System{}); err != nil || len(b.posts) != 1 || b.posts[0] != tc.want {
				t.Errorf("%s\nResetBMC(...): %v, posted to %v; want %s", tc.reason, err, b.posts, tc.want)
			}
		})
	}
}

// TestRestartOfNeighbours: where several call themselves BMC, and the machine names none of them, none is restarted: it may be a neighbour's.
func TestRestartOfNeighbours(t *testing.T) {
	manager := func(target string) string {
		return `{"ManagerType":"BMC","Actions":{"#Manager.Reset":{"target":"` + target + `"}}}`
	}
	for name, tc := range map[string]struct {
		system System
		posts  []string
	}{
		"Unnamed": {},
		"Named":   {system: System{managers: []string{"/redfish/v1/Managers/1", "/redfish/v1/Managers/2"}}, posts: []string{"/a/Reset"}},
	} {
		b := &recordingBMC{aBMC: aBMC{
			"GET /redfish/v1/": {body: emptyRoot}, "GET /redfish/v1/Managers": {body: `{"Members":[{"@odata.id":"/redfish/v1/Managers/1"},{"@odata.id":"/redfish/v1/Managers/2"}]}`},
			"GET /redfish/v1/Managers/1": {body: manager("/a/Reset")}, "GET /redfish/v1/Managers/2": {body: manager("/b/Reset")},
			"POST /a/Reset": {status: 204}, "POST /b/Reset": {status: 204},
		}}
		if err := connectTo(t, b).ResetBMC(t.Context(), tc.system); IsUnsupported(err) != (tc.posts == nil) || !slices.Equal(b.posts, tc.posts) {
			t.Errorf("%s: ResetBMC(...): %v, posted to %v", name, err, b.posts)
		}
	}
}

// TestOEMOfNeighbours: a vendor's own way of a manager is taken where the machine names it, or there's no other, and where it's no other machine's too.
func TestOEMOfNeighbours(t *testing.T) {
	const one, two = "/redfish/v1/Managers/1", "/redfish/v1/Managers/2"
	vendor := quirk.OEMBoot{Resources: []string{quirk.OfManager + "/Own"}, Target: "/Next", Words: map[string]string{"Pxe": "PXE"}}
	list := func(uris ...string) string {
		return `{"Members":[{"@odata.id":"` + strings.Join(uris, `"},{"@odata.id":"`) + `"}]}`
	}
	for name, tc := range map[string]struct {
		named   []string
		members []string
		manager string
		want    []string
	}{
		"Only":    {members: []string{one}, manager: `{}`, want: []string{one + "/Own"}},
		"Unnamed": {members: []string{one, two}, manager: `{}`},
		"Named":   {named: []string{one}, members: []string{one, two}, manager: `{"Links":{"ManagerForServers":[{"@odata.id":"/s"}]}}`, want: []string{one + "/Own"}},
		"Shared":  {named: []string{one}, members: []string{one}, manager: `{"Links":{"ManagerForServers":[{"@odata.id":"/s"},{"@odata.id":"/other"}]}}`},
		"Hidden":  {named: []string{one}, members: []string{one}, want: []string{one + "/Own"}},
	} {
		b := aBMC{"GET /redfish/v1/": {body: emptyRoot}, "GET /redfish/v1/Managers": {body: list(tc.members...)}, "GET " + one: {status: 404}, "GET " + two: {body: `{}`}}
		if tc.manager != "" {
			b["GET "+one] = aBMC{"": {body: tc.manager}}[""]
		}
		got, err := connectTo(t, b).oemPaths(t.Context(), System{managers: tc.named}, vendor)
		if err != nil || !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %v, %v; want %v", name, got, err, tc.want)
		}
	}
}
