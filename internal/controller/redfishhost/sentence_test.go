package redfishhost

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
)

func TestSentence(t *testing.T) {
	in := inputs{address: "10.0.7.12", secret: "r7-u12-bmc"} //nolint:gosec // The name of a Secret.
	cases := map[string]struct {
		reason string
		err    error
		in     inputs
		want   trouble
	}{
		"WrongPassword": {
			reason: "What to correct, and that nothing is tried in the meantime.", in: in,
			err:  &redfish.Error{Kind: redfish.Unauthorized, Status: 401},
			want: trouble{"Unauthorized", `the BMC at "10.0.7.12" refused the user name or password of Secret "r7-u12-bmc": correct the Secret; it is tried once per change, since BMCs lock accounts`},
		},
		"WrongPasswordOfConfig": {
			reason: "A Secret of another namespace isn't named.", in: inputs{address: "10.0.7.12"},
			err:  &redfish.Error{Kind: redfish.Unauthorized, Status: 401},
			want: trouble{"Unauthorized", `the BMC at "10.0.7.12" refused the user name or password of the provider config: correct the Secret; it is tried once per change, since BMCs lock accounts`},
		},
		"OtherWords": {
			reason: "It may be something else.", in: in,
			err:  &redfish.Error{Kind: redfish.Unauthorized, Status: 403, MessageID: "Base.1.8.InsufficientPrivilege"},
			want: trouble{"Unauthorized", `the BMC at "10.0.7.12" doesn't let the user of Secret "r7-u12-bmc" log in (status 403 (Base.1.8.InsufficientPrivilege)): the user name or password is wrong, or all its sessions are in use; correct the Secret, or end other programs' sessions on the BMC; it is tried again less and less often, every two hours at last, since BMCs lock accounts`},
		},
		"Forbidden": {
			reason: "The BMC's own word is shown.", in: in,
			err:  &redfish.Error{Kind: redfish.Forbidden, Status: 403, MessageID: "Base.1.8.InsufficientPrivilege"},
			want: trouble{"Forbidden", `the BMC at "10.0.7.12" doesn't let the user of Secret "r7-u12-bmc" do this (Base.1.8.InsufficientPrivilege): give it the Operator role`},
		},
		"FirstPassword": {
			reason: "A new BMC.", in: in,
			err:  &redfish.Error{Kind: redfish.PasswordChangeRequired, Status: 403},
			want: trouble{"PasswordChangeRequired", `the BMC at "10.0.7.12" lets the user of Secret "r7-u12-bmc" do nothing but change the password: change it on the BMC, and then in the Secret, or have it done by credentialsRotation, if this host is new`},
		},
		"SessionsFull": {
			reason: "Where others hold all of them.", in: in,
			err:  &redfish.Error{Kind: redfish.SessionsFull, Status: 503},
			want: trouble{"SessionsFull", `the BMC at "10.0.7.12" has no session left for us: end those of other programs on the BMC, or set auth of the provider config to Auto, which does without one`},
		},
		"OldTLS": {
			reason: "What would have to be allowed, and what that costs.", in: in,
			err:  &redfish.Error{Kind: redfish.OldTLS},
			want: trouble{"NotSupported", `the BMC at "10.0.7.12" speaks no TLS that is allowed (): give it newer firmware, or allow what it speaks by tls.minVersion of the provider config, TLS10 or TLS11: who listens may be able to read the password then`},
		},
		"Silent": {
			reason: "It answers: nobody looks for a cable.", in: in, err: silentError{"serial number"},
			want: trouble{"Unreachable", `the BMC at "10.0.7.12" answers, but doesn't tell the machine's serial number, by which this host knows it: it's waited for, and nothing is written; where it stays so after an update of its firmware, make sure that it's the right machine, and take the annotations baremetal.m.crossplane.io/identity and crossplane.io/external-name off this host`},
		},
		"Unreachable": {
			reason: "Where it doesn't answer, and what to look at.", in: in,
			err:  &redfish.Error{Kind: redfish.Unreachable, Status: 503},
			want: trouble{"Unreachable", `the BMC at "10.0.7.12" doesn't answer (: status 503): check its power, network and firewall; it is tried again`},
		},
		"UntrustedCertificate": {
			reason: "Which of the two ways to trust it.", in: in,
			err:  &redfish.Error{Kind: redfish.UntrustedCertificate},
			want: trouble{"UntrustedCertificate", `the certificate of the BMC at "10.0.7.12" isn't trusted (): give the provider config its CA, or pin the fingerprint in tls.pinnedSHA256 after checking it`},
		},
		"NotAllowed": {
			reason: "That no credential left.", in: in,
			err:  &redfish.Error{Kind: redfish.NotAllowed},
			want: trouble{"NotAllowed", `BMC address "10.0.7.12" may not be used (): no credential was sent; correct the address or allowedAddresses`},
		},
		"NoSystem": {
			reason: "How many there are.", in: in,
			err:  &redfish.Error{Kind: redfish.NoSystem, Count: 1},
			want: trouble{"NotFound", `the BMC at "10.0.7.12" has 1 System, none of which is the one that is selected: correct spec.forProvider.system`},
		},
		"SeveralSystems": {
			reason: "How to choose.", in: in,
			err:  &redfish.Error{Kind: redfish.Ambiguous, Count: 4},
			want: trouble{"Ambiguous", `the BMC at "10.0.7.12" has 4 Systems that can be meant: choose one by id, uuid or serial in spec.forProvider.system`},
		},
		"WhichSystem": {
			reason: "What tells them apart.", in: in,
			err: &redfish.Error{Kind: redfish.Ambiguous, Count: 2, Systems: []redfish.Choice{
				{Identity: redfish.Identity{ID: "Node0", Serial: "DP20300012"}, Power: redfish.PowerOn, CanReset: true},
				{Identity: redfish.Identity{ID: "Node1", UUID: "u"}, CanReset: true},
			}},
			want: trouble{"Ambiguous", `the BMC at "10.0.7.12" has 2 Systems that can be meant: "Node0" (serial DP20300012, PoweredOn), "Node1" (UUID u, power unknown): choose one by id, uuid or serial in spec.forProvider.system`},
		},
		"NotThatBoard": {
			reason: "A board isn't a machine.", in: in,
			err: &redfish.Error{Kind: redfish.NoSystem, Count: 1, Systems: []redfish.Choice{
				{Identity: redfish.Identity{ID: "HGX_Baseboard_0", Model: "P4764"}, Power: redfish.PowerOn},
			}},
			want: trouble{"NotFound", `the BMC at "10.0.7.12" has 1 System, none of which is the one that is selected: "HGX_Baseboard_0" (P4764, can't be switched): correct spec.forProvider.system`},
		},
		"WebServer": {
			reason: "What answers instead, and nothing that it says.", in: in,
			err:  &redfish.Error{Kind: redfish.Protocol, Status: 200, ContentType: "text/html"},
			want: trouble{"NotFound", `what answers at "10.0.7.12" isn't a BMC with Redfish (: status 200, text/html): correct the address, or switch Redfish on in the BMC`},
		},
		"Enclosure": {
			reason: "A BMC, and of no machine.", in: in,
			err:  &redfish.Error{Kind: redfish.NotFound, Status: 404, Field: redfish.NoSystems},
			want: trouble{"NotFound", `the BMC at "10.0.7.12" has no list of Systems, as that of an enclosure or a power strip: give the address of a machine's own BMC; one that is starting is looked at again`},
		},
		"Guarded": {
			reason: "It wants a password for what every BMC tells strangers.", in: in,
			err:  &redfish.Error{Kind: redfish.Protocol, Status: 401},
			want: trouble{"NotFound", `what answers at "10.0.7.12" wants a password before it says what it is (: status 401), and wasn't told one, as no BMC with Redfish asks for that: correct the address, or, where it's a BMC all the same, set auth of the provider config to Basic`},
		},
		"NotRedfish": {
			reason: "Something else is there.", in: in,
			err:  &redfish.Error{Kind: redfish.NotFound, Status: 404},
			want: trouble{"NotFound", `what answers at "10.0.7.12" isn't a BMC with Redfish (: status 404): correct the address, or switch Redfish on in the BMC`},
		},
		"NoEffect": {
			reason: "Which field.", in: in,
			err:  &redfish.Error{Kind: redfish.NoEffect, Field: "Boot.BootSourceOverrideTarget"},
			want: trouble{"NoEffect", `the BMC at "10.0.7.12" accepted a change of Boot.BootSourceOverrideTarget and didn't make it: look for a pending BIOS job or a lockdown on the BMC; it is tried again`},
		},
		"Unsupported": {
			reason: "Which field.", in: in,
			err:  &redfish.Error{Kind: redfish.Unsupported, Field: "BootSourceOverrideTarget Pxe"},
			want: trouble{"NotSupported", `the BMC at "10.0.7.12" doesn't offer BootSourceOverrideTarget Pxe`},
		},
		"Refused": {
			reason: "With the BMC's own word.", in: in,
			err:  &redfish.Error{Kind: redfish.Refused, Status: 400, MessageID: "Base.1.8.PropertyUnknown"},
			want: trouble{"Refused", `the BMC at "10.0.7.12" refused (: status 400 (Base.1.8.PropertyUnknown)): it is tried again`},
		},
		"Duplicate": {
			reason: "The other one, in the same namespace.", in: inputs{address: "10.0.7.12", other: "r7-u11"}, err: errDuplicate,
			want: trouble{"Duplicate", `the machine behind BMC "10.0.7.12" is managed by RedfishHost "r7-u11" already: nothing is written to it from here; delete one of the two`},
		},
		"ForeignDuplicate": {
			reason: "The other one isn't named across namespaces.", in: in, err: errDuplicate,
			want: trouble{"Duplicate", `the machine behind BMC "10.0.7.12" is managed by another RedfishHost already: nothing is written to it from here; delete one of the two`},
		},
		"IdentityChanged": {
			reason: "Who it was, who it is.", in: inputs{address: "10.0.7.12", was: "ABC", is: "XYZ"}, err: errIdentityChanged,
			want: trouble{"IdentityChanged", `the BMC at "10.0.7.12" shows machine "XYZ", but this host is "ABC": nothing is written to it; correct the address, or, where it's the same machine with another board, make sure that it's the right machine, and take the annotations baremetal.m.crossplane.io/identity and crossplane.io/external-name off this host`},
		},
		"Config":  {reason: "The config's own sentence.", in: in, err: &config.Error{Reason: "NotAllowed"}, want: trouble{"NotAllowed", ""}},
		"Foreign": {reason: "Anything else.", in: in, err: errors.New("boom"), want: trouble{"Unreachable", `cannot talk to the BMC at "10.0.7.12": boom`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := sentence(tc.err, tc.in)
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(trouble{})); diff != "" {
				t.Errorf("\n%s\nsentence(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestEveryKindHasASentence(t *testing.T) {
	for _, k := range []redfish.Kind{
		redfish.Unauthorized, redfish.Forbidden, redfish.Unreachable, redfish.UntrustedCertificate, redfish.NotAllowed, redfish.NotFound,
		redfish.Ambiguous, redfish.NoSystem, redfish.NoEffect, redfish.Unsupported, redfish.Refused, redfish.Protocol,
		redfish.PasswordChangeRequired, redfish.SessionsFull, redfish.OldTLS,
	} {
		got := sentence(&redfish.Error{Kind: k}, inputs{address: "10.0.7.12"})
		if got.reason == "" || !strings.Contains(got.message, "10.0.7.12") {
			t.Errorf("%s: got %v, want a reason, and the BMC's address", k, got)
		}
	}
}

// TestManySystems: a list of all of them would be no sentence.
func TestManySystems(t *testing.T) {
	got := sentence(&redfish.Error{Kind: redfish.Ambiguous, Count: 64, Systems: make([]redfish.Choice, 16)}, inputs{address: "10.0.7.12"})
	if !strings.Contains(got.message, "and 10 more in status.atProvider.systems: choose one") || len(got.message) > 600 {
		t.Errorf("got %q", got.message)
	}
}
