package kubesource

import (
	"net/netip"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestUnserved: the machine of an entry without a plan, and one whose plan was restored from another object, is no stranger.
func TestUnserved(t *testing.T) {
	const mac, restored boot.MAC = "52:54:00:00:00:01", "52:54:00:00:00:02"
	s := newSource(t, &log{}, &clock{now: t0()})
	tb := s.newTables()
	fresh := &v1alpha1.BootEntry{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "fresh", UID: "1"}}
	fresh.Spec.ForProvider.Machine.MACs = []string{string(mac)}
	old := &v1alpha1.BootEntry{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "old", UID: "2"}}
	old.Status.AtProvider.Plan = &v1alpha1.Plan{EntryUID: "gone", MACs: []string{string(restored)}, Network: v1alpha1.PlanNetwork{Address: "10.77.0.201/24"}}
	state := func() *boot.State {
		g := boot.Segment{Pools: []boot.Pool{{Start: netip.MustParseAddr("10.77.0.200"), End: netip.MustParseAddr("10.77.0.220")}}}
		st := boot.NewState([]boot.Segment{g}, tb.entries.all(), nil)
		tb.unserved.into(st)
		return st
	}
	if err := tb.entries.Replace([]any{fresh, old}, "1"); err != nil {
		t.Fatal(err)
	}
	if st := state(); !st.Withheld(mac) || !st.Withheld(restored) || !st.Reserved(netip.MustParseAddr("10.77.0.201")) {
		t.Error("who has an entry is a stranger")
	}
	if err := tb.entries.Delete(old); err != nil {
		t.Fatal(err)
	}
	if err := tb.entries.Replace(nil, "2"); err != nil {
		t.Fatal(err)
	}
	if st := state(); st.Withheld(mac) || st.Withheld(restored) || st.Reserved(netip.MustParseAddr("10.77.0.201")) {
		t.Error("whose entry is gone is one")
	}
}
