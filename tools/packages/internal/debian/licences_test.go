package debian

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLicences(t *testing.T) {
	const where = "usr/share/doc/thing/copyright"
	cases := map[string]struct {
		reason, license, copyright string
		want                       []string
		err                        string
	}{
		"Within":  {reason: "the copyright file has it all", license: "BSD-2-Clause AND MIT", copyright: "Permission is granted"},
		"Apart":   {reason: "it has no text of the GPL, whatever it says", license: "GPL-2.0-only AND GPL-2.0-or-later", copyright: "GPL", want: []string{"GPL-2"}},
		"Said":    {reason: "what it refers to is there, whatever we say", license: "MIT", copyright: "in '/usr/share/common-licenses/GPL-3'.", want: []string{"GPL-3"}},
		"Ended":   {reason: "a full stop isn't part of it", license: "MIT", copyright: "in /usr/share/common-licenses/LGPL-2.1.", want: []string{"LGPL-2.1"}},
		"Either":  {reason: "a choice of two needs both", license: "(GPL-2.0-only OR LGPL-2.1-or-later) AND MIT", want: []string{"GPL-2", "LGPL-2.1"}},
		"Strange": {reason: "nobody knows where its text is", license: "Beerware", err: "package thing is under Beerware"},
		"Missing": {reason: "a text that isn't here", license: "MIT", copyright: "/usr/share/common-licenses/GFDL-1.3", err: "needs the licence text GFDL-1.3"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Licences(Pin{Name: "thing", License: tc.license}, map[string][]byte{where: []byte(tc.copyright), "boot/one": nil})
			var want []string
			for _, w := range tc.want {
				want = append(want, "usr/share/common-licenses/"+w)
			}
			if diff := cmp.Diff(want, slices.Sorted(maps.Keys(got))); diff != "" || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s: %v, -want +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}

// TestPinsAreLicensed holds that each text that a pinned package needs is known, and that it's the whole one.
func TestPinsAreLicensed(t *testing.T) {
	pins, err := Pins()
	if err != nil {
		t.Fatal(err)
	}
	ends := map[string]string{"GPL-2": "Lesser General\nPublic License instead of this License.\n", "GPL-3": "why-not-lgpl.html>.\n"}
	for _, p := range pins {
		texts, err := Licences(p, nil)
		if err != nil {
			t.Error(err)
		}
		for path, text := range texts {
			name := strings.TrimPrefix(path, commonFolder)
			if !strings.Contains(string(text), "TERMS AND CONDITIONS") || !strings.HasSuffix(string(text), ends[name]) {
				t.Errorf("%s isn't whole", path)
			}
		}
	}
}
