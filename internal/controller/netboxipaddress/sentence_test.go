package netboxipaddress

import (
	"errors"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
)

func TestSentence(t *testing.T) {
	const cfg = `ClusterProviderConfig "netbox"`
	in := inputs{config: cfg, from: `prefix "10.77.0.0/24" of the global table`, field: "crossplane_claim"}
	nb := func(k netbox.Kind, op, subject string, status int, reason string, fields ...string) error {
		return &netbox.Error{Kind: k, Op: op, Subject: subject, Status: status, Reason: reason, Fields: fields}
	}
	boom := errors.New("boom")
	cases := map[string]struct {
		err    error
		reason xpv2.ConditionReason
		want   string
	}{
		"PrefixMissing": {
			nb(netbox.KindNotFound, "find in the global table the prefix", "10.77.0.0/24", 0, ""), v1alpha1.ReasonNotFound,
			`cannot find in the global table the prefix "10.77.0.0/24": NetBox has none, or the token of ` + cfg + ` may not see it; create it in NetBox, or correct spec.forProvider`,
		},
		"PrefixFull": {
			nb(netbox.KindFull, "allocate an address in prefix", "10.77.0.0/24", 409, ""), v1alpha1.ReasonExhausted,
			`no address is free in prefix "10.77.0.0/24" of the global table: free one in NetBox, or name another prefix; it is tried again`,
		},
		"WrongToken": {
			nb(netbox.KindUnauthorized, "x", "", 403, ""), v1alpha1.ReasonUnauthorized,
			`the NetBox of ` + cfg + ` doesn't accept the token: it is wrong, expired, disabled or not allowed from here; correct the Secret`,
		},
		"TooNewToken": {
			&netbox.Error{Kind: netbox.KindUnauthorized, Op: "x", Status: 403, Hint: "it's NetBox 4.4"}, v1alpha1.ReasonUnauthorized,
			`the NetBox of ` + cfg + ` doesn't accept the token: it is wrong, expired, disabled or not allowed from here; correct the Secret; it's NetBox 4.4`,
		},
		"ReadOnlyToken": {
			nb(netbox.KindForbidden, "allocate an address in prefix", "10.77.0.0/24", 403, ""), v1alpha1.ReasonForbidden,
			`the token of ` + cfg + ` is valid but may not allocate an address in prefix "10.77.0.0/24": it may be read-only, or lack a right; it needs to view prefixes, and to view, add, change and delete IP addresses`,
		},
		"NoRightToAdd": {
			&netbox.Error{Kind: netbox.KindForbidden, Op: "allocate an address in prefix", Subject: "10.77.0.0/24", Status: 403, Needs: netbox.Right{Permission: "ipam.add_ipaddress", ObjectType: "ipam.ipaddress"}}, v1alpha1.ReasonForbidden,
			`the token of ` + cfg + ` is valid but may not allocate an address in prefix "10.77.0.0/24": it may be read-only, or lack permission ipam.add_ipaddress on ipam.ipaddress, or have it with constraints that leave this out`,
		},
		"NoRightToView": {
			&netbox.Error{Kind: netbox.KindForbidden, Op: "find in the global table the prefix", Subject: "10.77.0.0/24", Status: 403, Needs: netbox.Right{Permission: "ipam.view_prefix", ObjectType: "ipam.prefix"}}, v1alpha1.ReasonForbidden,
			`the token of ` + cfg + ` is valid but may not find in the global table the prefix "10.77.0.0/24": it lacks permission ipam.view_prefix on ipam.prefix`,
		},
		"NoRightToRead": {
			nb(netbox.KindForbidden, "read the version of NetBox", "", 403, ""), v1alpha1.ReasonForbidden,
			`the token of ` + cfg + ` is valid but may not read the version of NetBox: it may be read-only, or lack a right; it needs to view prefixes, and to view, add, change and delete IP addresses`,
		},
		"Down": {
			nb(netbox.KindUnreachable, "x", "", 0, "the connection was refused"), v1alpha1.ReasonUnreachable,
			`the NetBox of ` + cfg + ` can't be reached (the connection was refused): nothing was changed; it is tried again`,
		},
		"Failing": {
			nb(netbox.KindServerError, "x", "", 500, "y"), v1alpha1.ReasonUnreachable,
			`the NetBox of ` + cfg + ` can't be reached (status 500): nothing was changed; it is tried again`,
		},
		"Lost": {
			nb(netbox.KindUnknownOutcome, "x", "", 0, "no answer came in time; whether the write happened is looked up next"), v1alpha1.ReasonUnreachable,
			`the NetBox of ` + cfg + ` was lost in the middle of a change (no answer came in time): it is looked up first whether the change was made, so nothing is made twice`,
		},
		"Certificate": {
			nb(netbox.KindUntrusted, "x", "", 0, ""), v1alpha1.ReasonUntrustedCertificate,
			`the certificate of the NetBox of ` + cfg + ` isn't trusted: set tls.caBundle or tls.pinnedSHA256 there; no token was sent`,
		},
		"Loopback": {
			nb(netbox.KindNotAllowed, "x", "", 0, ""), v1alpha1.ReasonNotAllowed,
			`the URL of ` + cfg + ` leads to a loopback or link-local address, or into the cluster itself, to which no token is sent: correct the URL`,
		},
		"NotNetBox": {
			nb(netbox.KindUnexpected, "read the version of NetBox", "", 301, "redirects aren't followed"), v1alpha1.ReasonInvalid,
			`what answers at the URL of ` + cfg + ` isn't a NetBox that can be used (cannot read the version of NetBox: NetBox answered 301: redirects aren't followed): correct the URL`,
		},
		"Firewall": {
			nb(netbox.KindUnexpected, "read address number", "7", 403, "that isn't an answer NetBox gives"), v1alpha1.ReasonInvalid,
			`something in front of the NetBox of ` + cfg + `, or in its place, answered with status 403 in its own words (cannot read address number "7": NetBox answered 403: that isn't an answer NetBox gives): have it let this through, or correct the URL`,
		},
		"ToLook": {
			nb(netbox.KindReadOnly, "x", "", 0, "y"), v1alpha1.ReasonForbidden,
			cfg + ` is for looking at addresses alone (access: ReadOnly), so nothing was written to its NetBox: set managementPolicies: [Observe] here, or spec.netbox.access: ReadWrite there`,
		},
		"MarkerField": {
			nb(netbox.KindMarkerField, "x", "crossplane_claim", 0, "it isn't unique; correct it in NetBox"), v1alpha1.ReasonInvalid,
			`custom field "crossplane_claim" of the NetBox of ` + cfg + ` can't hold our marker, without which no address is taken: it isn't unique; correct it in NetBox`,
		},
		"Ambiguous": {
			nb(netbox.KindAmbiguous, "find the VRF", "prod", 0, "NetBox has 2 of that name; name one by its rd or id"), v1alpha1.ReasonAmbiguous,
			`cannot find the VRF "prod": NetBox has 2 of that name; name one by its rd or id`,
		},
		"Hidden": {
			nb(netbox.KindMarkerTaken, "x", "", 400, ""), v1alpha1.ReasonConflict,
			`NetBox refuses a record for this resource, and shows none: either one with its marker is hidden from the token of ` + cfg + `, which needs to see all that it made, another custom field is required on addresses (set that in spec.forProvider.customFields), a value there is none of its field's choices, or a rule of that NetBox itself refuses it`,
		},
		"Changed": {
			nb(netbox.KindConflict, "update address number", "7", 412, "the record changed or is in use"), v1alpha1.ReasonConflict,
			`cannot update address number "7": the record changed or is in use; it is looked at again`,
		},
		"BadValue": {
			nb(netbox.KindInvalid, "x", "", 400, "", "tags", "tenant"), v1alpha1.ReasonInvalid,
			`the NetBox of ` + cfg + ` doesn't take what spec.forProvider says: tags (each must exist, and be for IP addresses), tenant (it must exist); correct it there, or have it made in NetBox`,
		},
		"BadStatus": {
			nb(netbox.KindInvalid, "x", "", 400, "", "status", "dns_name", "assigned_object_id", "assigned_object_type", "odd"), v1alpha1.ReasonInvalid,
			`the NetBox of ` + cfg + ` doesn't take what spec.forProvider says: status (NetBox has none of that name, or not for this address: slaac is for IPv6 alone), dnsName (NetBox takes letters, digits, hyphens, underscores, dots and asterisks), assignTo (the interface may be gone), what NetBox calls odd; correct it there, or have it made in NetBox`,
		},
		"NotLetGo": {
			nb(netbox.KindInvalid, netbox.OpRelease, "7", 400, "", "address"), v1alpha1.ReasonConflict,
			`the NetBox of ` + cfg + ` doesn't let go of record 7 as spec.forProvider.release says, for what it requires of it by now: address (another record may have it); put that right in NetBox, or set release.policy: Delete`,
		},
		"BadURL": {
			nb(netbox.KindInvalid, "use the NetBox URL", "", 0, "it must look like https://netbox.example/"), v1alpha1.ReasonInvalid,
			`cannot use the NetBox URL: it must look like https://netbox.example/`,
		},
		"Foreign": {
			ownerError{id: 5, owner: ownerOther}, v1alpha1.ReasonConflict,
			`external name 5 is a record in NetBox that belongs to another resource: nothing is written to it; correct annotation crossplane.io/external-name, or take it off to have an address of its own`,
		},
		"OtherCluster": {
			ownerError{id: 5, owner: ownerCluster}, v1alpha1.ReasonConflict,
			`external name 5 is a record in NetBox that belongs to another cluster: nothing is written to it; correct annotation crossplane.io/external-name, or take it off to have an address of its own`,
		},
		"Unmarked": {
			ownerError{id: 5, owner: ownerNobody}, v1alpha1.ReasonConflict,
			`external name 5 is a record in NetBox that carries no marker of ours in custom field "crossplane_claim": nothing is written to it; correct annotation crossplane.io/external-name, or take it off to have an address of its own, or set spec.forProvider.adopt: ExternalName to take it over`,
		},
		"UnmarkedAndDeleted": {
			ownerError{id: 5, owner: ownerNobody, had: true, going: true}, v1alpha1.ReasonConflict,
			`record 5, which this resource is to release, carries no marker of ours in custom field "crossplane_claim": nothing is written to it, and the resource stays; put that right in NetBox or delete the record there, or set spec.forProvider.release.policy: Keep to leave it as it is`,
		},
		"Malformed": {malformedError{"exactly one of from and address must be set"}, v1alpha1.ReasonInvalid, `spec.forProvider is not usable: exactly one of from and address must be set`},
		"NotAllowed": {
			notAllowedError{`prefix or address "10.78.0.0/24"`, "team-a"}, v1alpha1.ReasonNotAllowed,
			`prefix or address "10.78.0.0/24" is not allowed for namespace "team-a" by the policies of ` + cfg + `: ask for what they allow, or ask their owner to extend them`,
		},
		"Name": {
			nameError{"web-1"}, v1alpha1.ReasonInvalid,
			`external name "web-1" is not a number, as NetBox's ids are: correct annotation crossplane.io/external-name, or take it off`,
		},
		"NotKept": {
			unkeptError{"customFields"}, v1alpha1.ReasonInvalid,
			`the NetBox of ` + cfg + ` accepted a change of customFields and kept something else: a custom field may be missing there, or store another form of the value; correct spec.forProvider, or the field in NetBox; it is tried again after 10 minutes`,
		},
		"TakenByOther": {
			takenError{address: "10.77.0.40/24", id: 9, by: "another cluster", url: "https://n/9/"}, v1alpha1.ReasonConflict,
			`address "10.77.0.40/24" is another record's in NetBox (record 9 of another cluster: https://n/9/): ask for another address, or have it freed there; it is tried again`,
		},
		"TakenAssigned": {
			takenError{address: "10.77.0.40/24", id: 9, by: "somebody else", on: `interface "eno1" of device "db-1"`}, v1alpha1.ReasonConflict,
			`address "10.77.0.40/24" is another record's in NetBox (record 9 of somebody else, on interface "eno1" of device "db-1"): ask for another address, or have it freed there; it is tried again`,
		},
		"TakenPopulated": {
			takenError{address: "10.77.0.40/24", inside: `range "10.77.0.30-10.77.0.50/24" of the global table`, cause: boom}, v1alpha1.ReasonConflict,
			`NetBox doesn't take address "10.77.0.40/24": it is inside range "10.77.0.30-10.77.0.50/24" of the global table, which is marked as populated; ask for another address, or have the mark taken off; it is tried again`,
		},
		"TakenHidden": {
			takenError{address: "10.77.0.40/24", cause: boom}, v1alpha1.ReasonConflict,
			`NetBox doesn't take address "10.77.0.40/24": another record has it that the token may not see, or it is inside a range that is marked as populated; ask for another address, or have it freed there; it is tried again`,
		},
		"Outside": {
			outsideError{"10.77.0.40", netbox.VRFRef{Global: true}, &netbox.Error{Elsewhere: `it is inside one of VRF "prod"`}}, v1alpha1.ReasonInvalid,
			`address "10.77.0.40" is outside any prefix of the global table (it is inside one of VRF "prod"): create the prefix in NetBox, or ask for an address in one that is there`,
		},
		"Elsewhere": {
			&netbox.Error{Kind: netbox.KindNotFound, Op: "find a prefix with", Subject: "role x", Elsewhere: "NetBox has no such role"}, v1alpha1.ReasonNotFound,
			`cannot find a prefix with "role x": NetBox has no such role; correct spec.forProvider, or NetBox`,
		},
		"Full": {
			fullError{sources: []string{`prefix "10.77.0.0/24" of VRF "a" (254 of 254 used)`, `range "b"`}, others: 2}, v1alpha1.ReasonExhausted,
			`no address is free in prefix "10.77.0.0/24" of VRF "a" (254 of 254 used) and range "b" (2 that can't serve anyway are in status.atProvider.sources): free one in NetBox, or name another source; it goes on as soon as one is free`,
		},
		"Config": {&config.Error{Reason: v1alpha1.ReasonNotAllowed}, v1alpha1.ReasonNotAllowed, ""},
		"Other":  {boom, v1alpha1.ReasonUnreachable, `cannot use ` + cfg + `: boom`},
		"Again":  {&trouble{reason: v1alpha1.ReasonExhausted, message: "as it was"}, v1alpha1.ReasonExhausted, "as it was"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := sentence(tc.err, in)
			if got.reason != tc.reason || got.message != tc.want {
				t.Errorf("got  %s: %s\nwant %s: %s", got.reason, got.message, tc.reason, tc.want)
			}
			if strings.Contains(got.message, "\n") || got.Error() != got.message {
				t.Errorf("one line, and the error's own text: %q", got.message)
			}
		})
	}
}
