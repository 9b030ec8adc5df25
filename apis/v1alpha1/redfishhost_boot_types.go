package v1alpha1

// BootTarget is what a machine boots, in Redfish's words (ComputerSystem.BootSource), and BootOption for one of its boot options.
// +kubebuilder:validation:Enum=Pxe;UefiHttp;Hdd;Cd;BiosSetup;UefiTarget;BootOption
type BootTarget string

// Values of BootTarget.
const (
	BootTargetPxe        BootTarget = "Pxe"
	BootTargetUefiHTTP   BootTarget = "UefiHttp"
	BootTargetHdd        BootTarget = "Hdd"
	BootTargetCd         BootTarget = "Cd"
	BootTargetBiosSetup  BootTarget = "BiosSetup"
	BootTargetUefiTarget BootTarget = "UefiTarget"
	BootTargetBootOption BootTarget = "BootOption"
)

// FirmwareMode is how a machine's firmware boots.
// +kubebuilder:validation:Enum=UEFI;Legacy
type FirmwareMode string

// Values of FirmwareMode.
const (
	FirmwareUEFI   FirmwareMode = "UEFI"
	FirmwareLegacy FirmwareMode = "Legacy"
)

// A BootSource is what a machine boots until that is taken away.
// +kubebuilder:validation:XValidation:rule="has(self.devicePath) == (self.target == 'UefiTarget')",message="devicePath goes with target: UefiTarget, and only with it",fieldPath=".devicePath"
// +kubebuilder:validation:XValidation:rule="has(self.bootOption) == (self.target == 'BootOption')",message="bootOption goes with target: BootOption, and only with it",fieldPath=".bootOption"
// +kubebuilder:validation:XValidation:rule="!has(self.uri) || self.target == 'UefiHttp'",message="uri goes with target: UefiHttp only",fieldPath=".uri"
// +kubebuilder:validation:XValidation:rule="!has(self.mode) || self.mode == 'UEFI' || !(self.target in ['UefiHttp', 'UefiTarget'])",message="UefiHttp and UefiTarget are UEFI's: leave mode out, or set UEFI",fieldPath=".mode"
type BootSource struct {
	// Target: Pxe, UefiHttp, Hdd, Cd, BiosSetup, UefiTarget (by devicePath) or BootOption (by bootOption).
	Target BootTarget `json:"target"`
	// Mode is UEFI or Legacy; the machine's own where it's absent.
	// +optional
	Mode FirmwareMode `json:"mode,omitempty"`
	// URI that a UefiHttp boot loads, instead of what DHCP says.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^https?://[^@\s]+$`
	URI string `json:"uri,omitempty"`
	// DevicePath is the UEFI device path that UefiTarget boots.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	DevicePath string `json:"devicePath,omitempty"`
	// BootOption is the one that BootOption boots: its reference (Boot0003), its id, alias or display name, or a MAC address that only
	// one boot option has.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	BootOption string `json:"bootOption,omitempty"`
}

// BootOnce is one act: the next boot goes to the target.
// +kubebuilder:validation:XValidation:rule="has(self.devicePath) == (self.target == 'UefiTarget')",message="devicePath goes with target: UefiTarget, and only with it",fieldPath=".devicePath"
// +kubebuilder:validation:XValidation:rule="has(self.bootOption) == (self.target == 'BootOption')",message="bootOption goes with target: BootOption, and only with it",fieldPath=".bootOption"
// +kubebuilder:validation:XValidation:rule="!has(self.uri) || self.target == 'UefiHttp'",message="uri goes with target: UefiHttp only",fieldPath=".uri"
// +kubebuilder:validation:XValidation:rule="!has(self.mode) || self.mode == 'UEFI' || !(self.target in ['UefiHttp', 'UefiTarget'])",message="UefiHttp and UefiTarget are UEFI's: leave mode out, or set UEFI",fieldPath=".mode"
type BootOnce struct {
	// Target: Pxe, UefiHttp, Hdd, Cd, BiosSetup, UefiTarget (by devicePath) or BootOption (by bootOption). One that the machine doesn't
	// have is told by condition BootApplied, with those that it has.
	Target BootTarget `json:"target"`
	// Mode is UEFI or Legacy; the machine's own where it's absent.
	// +optional
	Mode FirmwareMode `json:"mode,omitempty"`
	// URI that a UefiHttp boot loads, instead of what DHCP says.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^https?://[^@\s]+$`
	URI string `json:"uri,omitempty"`
	// DevicePath is the UEFI device path that UefiTarget boots.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	DevicePath string `json:"devicePath,omitempty"`
	// BootOption is the one that BootOption boots: its reference (Boot0003), its id, alias or display name, or a MAC address that only
	// one boot option has.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	BootOption string `json:"bootOption,omitempty"`
	// Generation of the act. A raised one asks for one more.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9007199254740991
	Generation int64 `json:"generation"`
}

