package main

import (
	"regexp"
	"testing"
)

func TestMedian(t *testing.T) {
	cases := map[string]struct {
		reason string
		in     []float64
		want   float64
	}{
		"None": {"Nothing measured is nothing.", nil, 0},
		"Odd":  {"The one in the middle, whatever the order.", []float64{9, 1, 2}, 2},
		"Even": {"Between the two in the middle.", []float64{4, 1, 2, 100}, 3},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := median(tc.in); got != tc.want {
				t.Errorf("%s\nmedian(%v): want %v, got %v", tc.reason, tc.in, tc.want, got)
			}
		})
	}
}

func TestFigures(t *testing.T) {
	name := regexp.MustCompile(`^[a-z]+(_[a-z0-9]+)*$`)
	for _, b := range benches(calm{steadyAddresses, steadyPoll}, fleet{hosts: fleetHosts, poll: fleetPoll}, hall{stormMachines}) {
		for _, f := range b.figures {
			if !name.MatchString(f.name) || f.unit == "" || b.what == "" || f.limit <= 0 {
				t.Errorf("figure %q isn't whole: %+v", f.name, f)
			}
		}
	}
	if err := run("(", calm{}, fleet{}, hall{}); err == nil {
		t.Error("a broken expression: want an error")
	}
	if err := run("nothing is called so", calm{}, fleet{}, hall{}); err == nil {
		t.Error("no figure: want an error")
	}
}

// TestLimits: a figure that is just what was promised keeps the promise.
func TestLimits(t *testing.T) {
	cases := map[string]struct {
		reason string
		figure figure
		value  float64
		ok     bool
	}{
		"Most":      {"As much as it may be.", figure{limit: 20}, 20, true},
		"More":      {"More.", figure{limit: 20}, 20.5, false},
		"Least":     {"As much as it must be.", figure{limit: 0.5, atLeast: true}, 0.5, true},
		"TooLittle": {"Less.", figure{limit: 0.5, atLeast: true}, 0.4, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if err := tc.figure.judge(tc.value); (err == nil) != tc.ok {
				t.Errorf("%s %v", tc.reason, err)
			}
		})
	}
}
