package dhcp6

import (
	"net/netip"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv6"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
)

// TestNoAddressAsked: who asks for what isn't given here, and for no address, hears nothing, and it's counted as that. Beside an address the rest is refused
// by a status: TestOtherAssociations.
func TestNoAddressAsked(t *testing.T) {
	none, prefix, temporary := without(dhcpv6.OptionIANA), dhcpv6.WithIAPD([4]byte{8}), dhcpv6.WithIATA([4]byte{7})
	declined := func(v *View) { v.Declined = func(boot.Name, netip.Addr, time.Time) bool { return true } }
	having := func(m dhcpv6.MessageType) dhcpv6.Modifier { return all(ofType(m), none, prefix) }
	cases := map[string]struct {
		reason string
		req    dhcpv6.Modifier
		view   func(*View)
		want   dhcp.Reason
	}{
		"Prefix":          {"a router that delegates is on the link, and no offer of ours is in its way", all(none, prefix), nil, SilentNoAssociation},
		"Temporary":       {"an address that is another one each time", all(none, temporary), nil, SilentNoAssociation},
		"Both":            {"the one and the other", all(none, prefix, temporary), nil, SilentNoAssociation},
		"Nothing":         {"options alone are asked for by another message", none, nil, SilentNoAssociation},
		"Rapid":           {"at once, too", all(none, prefix, dhcpv6.WithRapidCommit), nil, SilentNoAssociation},
		"Firmware":        {"firmware isn't sent to its boot either: it has no address to go there with", all(none, prefix, asIPXE()), nil, SilentNoAssociation},
		"Declined":        {"its own address, which it declined, isn't why", all(none, prefix), declined, SilentNoAssociation},
		"AddressDeclined": {"where it asks for that it is", prefix, declined, dhcp.SilentDeclined},
		"Request":         {"nobody was offered a prefix here", all(having(dhcpv6.MessageTypeRequest), toUs(testServer)), nil, SilentNoAssociation},
		"Renew":           {"nor has one from here", all(having(dhcpv6.MessageTypeRenew), toUs(testServer)), nil, SilentNoAssociation},
		"Rebind":          {"and what is another's is that one's to extend", having(dhcpv6.MessageTypeRebind), nil, SilentNoAssociation},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := testView(testState(nil, testPlan()))
			if tc.view != nil {
				tc.view(&v)
			}
			a, got := answered(t, v, request(t, tc.req), onLink(testLink))
			if got != nil || a.Reason != tc.want || a.Stage != "" {
				t.Errorf("%s: %s, stage %q: %v", tc.reason, a.Reason, a.Stage, got)
			}
		})
	}
}

// TestPrefixBesideAddress: a router that wants a prefix as well waits for the offers of others, one of which may have some: ours has no preference, and nothing is given at once.
func TestPrefixBesideAddress(t *testing.T) {
	const (
		advertise = dhcpv6.MessageTypeAdvertise
		reply     = dhcpv6.MessageTypeReply
	)
	prefix, temporary := dhcpv6.WithIAPD([4]byte{8}), dhcpv6.WithIATA([4]byte{7})
	cases := map[string]struct {
		reason     string
		req        dhcpv6.Modifier
		want       dhcpv6.MessageType
		preference int // -1: none is said
	}{
		"Address":       {"an address alone is ours to give: nobody is waited for", all(), advertise, most},
		"Rapid":         {"or it's given at once", dhcpv6.WithRapidCommit, reply, -1},
		"Prefix":        {"RFC 8415 section 21.8: without the option it's 0", prefix, advertise, -1},
		"PrefixRapid":   {"section 18.3.1: an offer, by which it isn't bound yet", all(prefix, dhcpv6.WithRapidCommit), advertise, -1},
		"PrefixRequest": {"who has chosen us is given its address", all(prefix, ofType(dhcpv6.MessageTypeRequest), toUs(testServer)), reply, -1},
		"Temporary":     {"no server that's worth waiting for has temporary addresses", temporary, advertise, most},
		"Firmware":      {"firmware does nothing with a prefix, and boots by our offer", all(prefix, asPXE()), advertise, most},
		"FirmwareRapid": {"as soon as ever", all(prefix, asPXE(), dhcpv6.WithRapidCommit), reply, -1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a, got := answered(t, testView(testState(nil, testPlan())), request(t, tc.req), onLink(testLink))
			if got == nil {
				t.Fatalf("%s: %s", tc.reason, a.Reason)
			}
			preference := int(got.Options.Preference())
			if got.Options.Get(dhcpv6.OptionPreference) == nil {
				preference = -1
			}
			if got.MessageType != tc.want || preference != tc.preference {
				t.Errorf("%s: %s of preference %d", tc.reason, got.MessageType, preference)
			}
			if ia := got.Options.OneIANA(); ia == nil || ia.Options.OneAddress() == nil {
				t.Errorf("%s: no address: %v", tc.reason, ia)
			}
			if offered := tc.want == advertise || got.Options.Get(dhcpv6.OptionRapidCommit) != nil; a.Offers != offered {
				t.Errorf("%s: an offer: %t", tc.reason, a.Offers)
			}
		})
	}
}
