package specdir

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestByLine: a reader begins with what stands first, by number and not by digit, and sentences without a place come before.
func TestByLine(t *testing.T) {
	want := []string{
		"a sentence: of no place", "nor this one", "a.yaml:9: first", "a.yaml:10: second", "a.yaml:10: then", "b.yaml:6: another file's", "c:d.yaml:1: whatever it's called",
	}
	got := slices.Clone(want)
	slices.Sort(got)
	slices.Reverse(got)
	slices.SortFunc(got, byLine)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
