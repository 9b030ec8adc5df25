package bmc_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// ask sends one request straight to an emulator, with basic authentication.
func ask(t *testing.T, b *bmc.BMC, method, path string, body any, headers map[string]string) (status int, answer map[string]any) {
	t.Helper()
	payload, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), method, path, bytes.NewReader(payload))
	r.SetBasicAuth(bmc.DefaultUsername, bmc.DefaultPassword)
	for k, v := range headers {
		r.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	b.ServeHTTP(w, r)
	answer = map[string]any{}
	if raw, _ := io.ReadAll(w.Body); len(raw) > 0 {
		if err := json.Unmarshal(raw, &answer); err != nil {
			t.Fatalf("%s %s: %v", method, path, err)
		}
	}

	return w.Code, answer
}

func login(password string) map[string]string {
	return map[string]string{"UserName": bmc.DefaultUsername, "Password": password}
}

const sessions = "/redfish/v1/SessionService/Sessions"

func TestSessionsAreFew(t *testing.T) {
	b := bmc.New(bmc.Config{MaxSessions: 2})
	for i, want := range []int{201, 201, 503} {
		if got, _ := ask(t, b, http.MethodPost, sessions, login(bmc.DefaultPassword), nil); got != want {
			t.Errorf("login %d: got status %d, want %d", i+1, got, want)
		}
	}
	if got, _ := ask(t, b, http.MethodDelete, sessions+"/1", nil, nil); got != 204 || b.Sessions() != 1 {
		t.Errorf("logout: got status %d, %d sessions left; want 204, 1", got, b.Sessions())
	}
	if got, _ := ask(t, b, http.MethodDelete, sessions+"/1", nil, nil); got != 404 {
		t.Errorf("logout of a session that is gone: got status %d, want 404", got)
	}
}

func TestAccountLocks(t *testing.T) {
	b := bmc.New(bmc.Config{LockoutAfter: 2})
	for range 2 {
		if got, _ := ask(t, b, http.MethodPost, sessions, login("wrong"), nil); got != 401 {
			t.Errorf("a wrong password: got status %d, want 401", got)
		}
	}
	if got, _ := ask(t, b, http.MethodPost, sessions, login(bmc.DefaultPassword), nil); got != 401 {
		t.Errorf("the right password of a locked account: got status %d, want 401", got)
	}
	b.Unlock()
	if got, _ := ask(t, b, http.MethodPost, sessions, login(bmc.DefaultPassword), nil); got != 201 {
		t.Errorf("after Unlock: got status %d, want 201", got)
	}
	b.SetPassword("new")
	if got, _ := ask(t, b, http.MethodPost, sessions, login("new"), nil); got != 201 || b.Sessions() != 1 {
		t.Errorf("after SetPassword: got status %d, %d sessions; want 201, 1", got, b.Sessions())
	}
}

func TestOverrideRules(t *testing.T) {
	const system, settings = "/redfish/v1/Systems/1", "/redfish/v1/Systems/1/SD"
	pxe := map[string]any{"Boot": map[string]string{"BootSourceOverrideTarget": "Pxe", "BootSourceOverrideEnabled": "Once"}}
	mode := map[string]any{"Boot": map[string]string{"BootSourceOverrideMode": "UEFI"}}
	cases := map[string]struct {
		reason string
		model  bmc.Model
		path   string
		etag   string
		body   any
		status int
		target string
	}{
		"NoETag":      {reason: "Without precondition.", path: system, body: pxe, status: 204, target: "Pxe"},
		"ETag":        {reason: "With the right one.", path: system, etag: `W/"1"`, body: pxe, status: 204, target: "Pxe"},
		"Stale":       {reason: "With another one.", path: system, etag: `W/"9"`, body: pxe, status: 412, target: "None"},
		"BadTarget":   {reason: "A target that isn't offered.", path: system, body: map[string]any{"Boot": map[string]string{"BootSourceOverrideTarget": "Usb"}}, status: 400, target: "None"},
		"BadEnabled":  {reason: "A value that isn't one.", path: system, body: map[string]any{"Boot": map[string]string{"BootSourceOverrideEnabled": "Maybe"}}, status: 400, target: "None"},
		"NotJSON":     {reason: "Not an object.", path: system, body: "x", status: 400, target: "None"},
		"Elsewhere":   {reason: "Nothing else can be changed.", path: "/redfish/v1/Chassis/1", body: pxe, status: 405, target: "None"},
		"MustETag":    {reason: "The other model insists on one.", model: bmc.ModelActionInfo, path: settings, body: pxe, status: 428, target: "None"},
		"Settings":    {reason: "And takes it on its settings resource.", model: bmc.ModelActionInfo, path: settings, etag: `W/"1"`, body: pxe, status: 204, target: "Pxe"},
		"NotOnSystem": {reason: "Only there.", model: bmc.ModelActionInfo, path: system, etag: `W/"1"`, body: pxe, status: 400, target: "None"},
		"NoMode":      {reason: "It has no mode.", model: bmc.ModelActionInfo, path: settings, etag: "*", body: mode, status: 400, target: "None"},
		"Mode":        {reason: "The first has.", path: system, body: mode, status: 204, target: "None"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := bmc.New(bmc.Config{Systems: []bmc.SystemConfig{{Model: tc.model}}})
			status, _ := ask(t, b, http.MethodPatch, tc.path, tc.body, map[string]string{"If-Match": tc.etag})
			if target, _ := b.Override("1"); status != tc.status || target != tc.target {
				t.Errorf("\n%s\nPATCH %s: got %d, target %q; want %d, %q", tc.reason, tc.path, status, target, tc.status, tc.target)
			}
		})
	}
}

