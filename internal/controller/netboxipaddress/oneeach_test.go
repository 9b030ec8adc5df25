package netboxipaddress

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOneEach: a look that is asked for while one is under way is left out, and made up for, once, where that's wanted.
func TestOneEach(t *testing.T) {
	cases := map[string]struct {
		reason string
		more   bool
		asked  int
		want   int
	}{
		"Alone":  {"nobody asked meanwhile", true, 0, 1},
		"Asked":  {"what one that began before may not have seen, the next one does", true, 1, 2},
		"Often":  {"one for all who asked", true, 5, 2},
		"Enough": {"nobody wants to know", false, 5, 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o, goOn, looks := oneEach[string]{}, make(chan struct{}), map[string]int{}
			look := func() bool {
				looks["a"]++
				if looks["a"] == 1 {
					<-goOn
				}
				return tc.more
			}
			o.begin("a", look)
			for range tc.asked {
				o.begin("a", look)
			}
			other := make(chan struct{})
			o.begin("b", func() bool {
				close(other)
				return false
			})
			<-other // It waits for nobody.
			close(goOn)
			o.wait()
			if diff := cmp.Diff(map[string]int{"a": tc.want}, looks); diff != "" || len(o.missed) != 0 {
				t.Errorf("%s: %v under way, -want +got:\n%s", tc.reason, o.missed, diff)
			}
		})
	}
}
