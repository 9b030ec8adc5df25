package able

import (
	"errors"
	"fmt"
	"testing"
)

// seen is a test that notes how it was ended.
type seen struct {
	testing.TB

	how string
}

func (s *seen) Helper() {}

func (s *seen) Fatalf(format string, args ...any) { s.how = "failed: " + fmt.Sprintf(format, args...) }

func (s *seen) Skipf(format string, args ...any) {
	if s.how == "" { // A test that failed goes on here, and nowhere else.
		s.how = fmt.Sprintf(format, args...)
	}
}

func TestNeed(t *testing.T) {
	cases := map[string]struct {
		reason, ci string
		lacks      error
		want       string
	}{
		"Able":    {"it runs", "true", nil, ""},
		"Unable":  {"a person's machine needn't have it", "", errors.New("no root"), "skipped: no root"},
		"UnderCI": {"nothing may be skipped", "true", errors.New("no root"), "failed: cannot run here, and under CI=true that is a failure: no root"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Setenv("CI", tc.ci)
			s := &seen{TB: t}
			Need(s, tc.lacks)
			if s.how != tc.want {
				t.Errorf("%s: %q, want %q", tc.reason, s.how, tc.want)
			}
		})
	}
}
