package bmc_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

func TestHeaders(t *testing.T) {
	type want struct {
		Status               int
		ETag, Allow, Located string
	}
	cases := map[string]struct {
		reason string
		row    bmc.Behaviour
		uri    string
		header map[string]string
		want   want
	}{
		"System":      {reason: "What can be written says so.", uri: uriSystem, want: want{200, `W/"A"`, "GET, HEAD, PATCH", ""}},
		"NotModified": {reason: "As it was.", uri: uriSystem, header: map[string]string{"If-None-Match": `W/"A"`}, want: want{304, `W/"A"`, "GET, HEAD, PATCH", ""}},
		"Collection":  {reason: "Nothing to write, no ETag.", uri: "/redfish/v1/Systems", want: want{200, "", "GET, HEAD", ""}},
		"HeaderOnly":  {reason: "Huawei.", row: bmc.Behaviour{ETags: bmc.ETagsInHeader}, uri: "/redfish/v1/Systems", want: want{200, `"/redfish/v1/systems"`, "GET, HEAD", ""}},
		"Sessions":    {reason: "A login.", uri: sessions, want: want{200, "", "GET, HEAD, POST", ""}},
		"Action":      {reason: "Can only be posted to.", uri: uriReset, want: want{405, "", "POST", ""}},
		"Spelling":    {reason: "Case and slash don't matter.", uri: "/redfish/v1/systems/1/", want: want{200, `W/"A"`, "GET, HEAD, PATCH", ""}},
		"Redirect":    {reason: "iLO: but they do.", row: bmc.Behaviour{Redirect: true}, uri: "/redfish/v1/systems/1/", want: want{308, "", "GET, HEAD, PATCH", uriSystem}},
		"Missing":     {reason: "Nothing there.", uri: "/redfish/v1/Nothing", want: want{404, "", "GET, HEAD", ""}},
		"NoQuery":     {reason: "A query that nobody offers.", uri: uriSystem + "?$select=Id", want: want{501, "", "GET, HEAD, PATCH", ""}},
		"OtherQuery":  {reason: "What isn't a query of Redfish's is passed over.", uri: uriSystem + "?x=y", want: want{200, `W/"A"`, "GET, HEAD, PATCH", ""}},
		"NoLinks":     {reason: "An expansion that isn't offered.", uri: "/redfish/v1/Systems?$expand=~", want: want{501, "", "GET, HEAD", ""}},
		"TooDeep":     {reason: "Nor that deep.", uri: "/redfish/v1/Systems?$expand=.($levels=3)", want: want{501, "", "GET, HEAD", ""}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := bmc.New(bmc.Config{Tree: made(t, nil), Behaviour: &tc.row})
			w := get(t, b, tc.uri, tc.header)
			got := want{w.Code, w.Header().Get("ETag"), w.Header().Get("Allow"), w.Header().Get("Location")}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nGET %s: -want, +got:\n%s", tc.reason, tc.uri, diff)
			}
		})
	}
}

func TestExpand(t *testing.T) {
	b := bmc.New(bmc.Config{Tree: made(t, nil), Behaviour: &bmc.Behaviour{ExpandDrops: []string{"@odata.etag", "Name"}}})
	for _, how := range []string{".", "*", ".($levels=2)"} {
		var body struct {
			Members []map[string]any `json:"Members"`
		}
		if err := json.Unmarshal(get(t, b, "/redfish/v1/Systems?$expand="+how, nil).Body.Bytes(), &body); err != nil {
			t.Fatal(err)
		}
		if len(body.Members) != 1 || body.Members[0]["SerialNumber"] != "S1" || body.Members[0]["@odata.etag"] != nil {
			t.Errorf("$expand=%s: got members %v, want one with its serial and without what is dropped", how, body.Members)
		}
	}
}

