package admin

import "testing"

// TestFile: what an answer names is loaded from here only as far as it's served.
func TestFile(t *testing.T) {
	there := func(string) (int, bool, bool) { return 1234, false, true }
	standIn := func(string) (int, bool, bool) { return 1234, true, true }
	none := func(string) (int, bool, bool) { return 0, false, false }
	cases := map[string]struct {
		reason    string
		file      func(string) (int, bool, bool)
		notServed []string
		want      string
	}{
		"There":     {"as large as it is", there, []string{"HTTP"}, "1234 bytes"},
		"StandIn":   {"nothing boots by it", standIn, nil, "a stand-in of 1234 bytes, which real firmware can't boot: see --tftp-dir"},
		"None":      {"a name that nobody has", none, nil, "there's no such file"},
		"NotServed": {"another server may have it", there, []string{"TFTP"}, "which isn't loaded from here: TFTP isn't served"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h := &handler{o: Options{File: tc.file, NotServed: tc.notServed}}
			if got := h.file("snponly.efi"); got != tc.want {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}
