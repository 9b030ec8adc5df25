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
	// Target: Pxe, UefiHttp, Hdd, Cd, BiosSetup, UefiTarget (by devicePath) or BootOption (by bootOption). Pxe is the
	// only one yet.
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
type HostBoot struct {
	// Once boots the target once.
	// +optional
	Once *BootOnce `json:"once,omitempty"`
	// Persistent is booted each time, for as long as it stands here. Not supported yet.
	// +optional
	Persistent *BootSource `json:"persistent,omitempty"`
	// Order is what comes first in the persistent boot order, best first: references of boot options (Boot0003), aliases (Pxe, UefiHttp,
	// Hdd, Cd, Usb) or MAC addresses. What isn't named comes behind, in the order that it has. Not supported yet.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, a == b))",message="order names each boot option once"
	Order []string `json:"order,omitempty"`
}
