package netbox_test

import (
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// TestFromEditedAfterLostAnswer: whoever edits from while NetBox's answer is lost needs nobody's help: the address stays, and it's said.
func TestFromEditedAfterLostAnswer(t *testing.T) {
	for _, v := range versions() {
		t.Run(v, func(t *testing.T) {
			l := newRackLab(t, v)
			l.netbox.Inject(netbox.Fault{Kind: netbox.FaultEOFAfter, Method: "POST", Path: "available-ips", Times: 1})
			l.netbox.Inject(netbox.Fault{Kind: netbox.FaultServerErrorHTML, Method: "GET", Path: "ip-addresses", Times: 1})
			l.apply("web-1")
			for len(l.netbox.Addresses()) == 0 {
				l.once("web-1")
			}
			l.restart()
			l.edit(func(p *v1alpha1.NetBoxIPAddressParameters) { p.From[0].Prefix.CIDR = "10.77.1.0/24" })
			mg := l.settle("web-1", ready)
			if a := l.only(); a.Address.String() != "10.77.0.1/29" || mg.Status.AtProvider.Address != "10.77.0.1/29" || l.posts() != 1 {
				t.Errorf("record %+v, status %+v, %d POSTs", a, mg.Status.AtProvider, l.posts())
			}
			if c := mg.GetCondition(xpv2.TypeReady); !strings.HasPrefix(c.Message, "the address is from prefix 10.77.0.0/29, which spec.forProvider.from doesn't name any more: it stays") {
				t.Errorf("it's said where it's from: %+v", c)
			}
		})
	}
	t.Log(faultRow("from is edited while the answer to a POST is lost", 1, 1))
}
