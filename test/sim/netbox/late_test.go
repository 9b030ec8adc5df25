package netbox_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// TestDeletedBeforeItsRecord: a resource that goes before NetBox has carried its POST out waits for the record, and takes it along. Also
// where the provider was killed in between, and knows nothing of the POST but that it was about to be sent.
func TestDeletedBeforeItsRecord(t *testing.T) {
	for name, restart := range map[string]bool{"Lost": false, "Killed": true} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, "4.6.8")
			l.netbox.AddMarkerField(field)
			l.outstanding = 3 * time.Second // annotations have whole seconds
			l.meets(netbox.FaultDelay, brief)
			l.netbox.Inject(netbox.Fault{Kind: netbox.FaultDelay, Delay: 3 * brief, Method: http.MethodPost, Times: 1})
			l.apply("web-1")
			for l.posting() == 0 {
				l.once("web-1")
			}
			if restart {
				l.restart()
			}
			l.remove()
			for end := time.Now().Add(30 * time.Second); l.get("web-1") != nil && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
				l.once("web-1")
			}
			time.Sleep(time.Second)
			if all := l.netbox.Addresses(); l.get("web-1") != nil || len(all) != 0 {
				t.Errorf("resource %v, records %+v", l.get("web-1"), all)
			}
			t.Log(faultRow("deleted before NetBox carried its POST out: "+name, 1, l.posting()))
		})
	}
}

// posting counts the delayed requests that have begun.
func (l *lab) posting() int { return l.netbox.FaultsMet()[netbox.FaultDelay] }
