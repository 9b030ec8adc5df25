package kubesource

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

func t0() time.Time { return time.Date(2026, 8, 1, 10, 0, 0, 5000, time.UTC) }

func TestRecordRoundTrip(t *testing.T) {
	result := &boot.Result{GrantID: "g", Generation: 1, PlanDigest: "d", At: t0(), Message: "m"}
	want := session.Record{
		Session: boot.Session{
			OpenedGrantID: "g", Opened: []boot.Opened{{Nonce: "n", At: t0(), By: "b"}}, Acknowledged: "r", Installed: result, Failed: result,
			Consumed: &boot.Consumption{GrantID: "g", HostUID: "h", EntryUID: "e", Generation: 1, PlanDigest: "d", Nonce: "n", At: t0(), By: "b"},
		},
		Progress: session.Progress{
			Stage: boot.StageInstalled, Reason: "x", Boots: 3, Report: "y",
			Timeline: session.Timeline{DHCP: t0(), Firmware: t0(), Script: t0(), Kernel: t0(), Began: t0(), Installed: t0(), BootedFromDisk: t0()},
			Declined: session.Declined{Address: "10.77.0.11", MAC: "52:54:00:00:00:01", At: t0()},
			Signs:    session.Signs{Given: t0(), SentToDisk: t0(), System: t0(), Returns: 2},
		},
	}
	got := RecordOf(&v1alpha1.BootSession{Status: StatusOf(want)})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	spec := RecordOf(&v1alpha1.BootSession{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "web", UID: "u", ResourceVersion: "7"},
		Spec: v1alpha1.BootSessionSpec{
			EntryUID: "e", Revocation: &v1alpha1.Revocation{ID: "r"},
			Grant: &v1alpha1.Grant{ID: "g", HostUID: "h", EntryUID: "e", Generation: 1, PlanDigest: "d", Expires: metav1.NewTime(t0())},
		},
	})
	wantSpec := session.Record{Name: boot.Name{Namespace: "team", Name: "web"}, Session: boot.Session{
		UID: "u", EntryUID: "e", Revision: "7", Revocation: "r",
		Grant: &boot.Grant{ID: "g", HostUID: "h", EntryUID: "e", Generation: 1, PlanDigest: "d", Expires: t0()},
	}}
	if diff := cmp.Diff(wantSpec, spec); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
