package redfish

import (
	"io"
	"net/http"
	"slices"
	"testing"
)

// listening is a BMC that takes every POST, and keeps where it went and what it
// was.
type listening struct {
	aBMC

	heard []string
}

func (l *listening) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		l.aBMC.ServeHTTP(w, r)

		return
	}
	body, _ := io.ReadAll(r.Body)
	l.heard = append(l.heard, r.URL.Path+" "+string(body))
	w.WriteHeader(http.StatusNoContent)
}

// TestRestartOfTheBMC: what a manager offers in an ActionInfo alone is what it's
// told (AMI's).
func TestRestartOfTheBMC(t *testing.T) {
	const reset = `{"Actions":{"#Manager.Reset":{"target":"/m/reset","@Redfish.ActionInfo":"/m/info"}}}`
	cases := map[string]struct {
		reason, info string
		status       int
		want         string
	}{
		"Offered": {"It forces.", `{"Parameters":[{"Name":"ResetType","AllowableValues":["ForceRestart"]}]}`, 200, "ForceRestart"},
		"Both":    {"The gentler one.", `{"Parameters":[{"Name":"ResetType","AllowableValues":["ForceRestart","GracefulRestart"]}]}`, 200, "GracefulRestart"},
		"Gone":    {"The link leads nowhere: the standard's word.", "", 404, "GracefulRestart"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := &listening{aBMC: machine(`,"Links":{"ManagedBy":[{"@odata.id":"/m"}]}`).with("/m", reset, 200).with("/m/info", tc.info, tc.status)}
			c := connectTo(t, b)
			if err := c.ResetBMC(t.Context(), theOnly(t, c)); err != nil {
				t.Fatalf("\n%s\nResetBMC(...): %v", tc.reason, err)
			}
			if want := []string{`/m/reset {"ResetType":"` + tc.want + `"}`}; !slices.Equal(want, b.heard) {
				t.Errorf("\n%s\ntold %v, want %v", tc.reason, b.heard, want)
			}
		})
	}
}

// TestEjectThatIsNotListed: a drive that lists the action to insert alone has the
// one to eject beside it (Supermicro's X13).
func TestEjectThatIsNotListed(t *testing.T) {
	b := &listening{aBMC: machine(`,"Links":{"ManagedBy":[{"@odata.id":"/m"}]}`).with("/m", `{"VirtualMedia":{"@odata.id":"/v"}}`, 200).
		with("/v", `{"Members":[{"@odata.id":"/v/1"}]}`, 200).
		with("/v/1", `{"Id":"1","Inserted":true,"Image":"http://x/a.iso","Actions":{"#VirtualMedia.InsertMedia":{"target":"/v/1/Actions/VirtualMedia.InsertMedia"}}}`, 200)}
	c := connectTo(t, b)
	s := theOnly(t, c)
	drives, err := c.Media(t.Context(), s)
	if err != nil || len(drives) != 1 {
		t.Fatalf("Media(...): %v, %v", drives, err)
	}
	if _, err := c.EjectMedia(t.Context(), s, drives[0]); err != nil {
		t.Fatal(err)
	}
	if want := []string{"/v/1/Actions/VirtualMedia.EjectMedia {}"}; !slices.Equal(want, b.heard) {
		t.Errorf("told %v, want %v", b.heard, want)
	}
}

// TestResetThatCantBeRead: a machine whose ActionInfo is broken is told the standard's word.
func TestResetThatCantBeRead(t *testing.T) {
	for name, tc := range map[string]struct {
		status int
		body   string
	}{"Broken": {status: 500}, "Hidden": {status: 403}, "Page": {status: 200, body: "<html>"}} {
		t.Run(name, func(t *testing.T) {
			b := &listening{aBMC: aBMC{
				"GET /redfish/v1/": {body: emptyRoot}, "GET /redfish/v1/Systems": {body: `{"Members":[{"@odata.id":"/s"}]}`}, "GET /info": {status: tc.status, body: tc.body},
				"GET /s": {body: `{"PowerState":"On","Actions":{"#ComputerSystem.Reset":{"target":"/r","@Redfish.ActionInfo":"/info"}}}`},
			}}
			c := connectTo(t, b)
			if _, err := c.Reset(t.Context(), theOnly(t, c), ActForceOff); err != nil || !slices.Equal(b.heard, []string{`/r {"ResetType":"ForceOff"}`}) {
				t.Errorf("Reset(...): %v; told %v", err, b.heard)
			}
		})
	}
}

// TestSettingsInWords: what is a truth in the schema, and a word on a BMC, is read as it's meant.
func TestSettingsInWords(t *testing.T) {
	b := machine(`,"SecureBoot":{"@odata.id":"/sb"},"LocationIndicatorActive":"Enabled"`).with("/sb", `{"SecureBootEnable":"Enabled"}`, 200)
	c := connectTo(t, b)
	s := theOnly(t, c)
	secure, err := c.SecureBoot(t.Context(), s)
	if err != nil || !secure.Enabled || s.Indicator != IndicatorBlinking {
		t.Errorf("Secure Boot %+v, %v; indicator %q", secure, err, s.Indicator)
	}
}
