package v1alpha1

// A PlanImage is the disk image of a plan.
type PlanImage struct {
	// URL of the image.
	URL string `json:"url"`
	// Digest of the image.
	Digest string `json:"digest"`
	// Format of the image.
	// +optional
	Format string `json:"format,omitempty"`
	// Compression of the image.
	// +optional
	Compression string `json:"compression,omitempty"`
}

// A PlanFile is a file that a Raspberry Pi's firmware asks for by a name.
type PlanFile struct {
	// Name by which the firmware asks for it.
	Name string `json:"name"`
	// URL of the file.
	URL string `json:"url"`
	// Digest of the file.
	Digest string `json:"digest"`
}

// PlanRaspberryPi is what a Raspberry Pi's firmware loads beside kernel and initrds.
type PlanRaspberryPi struct {
	// Files that the firmware asks for.
	// +listType=map
	// +listMapKey=name
	Files []PlanFile `json:"files"`
	// Config are lines of config.txt.
	// +optional
	// +listType=atomic
	Config []string `json:"config,omitempty"`
}

// PlanArtifacts are the files of a plan for one architecture.
type PlanArtifacts struct {
	// Arch that these are for.
	Arch Architecture `json:"arch"`
	// Kernel to boot; absent where an ISO is booted.
	// +optional
	Kernel Artifact `json:"kernel,omitzero"`
	// Initrds of the kernel.
	// +optional
	// +listType=atomic
	Initrds []Artifact `json:"initrds,omitempty"`
	// Image to write.
	// +optional
	Image *PlanImage `json:"image,omitempty"`
	// ISO image to boot.
	// +optional
	ISO *Artifact `json:"iso,omitempty"`
	// RaspberryPi has what else a Raspberry Pi loads.
	// +optional
	RaspberryPi *PlanRaspberryPi `json:"raspberryPi,omitempty"`
}

// PlanNetwork is the boot segment of a plan.
type PlanNetwork struct {
	// Namespace of the BootNetwork.
	Namespace string `json:"namespace"`
	// Name of the BootNetwork.
	Name string `json:"name"`
	// Address of the machine with its mask: that of IPv4 where it has one of each family.
	Address string `json:"address"`
	// Gateway of the machine.
	// +optional
	Gateway string `json:"gateway,omitempty"`
	// DNS servers.
	// +optional
	// +listType=atomic
	DNS []string `json:"dns,omitempty"`
	// NTP servers.
	// +optional
	// +listType=atomic
	NTP []string `json:"ntp,omitempty"`
	// Domain of the machine.
	// +optional
	Domain string `json:"domain,omitempty"`
	// MTU of the segment.
	// +optional
	MTU int32 `json:"mtu,omitempty"`
	// LeaseSeconds of the address.
	// +optional
	LeaseSeconds int64 `json:"leaseSeconds,omitempty"`
	// Interface is what the machine's system has the network on.
	// +optional
	Interface *EntryInterface `json:"interface,omitempty"`
	// IPv6 is the machine's place in IPv6 where it has an address of IPv4 as well; absent: it has the address above alone.
	// +optional
	IPv6 *PlanPlace `json:"ipv6,omitempty"`
}

// A PlanPlace is one more address of a machine on the segment of a plan, and what belongs to it.
type PlanPlace struct {
	// Address of the machine with its mask.
	Address string `json:"address"`
	// Gateway of the machine.
	// +optional
	Gateway string `json:"gateway,omitempty"`
	// DNS servers.
	// +optional
	// +listType=atomic
	DNS []string `json:"dns,omitempty"`
	// NTP servers.
	// +optional
	// +listType=atomic
	NTP []string `json:"ntp,omitempty"`
}

// A Plan is what a machine is to be given, resolved. It holds no secret.
type Plan struct {
	// Digest of the plan: sha256:….
	Digest string `json:"digest"`
	// HostUID of the machine.
	HostUID string `json:"hostUID"`
	// EntryUID is the BootEntry's own UID.
	EntryUID string `json:"entryUID"`
	// Bound says whether the machine comes from a bound host, not from raw MACs.
	Bound bool `json:"bound"`
	// MACs of the machine.
	// +listType=atomic
	MACs []string `json:"macs"`
	// Port of a switch that the machine is behind, where its entry names one.
	// +optional
	Port *SwitchPort `json:"port,omitempty"`
	// UUID of the machine, where known.
	// +optional
	UUID string `json:"uuid,omitempty"`
	// Serial number of the machine, where known.
	// +optional
	Serial string `json:"serial,omitempty"`
	// Network that it boots on.
	Network PlanNetwork `json:"network"`
	// Hostname of the machine.
	// +optional
	Hostname string `json:"hostname,omitempty"`
	// Mode is Install or Live.
	Mode BootMode `json:"mode"`
	// Method says how it gets onto the machine.
	Method BootMethod `json:"method"`
	// Artifacts per architecture.
	// +listType=map
	// +listMapKey=arch
	Artifacts []PlanArtifacts `json:"artifacts"`
	// PullSecret names the copy, in bootd's namespace, of the Secret with the passwords of the servers that Artifacts come from.
	// +optional
	PullSecret string `json:"pullSecret,omitempty"`
	// CommandLine of the kernel, parameters filled in.
	// +optional
	// +listType=atomic
	CommandLine []string `json:"commandLine,omitempty"`
	// Script of method Script for iPXE, parameters filled in.
	// +optional
	Script string `json:"script,omitempty"`
	// GrubScript of method Script for grub, parameters filled in.
	// +optional
	GrubScript string `json:"grubScript,omitempty"`
	// UserDataFormat that the machine expects.
	// +optional
	UserDataFormat UserDataFormat `json:"userDataFormat,omitempty"`
	// UserDataSecret names the copy of what the machine is given, in bootd's namespace.
	// +optional
	UserDataSecret string `json:"userDataSecret,omitempty"`
	// UserDataDigest of that copy.
	// +optional
	UserDataDigest string `json:"userDataDigest,omitempty"`
	// ProfileDigest of the BootProfile's spec.
	// +optional
	ProfileDigest string `json:"profileDigest,omitempty"`
	// InstallGeneration that is asked for.
	InstallGeneration int64 `json:"installGeneration"`
	// Otherwise says what the machine is told when it may not be installed.
	Otherwise Otherwise `json:"otherwise"`
	// LocalBoot says how its firmware is sent to its disk.
	// +optional
	LocalBoot LocalBoot `json:"localBoot,omitempty"`
	// FirstStage says what its firmware loads first.
	// +optional
	FirstStage FirstStage `json:"firstStage,omitempty"`
	// InstallerReport says how the installer tells that it's done; absent: by its callback.
	// +optional
	InstallerReport InstallerReport `json:"installerReport,omitempty"`
	// InstallTimeoutSeconds bounds the install.
	// +optional
	InstallTimeoutSeconds int64 `json:"installTimeoutSeconds,omitempty"`
}
