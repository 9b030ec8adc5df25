package session

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestReportSurvivesARestore: a machine that installs while etcd is put back to before its grant, to one whose script was served too, still says how that ended.
func TestReportSurvivesARestore(t *testing.T) {
	t.Parallel()
	r := granted()
	before := *r.Session.Grant
	before.ID, before.Generation = "00000000000000e1", before.Generation-1
	r.Session.OpenedGrantID, r.Session.Opened = grantID, []boot.Opened{{Nonce: nonceA, At: start(), By: "a"}}
	store := newAPI(r)
	m := bootd(t, store, "a", t.TempDir())
	if err := m.Consume(t.Context(), plan(), token(nonceA)); err != nil {
		t.Fatal(err)
	}
	store.edit(machine(), func(r *Record) {
		r.Session.Grant, r.Session.OpenedGrantID, r.Session.Consumed = &before, before.ID, nil
		r.Session.Opened = []boot.Opened{{Nonce: nonceB, At: start(), By: "a"}}
	})
	stands, err := m.Report(t.Context(), plan(), token(nonceA), true, "done")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(true, stands && store.record(machine()).Session.Installed != nil); diff != "" {
		t.Errorf("an install that ended is known to have (-want +got):\n%s", diff)
	}
}
