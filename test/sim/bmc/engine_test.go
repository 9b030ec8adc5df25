package bmc_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

const (
	uriSystem = "/redfish/v1/Systems/1"
	uriReset  = uriSystem + "/Actions/ComputerSystem.Reset"
)

// made writes a small tree of our own and loads it: a System with everything
// that can be written, and a settings resource with less.
func made(t *testing.T, files map[string]string) *bmc.Tree {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "made")
	all := map[string]string{
		"redfish/v1/index.json": `{"@odata.id":"/redfish/v1","Systems":{"@odata.id":"/redfish/v1/Systems"},
"ProtocolFeaturesSupported":{"ExpandQuery":{"NoLinks":true,"Links":false,"ExpandAll":true,"Levels":true,"MaxLevels":2}}}`,
		"redfish/v1/Systems/index.json":   `{"@odata.id":"/redfish/v1/Systems","Members":[{"@odata.id":"/redfish/v1/Systems/1"}]}`,
		"redfish/v1/Systems/1/index.json": systemOn,
	}
	maps.Copy(all, files)
	for name, content := range all {
		write(t, dir, name, content)
	}
	tree, err := bmc.LoadTree(dir)
	if err != nil {
		t.Fatal(err)
	}

	return tree
}

const systemOn = `{"@odata.id":"/redfish/v1/Systems/1","@odata.etag":"W/\"A\"","Id":"1","PowerState":"On","SerialNumber":"S1",
"Boot":{"BootSourceOverrideTarget":"None","BootSourceOverrideEnabled":"Disabled","BootSourceOverrideMode":"Legacy",
"BootSourceOverrideTarget@Redfish.AllowableValues":["None","Pxe","Hdd","UefiTarget"],"UefiTargetBootSourceOverride":null,"BootOrder":["Boot1","Boot2"]},
"AssetTag":"","LocationIndicatorActive":false,"IndicatorLED":null,"Links":{"Chassis":[{"@odata.id":"/redfish/v1"}]},
"@Redfish.Settings":{"SettingsObject":{"@odata.id":"/redfish/v1/Systems/1/Settings"}},
"Actions":{"#ComputerSystem.Reset":{"target":"/redfish/v1/Systems/1/Actions/ComputerSystem.Reset",
"ResetType@Redfish.AllowableValues":["On","ForceOff","ForceRestart","GracefulShutdown","PushPowerButton"]}}}`

const pendingOrder = `{"@odata.id":"/redfish/v1/Systems/1/Settings","Boot":{"BootOrder":[]}}`

// boot is a PATCH of Boot, from pairs of property and value.
func boot(pairs ...any) map[string]any {
	inner := map[string]any{}
	for pair := range slices.Chunk(pairs, 2) {
		inner["BootSourceOverride"+pair[0].(string)] = pair[1]
	}

	return map[string]any{"Boot": inner}
}

