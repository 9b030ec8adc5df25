package dhcp6

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/insomniacslk/dhcp/dhcpv6"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/dhcp"
)

// told is what an answer says.
type told struct {
	Reason dhcp.Reason
	Type   dhcpv6.MessageType
	Stage  boot.Stage
}

func TestRespond(t *testing.T) {
	const (
		adv   = dhcpv6.MessageTypeAdvertise
		reply = dhcpv6.MessageTypeReply
	)
	wrong := netip.MustParseAddr("fd00:99::84")
	mode := func(m boot.SegmentMode) func(*boot.Segment) { return func(g *boot.Segment) { g.Mode = m } }
	cases := map[string]struct {
		reason  string
		req     dhcpv6.Modifier
		from    netip.Addr
		segment func(*boot.Segment)
		plan    func(*boot.Plan)
		want    told
	}{
		"Solicit":       {reason: "an offer", want: told{Advertised, adv, ""}},
		"Rapid":         {reason: "RFC 8415 section 18.3.1: two messages", req: dhcpv6.WithRapidCommit, want: told{dhcp.Acknowledged, reply, ""}},
		"RapidFirmware": {reason: "a boot has begun", req: all(dhcpv6.WithRapidCommit, asPXE()), want: told{dhcp.Acknowledged, reply, boot.StageDHCP}},
		"SolicitServer": {reason: "section 16.2: a SOLICIT names no server", req: toUs(testServer), want: told{Reason: dhcp.SilentMalformed}},
		"NoID":          {reason: "section 16.2: nor is it without a client", req: without(dhcpv6.OptionClientID), want: told{Reason: SilentNoID}},
		"NoIA":          {reason: "who asks for a prefix alone", req: without(dhcpv6.OptionIANA), want: told{Reason: SilentNoAssociation}},
		"Request":       {reason: "the offer is taken", req: all(ofType(dhcpv6.MessageTypeRequest), toUs(testServer)), want: told{dhcp.Acknowledged, reply, ""}},
		"RequestLive": {
			reason: "what boots each time is seen by what it loads", req: all(ofType(dhcpv6.MessageTypeRequest), toUs(testServer)),
			plan: func(p *boot.Plan) { p.Mode = boot.ModeLive }, want: told{dhcp.Acknowledged, reply, ""},
		},
		"RequestOther": {
			reason: "another server's offer is taken", req: all(ofType(dhcpv6.MessageTypeRequest), toUs(netip.MustParseAddr("fd00:99::2"))),
			want: told{Reason: dhcp.SilentOtherServer},
		},
		"RequestNobody": {reason: "section 16.4", req: ofType(dhcpv6.MessageTypeRequest), want: told{Reason: dhcp.SilentMalformed}},
		"Renew":         {reason: "a system that runs", req: all(ofType(dhcpv6.MessageTypeRenew), toUs(testServer), having(testAddress)), want: told{dhcp.Acknowledged, reply, ""}},
		"Rebind":        {reason: "its server is gone, and another one answers", req: all(ofType(dhcpv6.MessageTypeRebind), having(testAddress)), want: told{dhcp.Acknowledged, reply, ""}},
		"RebindServer":  {reason: "section 16.7", req: all(ofType(dhcpv6.MessageTypeRebind), toUs(testServer)), want: told{Reason: dhcp.SilentMalformed}},
		"Confirm":       {reason: "its address is right", req: all(ofType(dhcpv6.MessageTypeConfirm), having(testAddress)), want: told{Confirmed, reply, ""}},
		"ConfirmWrong":  {reason: "another is not", req: all(ofType(dhcpv6.MessageTypeConfirm), having(wrong)), want: told{dhcp.Refused, reply, ""}},
		"ConfirmFirmware": {
			reason: "firmware is refused nothing: it asks anew by itself", req: all(asPXE(), ofType(dhcpv6.MessageTypeConfirm), having(wrong)),
			want: told{Reason: dhcp.SilentWrongAddress},
		},
		"ConfirmNothing":       {reason: "section 18.3.3: without an address there's no answer", req: ofType(dhcpv6.MessageTypeConfirm), want: told{Reason: dhcp.SilentMalformed}},
		"Release":              {reason: "it's taken note of", req: all(ofType(dhcpv6.MessageTypeRelease), toUs(testServer), having(testAddress)), want: told{dhcp.Released, reply, ""}},
		"Decline":              {reason: "somebody else has it", req: all(ofType(dhcpv6.MessageTypeDecline), toUs(testServer), having(testAddress)), want: told{dhcp.Declined, reply, ""}},
		"DeclineWrong":         {reason: "that another is taken is no news", req: all(ofType(dhcpv6.MessageTypeDecline), toUs(testServer), having(wrong)), want: told{Reason: dhcp.SilentWrongAddress}},
		"Information":          {reason: "options alone", req: all(ofType(dhcpv6.MessageTypeInformationRequest), without(dhcpv6.OptionIANA)), want: told{dhcp.Informed, reply, ""}},
		"InformationAddress":   {reason: "section 16.12: who wants an address asks in another way", req: ofType(dhcpv6.MessageTypeInformationRequest), want: told{Reason: dhcp.SilentMalformed}},
		"InformationTemporary": {reason: "or a temporary one", req: all(ofType(dhcpv6.MessageTypeInformationRequest), without(dhcpv6.OptionIANA), dhcpv6.WithOption(&dhcpv6.OptIATA{IaId: [4]byte{1}})), want: told{Reason: dhcp.SilentMalformed}},
		"InformationPrefix":    {reason: "or a prefix", req: all(ofType(dhcpv6.MessageTypeInformationRequest), without(dhcpv6.OptionIANA), dhcpv6.WithIAPD([4]byte{1})), want: told{Reason: dhcp.SilentMalformed}},
		"InformationAnonymous": {
			reason: "section 18.2.6: it need not say who it is", req: all(ofType(dhcpv6.MessageTypeInformationRequest), without(dhcpv6.OptionIANA), without(dhcpv6.OptionClientID)),
			want: told{dhcp.Informed, reply, ""},
		},
		"OtherLink":     {reason: "the NIC is nobody's: a DUID copied to another machine", from: otherLink, want: told{Reason: dhcp.SilentUnknown}},
		"Private":       {reason: "its DUID holds the MAC", from: private, want: told{Advertised, adv, ""}},
		"PrivatePXE":    {reason: "a MAC that a DUID holds is anybody's to say", from: private, req: asPXE(), want: told{Reason: SilentUnproven}},
		"PrivateIPXE":   {reason: "and gets no script, with whose token a grant would be used", from: private, req: asIPXE(), want: told{Reason: SilentUnproven}},
		"PrivateRapid":  {reason: "nor is it seen to boot", from: private, req: all(dhcpv6.WithRapidCommit, asPXE()), want: told{Reason: SilentUnproven}},
		"PrivateUUID":   {reason: "and nothing does", from: private, req: dhcpv6.WithClientID(someUUID()), want: told{Reason: dhcp.SilentUnknown}},
		"LinkUUID":      {reason: "firmware has a UUID, and its link-local address the MAC", req: all(dhcpv6.WithClientID(someUUID()), asPXE()), want: told{Advertised, adv, ""}},
		"FromElsewhere": {reason: "no client on the link has such an address", from: netip.MustParseAddr("fd00:99::77"), want: told{Reason: dhcp.SilentUnicast}},
		"Off":           {reason: "nothing is answered", segment: mode(boot.SegmentOff), want: told{Reason: dhcp.SilentOff}},
		"Proxy":         {reason: "there's no proxy of DHCPv6", segment: mode(boot.SegmentProxy), want: told{Reason: dhcp.SilentOff}},
		"RelayOnly":     {reason: "no relay passed it on", segment: mode(boot.SegmentRelayOnly), want: told{Reason: dhcp.SilentRelayOnly}},
		"NamedIface":    {reason: "the segment names where it's served", segment: func(g *boot.Segment) { g.Interfaces = []string{"br0"} }, want: told{Advertised, adv, ""}},
		"OtherIface":    {reason: "and where it isn't", segment: func(g *boot.Segment) { g.Interfaces = []string{"eth7"} }, want: told{Reason: dhcp.SilentNotServedHere}},
		"OtherSegment": {
			reason: "the machine was plugged in elsewhere", segment: func(g *boot.Segment) { g.Subnets = []netip.Prefix{netip.MustParsePrefix("fd00:98::/64")} },
			want: told{Reason: dhcp.SilentElsewhere},
		},
		"IPv4": {
			reason: "its address is DHCPv4's", plan: func(p *boot.Plan) { p.Network.Address = netip.MustParsePrefix("10.99.0.83/24") },
			want: told{Reason: dhcp.SilentNoAddress},
		},
		"Both": {
			reason: "its first address is DHCPv4's, its second one is ours", plan: dual, want: told{Advertised, adv, ""},
		},
		"BothRequest": {
			reason: "and so is all that goes on from it", plan: dual, req: all(ofType(dhcpv6.MessageTypeRequest), toUs(testServer)), want: told{dhcp.Acknowledged, reply, ""},
		},
		"BothConfirm": {
			reason: "that one alone is right here", plan: dual, req: all(ofType(dhcpv6.MessageTypeConfirm), having(testAddress)), want: told{Confirmed, reply, ""},
		},
		"BothDecline": {
			reason: "and that one is what another may have", plan: dual, req: all(ofType(dhcpv6.MessageTypeDecline), toUs(testServer), having(testAddress)), want: told{dhcp.Declined, reply, ""},
		},
		"FromServer": {reason: "an ADVERTISE is no request", req: ofType(dhcpv6.MessageTypeAdvertise), want: told{Reason: dhcp.SilentNotRequest}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.req == nil {
				tc.req = all()
			}
			if !tc.from.IsValid() {
				tc.from = testLink
			}
			change := []func(*boot.Plan){}
			if tc.plan != nil {
				change = append(change, tc.plan)
			}
			v := testView(testState(tc.segment, testPlan(change...)))
			a, got := answered(t, v, request(t, tc.req), onLink(tc.from))
			is := told{Reason: a.Reason, Stage: a.Stage}
			if got != nil {
				is.Type = got.MessageType
				if want := netip.AddrPortFrom(tc.from, 546); a.To != want {
					t.Errorf("%s: sent to %s, not to %s", tc.reason, a.To, want)
				}
				if got.TransactionID != (dhcpv6.TransactionID{1, 2, 3}) {
					t.Errorf("%s: transaction %v", tc.reason, got.TransactionID)
				}
			}
			if diff := cmp.Diff(tc.want, is); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestWhatIsGiven: each address of an answer, and what makes it useful, whether the machine has one of IPv4 as well or not.
func TestWhatIsGiven(t *testing.T) {
	for name, also := range map[string]func(*boot.Plan){"One": func(*boot.Plan) {}, "Both": dual} {
		t.Run(name, func(t *testing.T) { whatIsGiven(t, testView(testState(nil, testPlan(also)))) })
	}
}

func whatIsGiven(t *testing.T, v View) {
	t.Helper()
	a, got := answered(t, v, request(t), onLink(testLink))
	if got == nil {
		t.Fatal(a.Reason)
	}
	ia := got.Options.OneIANA()
	if ia == nil || ia.IaId != [4]byte{1, 2, 3, 4} || ia.T1.Minutes() != 30 || ia.T2.Minutes() != 48 {
		t.Fatalf("association %v", ia)
	}
	given := ia.Options.OneAddress()
	if given == nil || given.IPv6Addr.String() != testAddress.String() || given.ValidLifetime.Hours() != 1 || given.PreferredLifetime.Hours() != 1 {
		t.Errorf("address %v", given)
	}
	if p := got.Options.Preference(); p != 255 {
		t.Errorf("preference %d", p)
	}
	if dns := got.Options.DNS(); len(dns) != 1 || dns[0].String() != "fd00:99::53" {
		t.Errorf("DNS %v", dns)
	}
	if ntp := got.Options.NTPServers(); len(ntp) != 1 || ntp[0].String() != "fd00:99::123" {
		t.Errorf("NTP %v", ntp)
	}
	if d := got.Options.DomainSearchList(); d == nil || len(d.Labels) != 1 || d.Labels[0] != "rack.example" {
		t.Errorf("domain %v", d)
	}
	if f := got.Options.BootFileURL(); f != "" {
		t.Errorf("a system is told to load %s", f)
	}
	if id := got.Options.ServerID(); id == nil || string(id.ToBytes()) != string(ServerID(testServer)) {
		t.Errorf("server %v", id)
	}
}

// TestRenewTakesBack: an address that isn't planned any more is good no longer, and the planned one is given beside it.
func TestRenewTakesBack(t *testing.T) {
	old := netip.MustParseAddr("fd00:99::84")
	v := testView(testState(nil, testPlan()))
	_, got := answered(t, v, request(t, ofType(dhcpv6.MessageTypeRenew), toUs(testServer), having(old)), onLink(testLink))
	if got == nil {
		t.Fatal("silence")
	}
	valid := map[string]float64{}
	for _, a := range got.Options.OneIANA().Options.Addresses() {
		valid[a.IPv6Addr.String()] = a.ValidLifetime.Seconds()
	}
	if diff := cmp.Diff(map[string]float64{testAddress.String(): 3600, old.String(): 0}, valid); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestOtherAssociations(t *testing.T) {
	v := testView(testState(nil, testPlan()))
	_, got := answered(t, v, request(t,
		func(d dhcpv6.DHCPv6) { d.AddOption(&dhcpv6.OptIANA{IaId: [4]byte{9}}) }, dhcpv6.WithIATA([4]byte{7}), dhcpv6.WithIAPD([4]byte{8})), onLink(testLink))
	if got == nil {
		t.Fatal("silence")
	}
	ias := got.Options.IANA()
	if len(ias) != 2 || ias[0].Options.OneAddress() == nil || ias[1].Options.OneAddress() != nil {
		t.Fatalf("associations %v", ias)
	}
	if s := ias[1].Options.Status(); s == nil || s.StatusCode != 2 {
		t.Errorf("status of a second one: %v", s)
	}
	if ta := got.Options.OneIATA(); ta == nil || ta.Options.Status() == nil || ta.Options.Status().StatusCode != 2 {
		t.Errorf("temporary: %v", ta)
	}
	if pd := got.Options.OneIAPD(); pd == nil || pd.Options.Status() == nil || pd.Options.Status().StatusCode != 6 {
		t.Errorf("prefix: %v", pd)
	}
}

func TestBootFile(t *testing.T) {
	cases := map[string]struct {
		reason string
		req    dhcpv6.Modifier
		stage  boot.FirstStage
		view   func(*View)
		file   string
		class  string
	}{
		"PXE":        {reason: "RFC 5970: a URL with the address in brackets; EDK2 wants no class", req: asPXE(), file: "tftp://[fd00:99::1]/snponly.efi"},
		"PXENoTFTP":  {reason: "where TFTP isn't served nobody is sent there", req: asPXE(), view: func(v *View) { v.TFTP = false }},
		"HTTP":       {reason: "UEFI takes no answer without its class", req: asHTTP(), file: "http://[fd00:99::1]:8080/v1/firmware/snponly.efi", class: "HTTPClient"},
		"HTTPClosed": {reason: "nor by HTTP", req: asHTTP(), view: func(v *View) { v.HTTPPort = 0 }},
		"PXENoHTTP":  {reason: "an iPXE that finds no script would load itself over and over", req: asPXE(), view: func(v *View) { v.HTTPPort = 0 }},
		"IPXENoHTTP": {reason: "and one that's there already is told nothing", req: asIPXE(), view: func(v *View) { v.HTTPPort = 0 }},
		"HTTPByClass": {
			reason: "the class decides, not the number", req: all(arch(7), class("HTTPClient:Arch:00007:UNDI:003000")),
			file: "http://[fd00:99::1]:8080/v1/firmware/snponly.efi", class: "HTTPClient",
		},
		"Native":     {reason: "with drivers of its own", req: asPXE(), stage: boot.FirstStageNativeIPXE, file: "tftp://[fd00:99::1]/ipxe.efi"},
		"NativeHTTP": {reason: "the same by its URL", req: asHTTP(), stage: boot.FirstStageNativeIPXE, file: "http://[fd00:99::1]:8080/v1/firmware/ipxe.efi", class: "HTTPClient"},
		"NativeNone": {
			reason: "where it isn't there the firmware's driver isn't gone by instead", req: asPXE(), stage: boot.FirstStageNativeIPXE,
			view: func(v *View) { v.Files.NativeAMD64 = "" },
		},
		"Shim":  {reason: "with Secure Boot no iPXE runs", req: asPXE(), stage: boot.FirstStageShim},
		"ARM64": {reason: "there's no first stage", req: arch(11)},
		"IA32":  {reason: "nor one for other firmware", req: all(arch(6), class("PXEClient:Arch:00006:UNDI:003000"))},
		"OS":    {reason: "a system boots nothing"},
		"Advertised": {
			reason: "an address for somebody else's NAT", req: asPXE(), view: func(v *View) { v.Advertise = netip.MustParseAddr("2001:db8::9") },
			file: "tftp://[2001:db8::9]/snponly.efi",
		},
		"AdvertisedIPv4": {
			reason: "one of IPv4 is no machine's of IPv6", req: asPXE(), view: func(v *View) { v.Advertise = netip.MustParseAddr("10.0.0.9") },
			file: "tftp://[fd00:99::1]/snponly.efi",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.req == nil {
				tc.req = all()
			}
			v := testView(testState(nil, testPlan(func(p *boot.Plan) { p.FirstStage = tc.stage })))
			if tc.view != nil {
				tc.view(&v)
			}
			_, got := answered(t, v, request(t, tc.req), onLink(testLink))
			if got == nil {
				t.Fatal("silence")
			}
			if f := got.Options.BootFileURL(); f != tc.file {
				t.Errorf("%s: file %q, want %q", tc.reason, f, tc.file)
			}
			class := ""
			for _, c := range got.Options.VendorClass(343) {
				class = string(c)
			}
			if class != tc.class {
				t.Errorf("%s: class %q, want %q", tc.reason, class, tc.class)
			}
		})
	}
}

// TestScriptToken: iPXE gets the URL of its script, with a token of its exchange, the same from every replica with the same address.
func TestScriptToken(t *testing.T) {
	v := testView(testState(nil, testPlan()))
	_, first := answered(t, v, request(t, asIPXE()), onLink(testLink))
	_, again := answered(t, v, request(t, asIPXE()), onLink(testLink))
	other := request(t, asIPXE())
	other.TransactionID = dhcpv6.TransactionID{3, 2, 1}
	_, later := answered(t, v, other, onLink(testLink))
	url := first.Options.BootFileURL()
	if len(url) < 100 || url[:len("http://[fd00:99::1]:8080/v1/boot/")] != "http://[fd00:99::1]:8080/v1/boot/" {
		t.Fatalf("script at %q", url)
	}
	if again.Options.BootFileURL() != url {
		t.Error("the same request got another token")
	}
	if later.Options.BootFileURL() == url {
		t.Error("another exchange got the same token")
	}
	v.Keys = nil
	if a, got := answered(t, v, request(t, asIPXE()), onLink(testLink)); got != nil || a.Reason != dhcp.SilentNoKeys {
		t.Errorf("without keys: %s", a.Reason)
	}
}
