package proc

import (
	"os"
	"testing"
)

func TestResident(t *testing.T) {
	cases := map[string]struct {
		reason, status string
		want           int64
		wrong          bool
	}{
		"Process": {"kB are of 1024 bytes", "Name:\tprovider\nVmPeak:\t    9000 kB\nVmRSS:\t    2048 kB\nRssAnon:\t 1 kB\n", 2 << 20, false},
		"Ended":   {"what has ended has no memory", "Name:\tkernel\n", 0, true},
		"Odd":     {"it isn't a number", "VmRSS:\t many kB\n", 0, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Resident(tc.status)
			if got != tc.want || (err != nil) != tc.wrong {
				t.Errorf("%s: %d, %v", tc.reason, got, err)
			}
		})
	}
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("skipped: no /proc on this machine")
	}
	if got, err := Resident(string(b)); got < 1<<20 || err != nil {
		t.Errorf("this test has %d bytes, %v", got, err)
	}
}