func TestPatchRules(t *testing.T) {
	const settings = uriSystem + "/Settings"
	order := func(refs ...string) map[string]any { return map[string]any{"Boot": map[string]any{"BootOrder": refs}} }
	cases := map[string]struct {
		reason  string
		row     bmc.Behaviour
		files   map[string]string
		path    string
		body    any
		ifMatch string
		status  int
		message string
	}{
		"Target":         {reason: "A target that is listed.", body: boot("Target", "Pxe", "Enabled", "Once"), status: 204},
		"Done":           {reason: "Some say more than nothing.", row: bmc.Behaviour{Done: 200}, body: boot("Target", "Pxe"), status: 200},
		"NotListed":      {reason: "A target that isn't.", body: boot("Target", "UefiHttp"), status: 400, message: "Base.1.18.PropertyValueNotInList"},
		"WrongType":      {reason: "A number for a word.", body: boot("Target", 5), status: 400, message: "Base.1.18.PropertyValueTypeError"},
		"Unknown":        {reason: "A property that isn't there.", body: map[string]any{"Nonsense": 1}, status: 400, message: "Base.1.18.PropertyUnknown"},
		"WrongCase":      {reason: "Names are compared with case.", body: map[string]any{"boot": map[string]any{"x": 1}}, status: 400, message: "Base.1.18.PropertyUnknown"},
		"ReadOnly":       {reason: "One that can't be written.", body: map[string]any{"SerialNumber": "X"}, status: 400, message: "Base.1.18.PropertyNotWritable"},
		"Empty":          {reason: "Nothing.", body: map[string]any{}, status: 400, message: "Base.1.18.EmptyJSON"},
		"Vendor":         {reason: "In the vendor's words.", row: bmc.Behaviour{Says: map[string]string{"PropertyUnknown": "X.1.0.What"}}, body: map[string]any{"Nonsense": 1}, status: 400, message: "X.1.0.What"},
		"AssetTag":       {reason: "What a System shows besides.", body: map[string]any{"AssetTag": "a", "LocationIndicatorActive": true}, status: 204},
		"NoLED":          {reason: "A null is no LED.", body: map[string]any{"IndicatorLED": "Lit"}, status: 400, message: "Base.1.18.PropertyNotWritable"},
		"Order":          {reason: "An order of what is there.", body: order("Boot2", "Boot1"), status: 204},
		"OrderUnknown":   {reason: "And of what isn't.", body: order("Boot9"), status: 400, message: "Base.1.18.PropertyValueNotInList"},
		"OrderTwice":     {reason: "Each once.", body: order("Boot1", "Boot1"), status: 400, message: "Base.1.18.PropertyDuplicate"},
		"OrderPending":   {reason: "The order belongs to the settings resource that has one.", files: map[string]string{"redfish/v1/Systems/1/Settings/index.json": pendingOrder}, path: settings, body: order("Boot2"), status: 204},
		"OrderElsewhere": {reason: "And not to the System then.", files: map[string]string{"redfish/v1/Systems/1/Settings/index.json": pendingOrder}, body: order("Boot2"), status: 400, message: "Base.1.18.PropertyNotWritable"},
		"NotPending":     {reason: "A settings resource without a target takes none.", files: map[string]string{"redfish/v1/Systems/1/Settings/index.json": pendingOrder}, path: settings, body: boot("Target", "Pxe"), status: 400, message: "Base.1.18.PropertyUnknown"},
		"UefiTarget":     {reason: "It needs a path.", body: boot("Target", "UefiTarget"), status: 400, message: "Base.1.18.PropertyValueConflict"},
		"ModeAlone":      {reason: "DL160 Gen10.", row: bmc.Behaviour{Mode: bmc.ModeAlone}, body: boot("Target", "Pxe", "Mode", "UEFI"), status: 400, message: "Base.1.18.PropertyValueConflict"},
		"ModeRequired":   {reason: "Others want it.", row: bmc.Behaviour{Mode: bmc.ModeRequired}, body: boot("Target", "Pxe"), status: 400, message: "Base.1.18.PropertyMissing"},
		"Nowhere":        {reason: "No override at all.", row: bmc.Behaviour{OverrideAt: bmc.Nowhere}, body: boot("Target", "Pxe"), status: 400, message: "Base.1.18.PropertyNotWritable"},
		"Weak":           {reason: "As it is told.", body: boot("Target", "Pxe"), ifMatch: `W/"A"`, status: 204},
		"Stale":          {reason: "Another one.", body: boot("Target", "Pxe"), ifMatch: `W/"B"`, status: 412, message: "Base.1.18.PreconditionFailed"},
		"StrongOnly":     {reason: "RFC 9110: a weak one never fits.", row: bmc.Behaviour{IfMatch: bmc.IfMatchStrong}, body: boot("Target", "Pxe"), ifMatch: `W/"A"`, status: 412, message: "Base.1.18.PreconditionFailed"},
		"Strong":         {reason: "Its strong form does.", row: bmc.Behaviour{IfMatch: bmc.IfMatchStrong}, body: boot("Target", "Pxe"), ifMatch: `"A"`, status: 204},
		"Required":       {reason: "AMI.", row: bmc.Behaviour{IfMatch: bmc.IfMatchRequired}, body: boot("Target", "Pxe"), status: 428, message: "Base.1.18.PreconditionRequired"},
		"Any":            {reason: "A star is one.", row: bmc.Behaviour{IfMatch: bmc.IfMatchRequired}, body: boot("Target", "Pxe"), ifMatch: "*", status: 204},
		"Missing":        {reason: "Nothing there.", path: "/redfish/v1/Systems/2", body: boot("Target", "Pxe"), status: 404, message: "Base.1.18.ResourceMissingAtURI"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := bmc.New(bmc.Config{Tree: made(t, tc.files), Behaviour: &tc.row})
			if tc.path == "" {
				tc.path = uriSystem
			}
			status, body := ask(t, b, http.MethodPatch, tc.path, tc.body, map[string]string{"If-Match": tc.ifMatch})
			message := ""
			if e, ok := body["error"].(map[string]any); ok {
				message, _ = e["code"].(string)
			}
			if status != tc.status || message != tc.message {
				t.Errorf("\n%s\nPATCH: got %d %q, want %d %q; %v", tc.reason, status, message, tc.status, tc.message, body)
			}
			if w := b.FullWrites(); len(w) != 1 || w[0].Status != tc.status || w[0].Path != tc.path {
				t.Errorf("\n%s\nFullWrites(): got %v", tc.reason, w)
			}
		})
	}
}

