package netbox_test

import (
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// TestLargeRecord: of a record that is larger than is read it's said what is wrong; the address stays, and so does the resource until that is put right.
func TestLargeRecord(t *testing.T) {
	for _, v := range versions() {
		t.Run(v, func(t *testing.T) {
			l := newRackLab(t, v)
			l.maxAge = 2 * time.Minute
			l.restart()
			l.apply("web-1")
			l.rest()
			purpose := func(text string) {
				l.netbox.ChangeAddressAs("alice", l.only().ID, func(a *netbox.Address) { a.CustomFields["purpose"], a.Status = text, "reserved" })
			}
			said := func(when string, ready corev1.ConditionStatus) {
				t.Helper()
				l.now = l.now.Add(3 * time.Minute)
				l.once("web-1")
				mg := l.get("web-1")
				if c := mg.GetCondition(xpv2.TypeSynced); c.Status != corev1.ConditionFalse || !strings.Contains(c.Message, "larger than 4 MiB): a text or a custom field there is too long; shorten it in NetBox") || strings.Contains(c.Message, "URL") {
					t.Errorf("%s: %+v", when, c)
				}
				if c := mg.GetCondition(xpv2.TypeReady); c.Status != ready {
					t.Errorf("%s: %+v", when, c)
				}
			}
			purpose(strings.Repeat("x", 5<<20))
			said("it's seen", corev1.ConditionTrue)
			l.remove()
			said("it's deleted", corev1.ConditionFalse)
			purpose("web")
			l.settle("web-1", gone)
			if all := l.netbox.Addresses(); len(all) != 0 {
				t.Errorf("left %+v", all)
			}
		})
	}
	t.Log(faultRow("a record is larger than is read", 1, 1))
}
