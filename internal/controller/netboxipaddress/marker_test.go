package netboxipaddress

import (
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/controller/wiring"
)

func TestOwnerOf(t *testing.T) {
	us := identity{cluster: "c1", namespace: "team-a", name: "web-1", uid: "u1"}
	cases := map[string]struct {
		reason string
		marker string
		want   owner
	}{
		"Us":           {"our own marker", "c1/team-a/web-1/u1", ownerUs},
		"Restored":     {"our name with another UID: we were restored", "c1/team-a/web-1/u0", ownerRestored},
		"OtherName":    {"another resource of the namespace", "c1/team-a/web-2/u1", ownerOther},
		"OtherSpace":   {"another tenant's", "c1/team-b/web-1/u1", ownerOther},
		"OtherCluster": {"another cluster's, with all else the same", "c2/team-a/web-1/u1", ownerCluster},
		"None":         {"a person's own address", "", ownerNobody},
		"Text":         {"something that isn't a marker", "web-1", ownerNobody},
		"Short":        {"too few parts", "c1/team-a/web-1", ownerNobody},
		"Long":         {"too many parts", "c1/team-a/web-1/u1/x", ownerNobody},
		"EmptyUID":     {"an empty part", "c1/team-a/web-1/", ownerNobody},
		"EmptyCluster": {"an empty part", "/team-a/web-1/u1", ownerNobody},
		"Case":         {"case counts", "C1/team-a/web-1/u1", ownerCluster},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := ownerOf(tc.marker, us); got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// FuzzOwnerOf: whatever stands in a record, only our own marker is ours, and only our own name is restored.
func FuzzOwnerOf(f *testing.F) {
	us := identity{cluster: "c1", namespace: "team-a", name: "web-1", uid: "u1"}
	for _, m := range []string{"", "c1/team-a/web-1/u1", "c1/team-a/web-1/u0", "c1/team-a/web-1//", "c1//web-1/u1", "////"} {
		f.Add(m)
	}
	f.Fuzz(func(t *testing.T, marker string) {
		o := ownerOf(marker, us)
		if (o == ownerUs) != (marker == us.marker()) {
			t.Errorf("%q: %s", marker, o)
		}
		if uid, ok := strings.CutPrefix(marker, "c1/team-a/web-1/"); o == ownerRestored && (!ok || uid == "" || strings.Contains(uid, "/")) {
			t.Errorf("%q: %s", marker, o)
		}
	})
}

func TestSetupNeedsClusterID(t *testing.T) {
	if err := Setup(nil, wiring.Options{}); err == nil || !strings.Contains(err.Error(), "cluster's id") {
		t.Errorf("markers can't begin with nothing: %v", err)
	}
}

// TestMarkersDiffer: two resources have two markers, also where their names say the same one after the other.
func TestMarkersDiffer(t *testing.T) {
	seen := map[string]identity{}
	for _, i := range []identity{
		{"c1", "team-a", "web", "u"}, {"c1", "team", "-aweb", "u"}, {"c1", "team-aw", "eb", "u"}, {"c1team", "-a", "web", "u"}, {"c1", "team-a", "we", "bu"},
	} {
		if other, ok := seen[i.marker()]; ok {
			t.Errorf("%+v and %+v have one marker, %q", i, other, i.marker())
		}
		seen[i.marker()] = i
		if got, ok := parseMarker(i.marker()); !ok || got != i {
			t.Errorf("%q reads as %+v", i.marker(), got)
		}
	}
}