func TestResetsOfRows(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	cases := map[string]struct {
		reason string
		row    bmc.Behaviour
		kinds  []string
		want   []int
		on     bool
		state  any // PowerState, as it is told at the end
	}{
		"Redundant204":  {reason: "OpenBMC.", kinds: []string{"On"}, want: []int{204}, on: true, state: "On"},
		"Redundant400":  {reason: "iLO.", row: bmc.Behaviour{Redundant: 400}, kinds: []string{"On"}, want: []int{400}, on: true, state: "On"},
		"RestartOff":    {reason: "What is off isn't restarted.", kinds: []string{"ForceOff", "ForceRestart"}, want: []int{204, 409}, state: "Off"},
		"TooSoon":       {reason: "iLO, again.", row: bmc.Behaviour{TooSoon: time.Second}, kinds: []string{"ForceOff", "On"}, want: []int{204, 400}, state: "Off"},
		"Button":        {reason: "It does what the state makes of it.", kinds: []string{"PushPowerButton", "PushPowerButton"}, want: []int{204, 204}, on: true, state: "On"},
		"Hangs":         {reason: "SR675 V3.", row: bmc.Behaviour{RestartHangs: true}, kinds: []string{"ForceRestart"}, want: []int{204}, state: "Off"},
		"Lag":           {reason: "The state is told late.", row: bmc.Behaviour{Lag: time.Second}, kinds: []string{"ForceOff"}, want: []int{204}, state: "On"},
		"NotAdvertised": {reason: "What isn't listed isn't taken.", kinds: []string{"PowerCycle"}, want: []int{400}, on: true, state: "On"},
		"Typo":          {reason: "What is taken though the list has a typo.", row: bmc.Behaviour{ResetTypes: []string{"GracefulRestart"}}, kinds: []string{"GracefulRestart"}, want: []int{204}, on: true, state: "On"},
		"Parameter":     {reason: "Fujitsu.", row: bmc.Behaviour{ResetParameter: "FTSResetType"}, kinds: []string{"ForceOff"}, want: []int{400}, on: true, state: "On"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := bmc.New(bmc.Config{Tree: made(t, nil), Behaviour: &tc.row, Now: func() time.Time { return now }})
			var got []int
			for _, kind := range tc.kinds {
				status, _ := ask(t, b, http.MethodPost, uriReset, map[string]string{"ResetType": kind}, nil)
				got = append(got, status)
			}
			_, body := ask(t, b, http.MethodGet, uriSystem, nil, nil)
			if diff := cmp.Diff(tc.want, got); diff != "" || body["PowerState"] != tc.state {
				t.Errorf("\n%s\nPowerState %v, want %v; status: -want, +got:\n%s", tc.reason, body["PowerState"], tc.state, diff)
			}
		})
	}
}

