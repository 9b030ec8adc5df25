package specdir

import (
	"strings"
	"testing"
)

// TestAhead: the files of the folder's profiles are known to whoever fetches them, before any entry names them.
func TestAhead(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want int
	}{
		"Own":       {networkYAML + "---\n" + profileYAML, 2},
		"Alone":     {profileYAML, 0},
		"Strangers": {networkYAML + "---\n" + strings.Replace(profileYAML, "namespace: lab", "namespace: other", 1), 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, tc.text)
			r.start()
			if got := r.src.Ahead(); len(got) != tc.want {
				t.Errorf("%v", got)
			}
		})
	}
}
