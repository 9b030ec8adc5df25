package netbox_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	netboxclient "github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// TestTroubleWhileGiven: NetBox fails once over web-1's record, at any moment after web-2 adopted one beside it: that's no absence, by which web-2 would be the later one for good.
func TestTroubleWhileGiven(t *testing.T) {
	for n := range 14 {
		l := newLab(t, "4.6.8")
		l.maxAge = 2 * time.Minute
		var asked func(netboxclient.Call)
		l.watch = []netboxclient.Option{netboxclient.WithMeter(func(c netboxclient.Call) {
			if asked != nil {
				asked(c)
			}
		})}
		l.restart()
		l.netbox.AddMarkerField(field)
		l.inLoose(0)
		l.apply("web-1", l.ofThis, looseOf)
		l.passes(8, time.Minute, "web-1")
		one := l.get("web-1").Status.AtProvider.ID
		two := l.again()
		calls := 0
		asked = func(c netboxclient.Call) {
			if calls > 0 || c.Method == http.MethodPatch {
				calls++
			}
			if calls == n+1 {
				l.netbox.Inject(netbox.Fault{Kind: netbox.FaultServerErrorJSON, Method: http.MethodGet, Times: 1, Path: "/ip-addresses/" + strconv.FormatInt(one, 10) + "/"})
			}
		}
		l.apply("web-2", l.ofThis, adopting(two))
		for range 12 {
			l.once("web-2")
		}
		asked = nil
		l.passes(8, time.Minute, "web-2", "web-1")
		l.restored()
		l.passes(8, 11*time.Minute, "web-2", "web-1")
		if !l.readyWith("web-1", firstLoose) || !l.readyWith("web-2", firstLoose) {
			t.Errorf("at %d: web-1 says %q, web-2 %q", n, l.says("web-1"), l.says("web-2"))
		}
	}
}
