package rpiboot

import "testing"

// TestSent: each transfer of a kernel or an initrd that arrives is counted, where there's a session to say so. What is loaded before them isn't.
func TestSent(t *testing.T) {
	initrd, kernel := int64(len("this is initrd")), int64(len("this is kernel"))
	cases := map[string]struct {
		reason string
		change func(*rig)
		names  []string
		want   int64
	}{
		"Whole":    {"all that a Pi 4 loads, each of it twice", nil, four(), 2*initrd + 2*kernel},
		"Firmware": {"files of the profile, and texts", nil, four()[:4], 0},
		"Live":     {"what netboots each time has no session", live, four(), 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, tc.change)
			r.asksDHCP(false)
			if refused, err := r.boots(tc.names...); err != nil {
				t.Fatalf("%s: %v", refused, err)
			}
			if r.sent != tc.want {
				t.Errorf("%s: %d bytes, want %d", tc.reason, r.sent, tc.want)
			}
		})
	}
}
