package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Condition types beside Crossplane's Ready and Synced.
const (
	// ConditionReachable says whether the BMC answers. It's never part of Ready.
	ConditionReachable xpv2.ConditionType = "Reachable"
	// ConditionCleaned says whether a released host left evidence of its cleaning.
	ConditionCleaned xpv2.ConditionType = "Cleaned"
	// ConditionHealthy is the BMC's own verdict about the machine.
	ConditionHealthy xpv2.ConditionType = "HostHealthy"
	// ConditionPowerApplied says whether a machine's power is as its host wants it. A host whose power is Unmanaged has none, but for a
	// reset that the BMC refuses, can't do, or doesn't carry out.
	ConditionPowerApplied xpv2.ConditionType = "PowerApplied"
	// ConditionBootApplied, ConditionBIOSApplied, ConditionSettingsApplied and ConditionMediaInserted say the same of the boot source, BIOS
	// settings, the small ones (light, asset tag, Secure Boot) and virtual media; ConditionEventsSubscribed and
	// ConditionCredentialsRotated of what they are called by. Each is there only where its field is in the spec.
	ConditionBootApplied        xpv2.ConditionType = "BootApplied"
	ConditionBIOSApplied        xpv2.ConditionType = "BIOSApplied"
	ConditionSettingsApplied    xpv2.ConditionType = "SettingsApplied"
	ConditionMediaInserted      xpv2.ConditionType = "MediaInserted"
	ConditionEventsSubscribed   xpv2.ConditionType = "EventsSubscribed"
	ConditionCredentialsRotated xpv2.ConditionType = "CredentialsRotated"
	// ConditionPlanned says whether a BootEntry's plan is complete.
	ConditionPlanned xpv2.ConditionType = "Planned"
	// ConditionServed says whether a bootd of the machine's network serves the plan.
	ConditionServed xpv2.ConditionType = "Served"
	// ConditionInstalled says whether the asked generation is installed.
	ConditionInstalled xpv2.ConditionType = "Installed"
	// ConditionBooted says whether the machine was seen booting from its disk after the install.
	ConditionBooted xpv2.ConditionType = "Booted"
	// ConditionCurrent says whether what is installed is what the spec says now.
	ConditionCurrent xpv2.ConditionType = "Current"
	// ConditionExhausted says whether an address waits because all its sources are full; its message has their numbers.
	ConditionExhausted xpv2.ConditionType = "Exhausted"
	// ConditionClockSynced says whether the clock of a NetBox, or of a host's BMC, and ours agree. It's never part of Ready.
	ConditionClockSynced xpv2.ConditionType = "ClockSynced"
	// ConditionBound says whether a HostClaim and its host are joined.
	ConditionBound xpv2.ConditionType = "HostBound"
)

