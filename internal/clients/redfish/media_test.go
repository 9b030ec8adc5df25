package redfish

import (
	"strings"
	"testing"
)

// TestDrives: a drive that tells null of what is in it is empty, and what isn't a
// drive is none.
func TestDrives(t *testing.T) {
	c := connectTo(t, aBMC{
		"GET /redfish/v1/":     {body: "{}"},
		"GET /redfish/v1/VM":   {body: `{"Members":[{"@odata.id":"/redfish/v1/VM/1"},{"@odata.id":"/redfish/v1/VM/2"},{"@odata.id":"/redfish/v1/VM/3"}]}`},
		"GET /redfish/v1/VM/1": {body: `{"Id":"1","MediaTypes":["CD"],"Inserted":null,"Image":null,"WriteProtected":"Enabled"}`},
		"GET /redfish/v1/VM/2": {body: `{"Id":"2","MediaTypes":["CD"],"Inserted":"true","Image":"http://a/b"}`},
		"GET /redfish/v1/VM/3": {body: `{"Id":"3","Name":"Statistics"}`},
	})
	slots, err := c.Media(t.Context(), System{media: "/redfish/v1/VM"})
	if err != nil || len(slots) != 2 || slots[0].Inserted || !slots[0].Protected || !slots[1].Inserted {
		t.Errorf("Media(...): %+v, %v", slots, err)
	}
}

// TestHolds: two URLs that don't parse aren't the same image.
func TestHolds(t *testing.T) {
	cases := map[string]struct {
		shown, image string
		want         bool
	}{
		"Same":   {"http://a/b.iso", "http://a/b.iso?token=x", true},
		"Other":  {"http://a/c.iso", "http://a/b.iso", false},
		"Hidden": {"", "http://a/b.iso", true},
		"NoURL":  {"http://a b:x", "http://c d:y", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := (Medium{Inserted: true, Image: tc.shown}).Holds(tc.image); got != tc.want {
				t.Errorf("Holds(%q) of %q: got %v", tc.image, tc.shown, got)
			}
		})
	}
	if tag := strings.Repeat("ü", 70); Tag(tag) == tag || Tag(tag) != Tag(tag+"ü") {
		t.Errorf("Tag(...): got %q", Tag(tag))
	}
}