func TestOverridesOfRows(t *testing.T) {
	pending := `{"@odata.id":"/redfish/v1/Systems/1/Settings","Boot":{"BootSourceOverrideTarget":"None","BootSourceOverrideEnabled":"Disabled"}}`
	files := map[string]string{"redfish/v1/Systems/1/Settings/index.json": pending}
	type want struct {
		Boots []bmc.BootTarget // of two boots
		Reads any              // the target as the System shows it before them
	}
	cases := map[string]struct {
		reason string
		row    bmc.Behaviour
		path   string
		body   any
		want   want
	}{
		"Once":       {reason: "Used up.", path: uriSystem, body: boot("Target", "Pxe", "Enabled", "Once"), want: want{[]bmc.BootTarget{"Pxe", ""}, "Pxe"}},
		"Sticky":     {reason: "Never used up.", row: bmc.Behaviour{Sticky: true}, path: uriSystem, body: boot("Target", "Pxe", "Enabled", "Once"), want: want{[]bmc.BootTarget{"Pxe", "Pxe"}, "Pxe"}},
		"StoredAs":   {reason: "Supermicro.", row: bmc.Behaviour{StoredAs: map[string]string{"Pxe": "UefiBootNext"}}, path: uriSystem, body: boot("Target", "Pxe", "Enabled", "Once"), want: want{[]bmc.BootTarget{"Pxe", ""}, "UefiBootNext"}},
		"Settings":   {reason: "The System shows it after a boot.", row: bmc.Behaviour{OverrideAt: bmc.AtSettings}, path: uriSystem + "/Settings", body: boot("Target", "Hdd", "Enabled", "Continuous"), want: want{[]bmc.BootTarget{"Hdd", "Hdd"}, "None"}},
		"TargetOnly": {reason: "A target alone doesn't enable.", path: uriSystem, body: boot("Target", "Pxe"), want: want{[]bmc.BootTarget{"", ""}, "Pxe"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := bmc.New(bmc.Config{Tree: made(t, files), Behaviour: &tc.row})
			if status, body := ask(t, b, http.MethodPatch, tc.path, tc.body, nil); status != 204 {
				t.Fatalf("\n%s\nPATCH: status %d, %v", tc.reason, status, body)
			}
			_, body := ask(t, b, http.MethodGet, uriSystem, nil, nil)
			got := want{Reads: body["Boot"].(map[string]any)["BootSourceOverrideTarget"], Boots: []bmc.BootTarget{b.NextBoot("1"), b.NextBoot("1")}}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestModeComesWithABoot(t *testing.T) {
	b := bmc.New(bmc.Config{Tree: made(t, nil), Behaviour: &bmc.Behaviour{Mode: bmc.ModeAtBoot}})
	ask(t, b, http.MethodPatch, uriSystem, boot("Mode", "UEFI"), nil)
	var got []any
	for range 2 {
		_, body := ask(t, b, http.MethodGet, uriSystem, nil, nil)
		got = append(got, body["Boot"].(map[string]any)["BootSourceOverrideMode"])
		b.NextBoot("1")
	}
	if diff := cmp.Diff([]any{"Legacy", "UEFI"}, got); diff != "" {
		t.Errorf("mode before and after a boot: -want, +got:\n%s", diff)
	}
}

// TestClientTakesTargetsOfBoth: a settings resource that lists no targets, or
// others, doesn't hide those of its System.
func TestClientTakesTargetsOfBoth(t *testing.T) {
	pending := `{"@odata.id":"/redfish/v1/Systems/1/Settings","Boot":{"BootSourceOverrideTarget":"None","BootSourceOverrideEnabled":"Disabled"}}`
	s, err := bmc.NewServer(bmc.Config{
		Tree: made(t, map[string]string{"redfish/v1/Systems/1/Settings/index.json": pending}), Behaviour: &bmc.Behaviour{OverrideAt: bmc.AtSettings},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	c := connect(t, settings(s))
	if err := c.SetBootOnce(t.Context(), system(t, c), "UefiHttp"); !redfish.IsUnsupported(err) || len(s.FullWrites()) != 0 {
		t.Errorf("SetBootOnce of a target that only nobody lists: got %v, written %v; want unsupported, nothing", err, s.FullWrites())
	}
	if err := c.SetBootOnce(t.Context(), system(t, c), "Pxe"); err != nil {
		t.Errorf("SetBootOnce of a target that the System lists: %v", err)
	}
}

// get sends one GET and returns the whole answer.
func get(t *testing.T, b *bmc.BMC, uri string, header map[string]string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, uri, http.NoBody)
	r.SetBasicAuth(bmc.DefaultUsername, bmc.DefaultPassword)
	for k, v := range header {
		r.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	b.ServeHTTP(w, r)

	return w
}
