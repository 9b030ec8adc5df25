package redfish

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestDecodeSystem(t *testing.T) {
	cases := map[string]struct {
		reason string
		body   string
		want   System
	}{
		"Drift": {
			reason: "Numbers for strings, strings for lists, null for everything.",
			body: `{"Id":7,"SerialNumber":42,"UUID":null,"PowerState":"on","Status":null,"Boot":{"BootSourceOverrideTarget":null,
				"BootSourceOverrideEnabled":"Disabled","BootSourceOverrideTarget@Redfish.AllowableValues":"Pxe"},"Links":{"Chassis":{"@odata.id":"/c"}},"Actions":null}`,
			want: System{
				Identity: Identity{URI: "/s", ID: "7", Serial: "42"}, Power: PowerOn,
				Boot: Boot{Enabled: "Disabled", Targets: []string{"Pxe"}},
			},
		},
		"Case": {
			reason: "Property names in another case.",
			body:   `{"id":"1","serialnumber":"A","powerstate":"Off","status":{"health":"ok"}}`,
			want:   System{Identity: Identity{URI: "/s", ID: "1", Serial: "A"}, Power: PowerOff, Health: "OK"},
		},
		"Worst": {
			reason: "The worse of the two verdicts.",
			body:   `{"Status":{"Health":"OK","HealthRollup":"Warning"}}`,
			want:   System{Identity: Identity{URI: "/s"}, Health: "Warning"},
		},
		"Times": {
			reason: "A time that is one.",
			body:   `{"LastResetTime":"2024-06-11T00:14:47-05:00"}`,
			want:   System{Identity: Identity{URI: "/s"}, LastReset: time.Date(2024, 6, 11, 5, 14, 47, 0, time.UTC)},
		},
		"NoTime":   {reason: "iDRAC's.", body: `{"LastResetTime":"0000-00-00T00:00:00+00:00"}`, want: System{Identity: Identity{URI: "/s"}}},
		"Epoch":    {reason: "A clock that was never set.", body: `{"LastResetTime":"1970-01-01T00:00:00+00:00"}`, want: System{Identity: Identity{URI: "/s"}}},
		"Reset":    {reason: "It can be reset.", body: `{"Actions":{"#ComputerSystem.Reset":{"target":"/r"}}}`, want: System{Identity: Identity{URI: "/s"}, CanReset: true}},
		"NoTarget": {reason: "An action without target is none.", body: `{"Actions":{"#ComputerSystem.Reset":{}}}`, want: System{Identity: Identity{URI: "/s"}}},
		"Wrong":    {reason: "A word where an object belongs.", body: `{"Boot":"none","Links":5,"SerialNumber":"A"}`, want: System{Identity: Identity{URI: "/s", Serial: "A"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := decodeSystem("/s/", []byte(tc.body), "")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got, cmpopts.IgnoreUnexported(System{}, Boot{})); diff != "" {
				t.Errorf("\n%s\ndecodeSystem(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func FuzzDecodeSystem(f *testing.F) {
	f.Add([]byte(`{"Id":"1","Boot":{"BootSourceOverrideTarget":"Pxe"},"Actions":{"#ComputerSystem.Reset":{"target":"/r","ResetType@Redfish.AllowableValues":["On"]}}}`))
	f.Add([]byte(`{"Links":{"Chassis":[{"@odata.id":1},null,"x"]},"@Redfish.Settings":[]}`))
	f.Add([]byte(`[`))
	f.Fuzz(func(t *testing.T, body []byte) {
		s, err := decodeSystem("/s", body, "")
		if err != nil {
			return
		}
		for _, act := range []Act{ActOn, ActGracefulOff, ActForceOff, ActRestart} {
			chooseReset(s.resetTypes, act, s.Power)
		}
		if s.Name() == "" {
			t.Error("a System without a name")
		}
	})
}

func FuzzLenient(f *testing.F) {
	for _, s := range []string{`null`, `"x"`, `[1,null,"a",{"@odata.id":"/x"}]`, `{"@odata.id":"/x"}`, `{"@odata.id":null}`, `[[`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(_ *testing.T, b []byte) {
		var v struct {
			A text
			B texts
			C ref
			D refs
		}
		_ = decode(b, &v)
		_ = decode([]byte(`{"A":`+string(b)+`,"B":`+string(b)+`,"C":`+string(b)+`,"D":`+string(b)+`}`), &v)
	})
}

func TestLenient(t *testing.T) {
	var v struct {
		A text
		B texts
		C ref
		D refs
	}
	const body = `{"A":1.5,"B":["a",null,2],"C":"/x","D":{"@odata.id":"/y"}}`
	if err := decode([]byte(body), &v); err != nil {
		t.Fatal(err)
	}
	if v.A != "1.5" || !cmp.Equal(v.B, texts{"a", "2"}) || v.C != "/x" || !cmp.Equal(v.D, refs{"/y"}) {
		t.Errorf("decode(%s): got %+v", body, v)
	}
	if err := decode([]byte("<html>"), &v); KindOf(err) != Protocol {
		t.Errorf("decode(<html>): got %v, want a protocol error", err)
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"ABC ": "ABC", "          ": "", "": "", "To Be Filled By O.E.M.": "", "N/A": "", "0000000": "", "0123456789": "", "MT2423600ANG\x00": "MT2423600ANG", "00A0": "00A0",
	} {
		if got := CleanSerial(in); got != want {
			t.Errorf("CleanSerial(%q): got %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"4C4C4544-0057-3010-8057-B9C04F484B32": "4c4c4544-0057-3010-8057-b9c04f484b32",
		"00000000-0000-0000-0000-7CC25550A8FF": "00000000-0000-0000-0000-7cc25550a8ff",
		"00000000-0000-0000-0000-000000000000": "", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF": "", "": "", "null": "",
		"03000200-0400-0500-0006-000700080009": "", "4c4c4544": "",
	} {
		if got := CleanUUID(in); got != want {
			t.Errorf("CleanUUID(%q): got %q, want %q", in, got, want)
		}
	}
}

func TestName(t *testing.T) {
	i := Identity{URI: "/s", UUID: "u", Serial: "S"}
	if got := i.Name(); got != "S" {
		t.Errorf("Name(): got %q, want the serial", got)
	}
	i.Serial = ""
	if got := i.Name(); got != "u" {
		t.Errorf("Name(): got %q, want the UUID", got)
	}
	i.UUID = ""
	if got := i.Name(); got != "/s" {
		t.Errorf("Name(): got %q, want the URI", got)
	}
}
