package kubesource

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

func TestSessionsOf(t *testing.T) {
	web := boot.Name{Namespace: "team", Name: "web"}
	plans := []boot.Plan{{Entry: web, EntryUID: "entry"}}
	record := func(n boot.Name, entry, revocation string) session.Record {
		return session.Record{Name: n, Session: boot.Session{EntryUID: entry, Revocation: revocation}}
	}
	cases := map[string]struct {
		reason  string
		records []session.Record
		want    []boot.Session
	}{
		"Own": {
			reason:  "an entry's session has its name",
			records: []session.Record{record(web, "entry", "")}, want: []boot.Session{{EntryUID: "entry"}},
		},
		"Forged": {
			reason: "a session in another namespace that names the entry neither holds nor grants",
			records: []session.Record{
				record(boot.Name{Namespace: "mallory", Name: "web"}, "entry", "r"), record(web, "entry", ""),
				record(boot.Name{Namespace: "team", Name: "copy"}, "entry", "r"),
			},
			want: []boot.Session{{EntryUID: "entry"}},
		},
		"EntryUnknown": {
			reason:  "the watch of entries may lag behind that of sessions",
			records: []session.Record{record(web, "later", "r")}, want: []boot.Session{{EntryUID: "later", Revocation: "r"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, sessionsOf(plans, tc.records)); diff != "" {
				t.Errorf("%s, -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}
