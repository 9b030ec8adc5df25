package main

import "testing"

// TestStorm: what's measured with ten thousand machines works with a few.
func TestStorm(t *testing.T) {
	v, err := hall{machines: 40}.measure(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if v[figureStorm] < 1 || v[figureStormRSS] < 1 {
		t.Errorf("%v", v)
	}
}