// HostBoot is what is wanted of a machine's boot source.
// +kubebuilder:validation:XValidation:rule="!has(self.persistent) || self.persistent.target != 'BootOption'",message="a boot option is persistent by being first in order: leave persistent out, and name it there",fieldPath=".persistent.target"
type HostBoot struct {
	// Once boots the target once.
	// +optional
	Once *BootOnce `json:"once,omitempty"`
	// Persistent is booted each time, for as long as it stands here: an override that the BMC keeps (Continuous).
	// +optional
	Persistent *BootSource `json:"persistent,omitempty"`
	// Order is what comes first in the persistent boot order, best first: references of boot options (Boot0003), aliases (Pxe, UefiHttp,
	// Hdd, Cd, Usb) or MAC addresses, which stand for all boot options that they fit. What isn't named comes behind, in the order that it
	// has; nothing is ever dropped.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, a == b))",message="order names each boot option once"
	Order []string `json:"order,omitempty"`
}

// A BootVia says by what a boot source was set.
type BootVia struct {
	// Rung: Settings or System (the override, by the resource that takes it), BootNext (a boot option by UefiBootNext), BootOrder (a boot
	// option at the front of the persistent order until the machine has booted), or OEM (a resource of the vendor's own).
	Rung string `json:"rung"`
	// Resource of the BMC that was written, or showed it already.
	// +optional
	Resource string `json:"resource,omitempty"`
	// Why a better one wasn't it.
	// +optional
	Why string `json:"why,omitempty"`
}

// BootObservation is the boot source that the BMC shows.
type BootObservation struct {
	// Target of the override; None where there's none.
	// +optional
	Target string `json:"target,omitempty"`
	// Enabled is Once, Continuous or Disabled.
	// +optional
	Enabled string `json:"enabled,omitempty"`
	// Mode is UEFI or Legacy.
	// +optional
	Mode string `json:"mode,omitempty"`
	// OnceGeneration is the newest boot.once.generation that was carried out.
	// +optional
	OnceGeneration int64 `json:"onceGeneration,omitempty"`
	// ResetGeneration is the newest resetGeneration that was carried out.
	// +optional
	ResetGeneration int64 `json:"resetGeneration,omitempty"`
	// HTTPBootURI is what a UefiHttp boot loads, where that isn't what DHCP says.
	// +optional
	HTTPBootURI string `json:"httpBootURI,omitempty"`
	// UefiTarget is the UEFI device path that UefiTarget boots.
	// +optional
	UefiTarget string `json:"uefiTarget,omitempty"`
	// Next is the boot option that UefiBootNext boots.
	// +optional
	Next string `json:"next,omitempty"`
	// Order is the persistent boot order, best first, 64 of it at most. Where the BMC has one that waits for a boot, it's that.
	// +optional
	// +listType=atomic
	Order []string `json:"order,omitempty"`
	// Via says by what the boot source was set that we set last; absent once it's taken back.
	// +optional
	Via *BootVia `json:"via,omitempty"`
}
