package v1alpha1

import "encoding/json"

// Annotations hold the facts that must survive a backup that loses status. Only the provider and
// operators may write them (a ValidatingAdmissionPolicy sees to it).
const (
	// AnnotationGranted records, on BootEntry and RedfishHost, the newest grant: a GrantRecord as
	// JSON. It's written before the grant itself.
	AnnotationGranted = Group + "/granted"
	// AnnotationInstalled records, on BootEntry and RedfishHost, what is installed: an
	// InstalledRecord as JSON.
	AnnotationInstalled = Group + "/installed"
	// AnnotationJournal records, on RedfishHost, what the provider is about to do to the BMC.
	AnnotationJournal = Group + "/journal"
	// AnnotationIdentity records, on RedfishHost, which machine it is: an IdentityRecord as JSON. It's written before anything is done
	// to the machine (but by a host of an older version that is being deleted), and what it says is never changed.
	AnnotationIdentity = Group + "/identity"
	// AnnotationTLSPin records, on a RedfishHost that is only observed, the SHA-256 of the certificate that was trusted on first use.
	// Elsewhere that is in its spec.
	AnnotationTLSPin = Group + "/tls-pin"
	// AnnotationBoot records, on HostClaim, for which generation its host was powered on: a
	// BootRecord as JSON.
	AnnotationBoot = Group + "/boot"
	// AnnotationQuestion records, on HostClaim and BootEntry, the open question behind
	// NeedsConfirmation: a QuestionRecord as JSON.
	AnnotationQuestion = Group + "/question"
	// AnnotationDeclined is when (RFC 3339) the machine of a BootEntry declined an address, of the newest time that an Event was recorded
	// for. Nothing else rests on it: whoever changes it hears of it once more.
	AnnotationDeclined = Group + "/declined"
	// AnnotationForceRelease, set by an operator on a HostClaim that is being deleted, gives up its
	// unreachable host: the value is the reason. The host is quarantined, its addresses are held. On a
	// RedfishHost it does the same, where the host's claim is gone without a release.
	AnnotationForceRelease = Group + "/force-release"
	// AnnotationQuarantined marks a RedfishHost that was given up; the value is the reason. An
	// operator takes it off when the machine has been looked after.
	AnnotationQuarantined = Group + "/quarantined"
	// AnnotationAsked is another word each time that NetBox is asked for a record of a NetBoxIPAddress, and AnnotationAnswered is it as
	// soon as it was answered: where they differ, what was asked for last may be carried out late. AnnotationUnanswered is when (RFC 3339)
	// something that was asked for and never answered was given up, by NetBox, too: two minutes after it was begun, at least.
	AnnotationAsked      = Group + "/asked"
	AnnotationAnswered   = Group + "/answered"
	AnnotationUnanswered = Group + "/unanswered"
	// AnnotationMadeOn is the interface that NetBox was last asked to make a NetBoxIPAddress's record on, such as device/11 or
	// virtual-machine/11, by its number. It says so until status tells of the record.
	AnnotationMadeOn = Group + "/made-on"
	// AnnotationGivenAway are the numbers of the records, separated by commas, that a Create of a NetBoxIPAddress made or found, and then set aside for
	// another one or took back, or may have: for a moment NetBox may show them as they were.
	AnnotationGivenAway = Group + "/given-away"
)

// Finalizers.
const (
	// FinalizerRelease is HostClaim's own finalizer.
	FinalizerRelease = Group + "/release"
	// FinalizerHeldByClaim is put by the HostClaim controller on the BootEntry and the
	// NetBoxIPAddresses of a bound machine: they go only after it is off.
	FinalizerHeldByClaim = Group + "/held-by-claim"
)

// Labels.
const (
	// LabelTopologyPrefix precedes the keys of a RackPool's topology on its hosts.
	LabelTopologyPrefix = "topology.baremetal.crossplane.io/"
	// LabelPool names the RackPool of a RedfishHost.
	LabelPool = Group + "/pool"
)

// BootNamespace is the default namespace of bootd, its token keys, and the copied user data.
const BootNamespace = "baremetal-boot"

// An IdentityRecord says which machine a host is, as far as the machine told.
type IdentityRecord struct {
	URI    string `json:"uri"`
	Serial string `json:"serial,omitempty"`
	UUID   string `json:"uuid,omitempty"`
	// ChassisSerial and BMCUUID decide where the machine has neither serial nor UUID.
	ChassisSerial string `json:"chassisSerial,omitempty"`
	BMCUUID       string `json:"bmcUUID,omitempty"`
	// Systems of the BMC that have this serial, or without one this UUID. Of several, the URI decides.
	Systems int `json:"systems,omitempty"`
}

// A GrantRecord says which grant was issued last. State Issuing is written before the grant, Issued
// after it: a crash in between repeats the same grant, by the same id.
type GrantRecord struct {
	EntryUID   string `json:"entryUID"`
	HostUID    string `json:"hostUID"`
	Generation int64  `json:"generation"`
	Serial     string `json:"serial,omitempty"`
	GrantID    string `json:"grantID"`
	// SessionUID is the session that the grant was written to.
	SessionUID string `json:"sessionUID,omitempty"`
	State      string `json:"state"`
	// Revision of the session that first held the grant: what a boot server must have synced.
	Revision string `json:"revision,omitempty"`
}

// States of a GrantRecord.
const (
	GrantIssuing = "Issuing"
	GrantIssued  = "Issued"
)

// An InstalledRecord says what is installed on a machine.
type InstalledRecord struct {
	EntryUID   string `json:"entryUID"`
	HostUID    string `json:"hostUID,omitempty"`
	Generation int64  `json:"generation"`
	PlanDigest string `json:"planDigest"`
	Serial     string `json:"serial,omitempty"`
	At         string `json:"at,omitempty"`
}

// A BootRecord says for which install generation a claim's host was set to boot.
type BootRecord struct {
	EntryUID   string `json:"entryUID"`
	HostUID    string `json:"hostUID"`
	Generation int64  `json:"generation"`
	Once       int64  `json:"once"`
}

// A QuestionRecord is an open NeedsConfirmation. Seen is the serial that spec.confirm already held
// when the question arose: such a confirmation, restored with the object, doesn't answer it.
type QuestionRecord struct {
	OwnerUID   string `json:"ownerUID"`
	Generation int64  `json:"generation"`
	Reason     string `json:"reason"`
	Seen       string `json:"seen,omitempty"`
	Answered   string `json:"answered,omitempty"`
}

// ReadRecord reads a record that an annotation holds as JSON; nil where there's none. What can't be read
// is as good as a record of somebody else: it gives a zero record, which matches no UID.
func ReadRecord[T any](annotations map[string]string, key string) *T {
	s := annotations[key]
	if s == "" {
		return nil
	}
	r := new(T)
	if err := json.Unmarshal([]byte(s), r); err != nil {
		return new(T)
	}
	return r
}