// Reasons: one CamelCase word that a script can match. The message beside it is for a person.
const (
	ReasonAvailable            xpv2.ConditionReason = "Available"
	ReasonApplied              xpv2.ConditionReason = "Applied"
	ReasonBound                xpv2.ConditionReason = "Bound"
	ReasonExhausted            xpv2.ConditionReason = "Exhausted"
	ReasonNotFound             xpv2.ConditionReason = "NotFound"
	ReasonAmbiguous            xpv2.ConditionReason = "Ambiguous"
	ReasonAmbiguousDisk        xpv2.ConditionReason = "AmbiguousDisk"
	ReasonNotAllowed           xpv2.ConditionReason = "NotAllowed"
	ReasonForbidden            xpv2.ConditionReason = "Forbidden"
	ReasonUnauthorized         xpv2.ConditionReason = "Unauthorized"
	ReasonUnreachable          xpv2.ConditionReason = "Unreachable"
	ReasonClockSkew            xpv2.ConditionReason = "ClockSkew"
	ReasonUntrustedCertificate xpv2.ConditionReason = "UntrustedCertificate"
	ReasonIdentityChanged      xpv2.ConditionReason = "IdentityChanged"
	ReasonNeedsConfirmation    xpv2.ConditionReason = "NeedsConfirmation"
	ReasonLost                 xpv2.ConditionReason = "Lost"
	ReasonMoved                xpv2.ConditionReason = "Moved"
	ReasonApplying             xpv2.ConditionReason = "Applying"
	ReasonConflict             xpv2.ConditionReason = "Conflict"
	ReasonInvalid              xpv2.ConditionReason = "Invalid"
	ReasonBootLoop             xpv2.ConditionReason = "BootLoop"
	ReasonQuarantined          xpv2.ConditionReason = "Quarantined"
	ReasonRefused              xpv2.ConditionReason = "Refused"
	ReasonNoEffect             xpv2.ConditionReason = "NoEffect"
	ReasonDuplicate            xpv2.ConditionReason = "Duplicate"
	ReasonGaveUp               xpv2.ConditionReason = "GaveUp"
	ReasonGrantExpired         xpv2.ConditionReason = "GrantExpired"
	ReasonInterrupted          xpv2.ConditionReason = "Interrupted"
	ReasonInstalledBefore      xpv2.ConditionReason = "InstalledBefore"
	ReasonInstallOverdue       xpv2.ConditionReason = "InstallOverdue"
	ReasonInstallFailed        xpv2.ConditionReason = "InstallFailed"
	ReasonDigestMismatch       xpv2.ConditionReason = "DigestMismatch"
	ReasonArtifactUnavailable  xpv2.ConditionReason = "ArtifactUnavailable"
	ReasonArtifactNotAllowed   xpv2.ConditionReason = "ArtifactNotAllowed"
	ReasonNotSupported         xpv2.ConditionReason = "NotSupported"
	ReasonNoCleaning           xpv2.ConditionReason = "NoCleaning"
	ReasonMaintenance          xpv2.ConditionReason = "Maintenance"
	ReasonReserved             xpv2.ConditionReason = "Reserved"
	ReasonReleasing            xpv2.ConditionReason = "Releasing"
	ReasonKindDeleted          xpv2.ConditionReason = "KindDeleted"
	ReasonOutdated             xpv2.ConditionReason = "Outdated"
	ReasonStopped              xpv2.ConditionReason = "Stopped"
	ReasonSessionsFull         xpv2.ConditionReason = "SessionsFull"
	ReasonRotating             xpv2.ConditionReason = "Rotating"

	ReasonForeignServer xpv2.ConditionReason = "ForeignServer"
	ReasonPortInUse     xpv2.ConditionReason = "PortInUse"
	// ReasonInterfaceMissing says that no node has an interface that the network is served on.
	ReasonInterfaceMissing xpv2.ConditionReason = "InterfaceMissing"

	ReasonPasswordChangeRequired xpv2.ConditionReason = "PasswordChangeRequired"

	ReasonWaitingForHost         xpv2.ConditionReason = "WaitingForHost"
	ReasonWaitingForAssignment   xpv2.ConditionReason = "WaitingForAssignment"
	ReasonWaitingForAddress      xpv2.ConditionReason = "WaitingForAddress"
	ReasonWaitingForBootEntry    xpv2.ConditionReason = "WaitingForBootEntry"
	ReasonWaitingForBootServer   xpv2.ConditionReason = "WaitingForBootServer"
	ReasonWaitingForBinding      xpv2.ConditionReason = "WaitingForBinding"
	ReasonWaitingForPowerOff     xpv2.ConditionReason = "WaitingForPowerOff"
	ReasonWaitingForPowerOn      xpv2.ConditionReason = "WaitingForPowerOn"
	ReasonWaitingForReset        xpv2.ConditionReason = "WaitingForReset"
	ReasonWaitingForMaintenance  xpv2.ConditionReason = "WaitingForMaintenance"
	ReasonWaitingForDHCP         xpv2.ConditionReason = "WaitingForDHCP"
	ReasonWaitingForScript       xpv2.ConditionReason = "WaitingForScript"
	ReasonWaitingForInstaller    xpv2.ConditionReason = "WaitingForInstaller"
	ReasonWaitingForInstall      xpv2.ConditionReason = "WaitingForInstall"
	ReasonWaitingForDiskBoot     xpv2.ConditionReason = "WaitingForDiskBoot"
	ReasonWaitingForRevocation   xpv2.ConditionReason = "WaitingForRevocation"
	ReasonWaitingForConfirmation xpv2.ConditionReason = "WaitingForConfirmation"
)

// NewCondition is a condition as of now: True where ok, else False.
func NewCondition(t xpv2.ConditionType, ok bool, r xpv2.ConditionReason, message string) xpv2.Condition {
	c := xpv2.Condition{Type: t, Status: corev1.ConditionFalse, Reason: r, Message: message, LastTransitionTime: metav1.Now()}
	if ok {
		c.Status = corev1.ConditionTrue
	}
	return c
}
