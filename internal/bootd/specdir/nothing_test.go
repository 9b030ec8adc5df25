package specdir

import (
	"strings"
	"testing"
)

// TestNothing: a folder that holds nothing to serve anybody by, as one whose disk isn't there, is told of once, and again once it's so again.
func TestNothing(t *testing.T) {
	r := newRig(t, "")
	r.start()
	for range 3 {
		r.turn()
	}
	const says = "nobody is answered"
	if n := strings.Count(r.said.String(), says); n != 1 {
		t.Errorf("told %d times:\n%s", n, r.said.String())
	}
	r.write("a.yaml", all(0))
	r.turn()
	if r.plan() == nil {
		t.Fatalf("it isn't served once it's there:\n%s", r.said.String())
	}
	if n := strings.Count(r.said.String(), says); n != 1 {
		t.Errorf("told %d times, of a folder with a machine:\n%s", n, r.said.String())
	}
}
