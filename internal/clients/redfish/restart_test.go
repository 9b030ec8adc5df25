package redfish

import (
	"net/http"
	"strings"
	"testing"
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