func TestOverrideIsUsedUp(t *testing.T) {
	b := bmc.New(bmc.Config{})
	set := func(target, enabled string) {
		body := map[string]any{"Boot": map[string]string{"BootSourceOverrideTarget": target, "BootSourceOverrideEnabled": enabled}}
		if got, _ := ask(t, b, http.MethodPatch, "/redfish/v1/Systems/1", body, nil); got != 204 {
			t.Fatalf("PATCH: status %d", got)
		}
	}
	set("Pxe", "Once")
	// A machine that reboots by itself asks as firmware would.
	got := []bmc.BootTarget{b.NextBoot("1"), b.NextBoot("1")}
	set("Hdd", "Continuous")
	got = append(got, b.NextBoot("1"), b.NextBoot("1"))
	set("Pxe", "Disabled")
	got = append(got, b.NextBoot("1"), b.NextBoot("none"))
	want := []bmc.BootTarget{bmc.BootPxe, bmc.BootNormal, bmc.BootHdd, bmc.BootHdd, bmc.BootNormal, bmc.BootNormal}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("NextBoot: -want, +got:\n%s", diff)
	}
}

func TestResetRules(t *testing.T) {
	const reset = "/redfish/v1/Systems/1/Actions/ComputerSystem.Reset"
	cases := map[string]struct {
		reason  string
		on      bool
		kind    string
		headers map[string]string
		status  int
		powered bool
	}{
		"On":        {reason: "From off.", kind: "On", status: 204, powered: true},
		"OnAgain":   {reason: "A redundant one is refused.", on: true, kind: "On", status: 409, powered: true},
		"OffAgain":  {reason: "The same.", kind: "ForceOff", status: 409},
		"Off":       {reason: "From on.", on: true, kind: "ForceOff", status: 204},
		"Graceful":  {reason: "The OS obeys.", on: true, kind: "GracefulShutdown", status: 204},
		"Cycle":     {reason: "On before and after.", on: true, kind: "PowerCycle", status: 204, powered: true},
		"Nmi":       {reason: "Nothing is seen of it.", on: true, kind: "Nmi", status: 204, powered: true},
		"Unknown":   {reason: "Not offered.", on: true, kind: "Melt", status: 400, powered: true},
		"IfMatched": {reason: "Actions have no ETag.", kind: "On", headers: map[string]string{"If-Match": "*"}, status: 412},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := &bmc.Idle{}
			if tc.on {
				_ = m.On(bmc.BootNormal)
			}
			b := bmc.New(bmc.Config{Systems: []bmc.SystemConfig{{Machine: m}}})
			status, _ := ask(t, b, http.MethodPost, reset, map[string]string{"ResetType": tc.kind}, tc.headers)
			if status != tc.status || m.Powered() != tc.powered {
				t.Errorf("\n%s\nReset %s: got %d, powered %v; want %d, %v", tc.reason, tc.kind, status, m.Powered(), tc.status, tc.powered)
			}
		})
	}
}

// links visits everything that a part of a resource points to.
func links(v any, visit func(uri string)) {
	switch x := v.(type) {
	case map[string]any:
		for k, child := range x {
			if s, ok := child.(string); ok && (k == "@odata.id" || k == "@Redfish.ActionInfo") {
				visit(s)

				continue
			}
			links(child, visit)
		}
	case []any:
		for _, child := range x {
			links(child, visit)
		}
	}
}

// TestLinksResolve walks everything that the service root leads to.
func TestLinksResolve(t *testing.T) {
	for _, model := range bmc.Models() {
		t.Run(string(model), func(t *testing.T) {
			b := bmc.New(bmc.Config{Baseboard: true, Systems: []bmc.SystemConfig{{Model: model, MACs: macs()}}})
			seen := map[string]bool{sessions: true} // Can only be posted to.
			var visit func(uri string)
			visit = func(uri string) {
				if seen[uri] {
					return
				}
				seen[uri] = true
				status, body := ask(t, b, http.MethodGet, uri, nil, nil)
				if status != 200 && uri != "/redfish/v1/Managers/BMC/HostInterfaces/1" {
					t.Errorf("GET %s: status %d", uri, status)
				}
				if status == 200 && body["@odata.id"] != uri {
					t.Errorf("GET %s says that it is %v", uri, body["@odata.id"])
				}
				links(body, visit)
			}
			visit("/redfish/v1")
			if len(seen) < 10 {
				t.Errorf("only %s resources", strconv.Itoa(len(seen)))
			}
		})
	}
}
