package v1alpha1

// OnBindPolicy says what happens when a host is bound.
//
// +kubebuilder:validation:Enum=Install;Adopt
type OnBindPolicy string

// The policies.
const (
	// OnBindInstall boots the host as the claim says.
	OnBindInstall OnBindPolicy = "Install"
	// OnBindAdopt takes the host as it runs. Not supported yet.
	OnBindAdopt OnBindPolicy = "Adopt"
)

// NodePower is the state that a tenant wants a machine in.
//
// +kubebuilder:validation:Enum=PoweredOn;PoweredOff
type NodePower string

// The power states.
const (
	// NodePoweredOn runs the machine.
	NodePoweredOn NodePower = "PoweredOn"
	// NodePoweredOff keeps host, address and plan, and the machine off.
	NodePoweredOff NodePower = "PoweredOff"
)

// NodePhase is the step that a claimed machine is at.
//
// +kubebuilder:validation:Enum=Pending;Addressing;Preparing;PoweringOn;Booting;Installing;Installed;Ready;Stopped;NeedsConfirmation;Failed
type NodePhase string

// The phases, in the order of a boot; the last three stand beside it.
const (
	// PhasePending: no host is bound yet.
	PhasePending NodePhase = "Pending"
	// PhaseAddressing: an address is being allocated.
	PhaseAddressing NodePhase = "Addressing"
	// PhasePreparing: the plan is made, the grant is written, a boot server must hear of it.
	PhasePreparing NodePhase = "Preparing"
	// PhasePoweringOn: the boot override is set and the machine switched on.
	PhasePoweringOn NodePhase = "PoweringOn"
	// PhaseBooting: the machine is on; its firmware, iPXE or kernel is loading.
	PhaseBooting NodePhase = "Booting"
	// PhaseInstalling: the grant is consumed, the disk is being written.
	PhaseInstalling NodePhase = "Installing"
	// PhaseInstalled: the machine said that it's done, and is not yet seen booting from its disk.
	PhaseInstalled NodePhase = "Installed"
	// PhaseReady: the machine does what the claim asks for.
	PhaseReady NodePhase = "Ready"
	// PhaseStopped: the machine is off, as the claim asks for.
	PhaseStopped NodePhase = "Stopped"
	// PhaseNeedsConfirmation: a record is missing or doesn't match; a person must say that the machine may go on.
	PhaseNeedsConfirmation NodePhase = "NeedsConfirmation"
	// PhaseFailed: nothing more happens until a person changes something.
	PhaseFailed NodePhase = "Failed"
)

// BondMode is how the members of a bond share the work.
//
// +kubebuilder:validation:Enum=LACP;ActiveBackup;BalanceXOR
type BondMode string

// The bond modes.
const (
	// BondLACP is IEEE 802.3ad.
	BondLACP BondMode = "LACP"
	// BondActiveBackup uses one member at a time.
	BondActiveBackup BondMode = "ActiveBackup"
	// BondBalanceXOR spreads by a hash of the addresses.
	BondBalanceXOR BondMode = "BalanceXOR"
)

// RemovalPolicy says what becomes of a host that is taken out of its pool's list.
//
// +kubebuilder:validation:Enum=Retain;Delete
type RemovalPolicy string

// The removal policies.
const (
	// RemovalRetain keeps the RedfishHost, out of anybody's reach.
	RemovalRetain RemovalPolicy = "Retain"
	// RemovalDelete deletes the RedfishHost once nothing is bound to it.
	RemovalDelete RemovalPolicy = "Delete"
)

// CleaningPolicy says how much of a released host is wiped.
//
// +kubebuilder:validation:Enum=None;Metadata;Full
type CleaningPolicy string

// The cleaning policies.
const (
	// CleaningNone wipes nothing; the host's condition Cleaned says so.
	CleaningNone CleaningPolicy = "None"
	// CleaningMetadata wipes partition tables and boot records. Not supported yet.
	CleaningMetadata CleaningPolicy = "Metadata"
	// CleaningFull wipes whole drives. Not supported yet.
	CleaningFull CleaningPolicy = "Full"
)

// ReclaimPower is the state that a released host is left in.
//
// +kubebuilder:validation:Enum=PoweredOff
type ReclaimPower string

// ReclaimPoweredOff leaves a released host off, the only state there is.
const ReclaimPoweredOff ReclaimPower = "PoweredOff"