func TestChangeIsAnotherETag(t *testing.T) {
	m := &bmc.Idle{}
	b := bmc.New(bmc.Config{Tree: made(t, nil), Behaviour: &bmc.Behaviour{}, Systems: []bmc.SystemConfig{{Machine: m}}})
	_ = m.On(bmc.BootNormal)
	var got []string
	look := func() { got = append(got, get(t, b, uriSystem, nil).Header().Get("ETag")) }
	look()
	_ = m.Off(false) // By itself: nobody asked the BMC.
	look()
	look()
	ask(t, b, http.MethodPatch, uriSystem, map[string]any{"AssetTag": "x"}, nil)
	look()
	if diff := cmp.Diff([]string{`W/"A"`, `W/"A-1"`, `W/"A-1"`, `W/"A-2"`}, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestPublic is what needs no login, and what does.
func TestPublic(t *testing.T) {
	b := bmc.New(bmc.Config{Tree: made(t, nil)})
	for uri, status := range map[string]int{"/redfish": 200, "/redfish/v1/": 200, "/redfish/v1/odata": 200, "/redfish/v1/$metadata": 200, uriSystem: 401} {
		w := get(t, b, uri, map[string]string{"Authorization": ""})
		if w.Code != status {
			t.Errorf("GET %s without a login: got %d, want %d", uri, w.Code, status)
		}
	}
}

func TestTroublesOfABMC(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	b := bmc.New(bmc.Config{Tree: made(t, nil), Behaviour: &bmc.Behaviour{SessionsFull: 400, SessionTimeout: time.Minute}, Now: func() time.Time { return now }})
	if status, _ := ask(t, b, http.MethodPost, sessions, login(bmc.DefaultPassword), nil); status != 201 {
		t.Fatalf("login: status %d", status)
	}
	b.FillSessions()
	if status, _ := ask(t, b, http.MethodPost, sessions, login(bmc.DefaultPassword), nil); status != 400 || b.Sessions() != bmc.DefaultMaxSessions {
		t.Errorf("login with a full table of %d sessions: got status %d, want 400", b.Sessions(), status)
	}
	now = now.Add(2 * time.Minute)
	if status, _ := ask(t, b, http.MethodPost, sessions, login(bmc.DefaultPassword), nil); status != 201 {
		t.Errorf("login after the others ran out: got status %d, want 201", status)
	}
	b.RebootBMC(time.Minute)
	if status := get(t, b, "/redfish/v1", nil).Code; status != 503 || b.Sessions() != 0 {
		t.Errorf("a BMC that restarts: got status %d and %d sessions, want 503 and none", status, b.Sessions())
	}
	now = now.Add(2 * time.Minute)
	b.StickPower()
	ask(t, b, http.MethodPost, uriReset, map[string]string{"ResetType": "ForceOff"}, nil)
	b.Replace("1", "S2")
	if body := get(t, b, uriSystem, nil).Body.String(); !strings.Contains(body, `"PowerState":"On"`) || !strings.Contains(body, `"SerialNumber":"S2"`) {
		t.Errorf("a stuck state of another machine: got %s", body)
	}
	b.Inject(bmc.Fault{Status: 500, After: 1, Times: 1})
	if got := []int{get(t, b, uriSystem, nil).Code, get(t, b, uriSystem, nil).Code, get(t, b, uriSystem, nil).Code}; !cmp.Equal([]int{200, 500, 200}, got) {
		t.Errorf("a fault after one request: got %v", got)
	}
}

// TestWritesAreKept: broken ones, and not logins.
func TestWritesAreKept(t *testing.T) {
	b := bmc.New(bmc.Config{Tree: made(t, nil)})
	ask(t, b, http.MethodPost, sessions, login(bmc.DefaultPassword), nil)
	ask(t, b, http.MethodDelete, sessions+"/1", nil, nil)
	ask(t, b, http.MethodPatch, uriSystem, map[string]any{"AssetTag": strings.Repeat("x", 70<<10)}, nil)
	b.Inject(bmc.Fault{Method: http.MethodPost, Disconnect: true})
	func() {
		defer func() { _ = recover() }()
		ask(t, b, http.MethodPost, uriReset, map[string]string{"ResetType": "ForceOff"}, nil)
	}()
	var got []any
	for _, w := range b.FullWrites() {
		got = append(got, w.Method, w.Path, w.Status)
	}
	if diff := cmp.Diff([]any{"PATCH", uriSystem, 400, "POST", uriReset, 0}, got); diff != "" {
		t.Errorf("FullWrites(): -want, +got:\n%s", diff)
	}
}
