package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BootMode is Install (writes the disk once, by a grant) or Live (netboots each time).
// +kubebuilder:validation:Enum=Install;Live
type BootMode string

// Values of BootMode.
const (
	BootModeInstall BootMode = "Install"
	BootModeLive    BootMode = "Live"
)

// BootMethod says how a profile gets onto a machine.
// +kubebuilder:validation:Enum=DiskImage;Installer;Kernel;ISO;Script
type BootMethod string

// Values of BootMethod.
const (
	BootMethodDiskImage BootMethod = "DiskImage"
	BootMethodInstaller BootMethod = "Installer"
	BootMethodKernel    BootMethod = "Kernel"
	BootMethodISO       BootMethod = "ISO"
	BootMethodScript    BootMethod = "Script"
)

// UserDataFormat says what a machine expects its user data to be.
// +kubebuilder:validation:Enum=None;CloudInit;Ignition;Talos;Kickstart;Preseed;Autoinstall
type UserDataFormat string

// Values of UserDataFormat.
const (
	UserDataNone        UserDataFormat = "None"
	UserDataCloudInit   UserDataFormat = "CloudInit"
	UserDataIgnition    UserDataFormat = "Ignition"
	UserDataTalos       UserDataFormat = "Talos"
	UserDataKickstart   UserDataFormat = "Kickstart"
	UserDataPreseed     UserDataFormat = "Preseed"
	UserDataAutoinstall UserDataFormat = "Autoinstall"
)

// Architecture in Go's words.
// +kubebuilder:validation:Enum=amd64;arm64
type Architecture string

// Values of Architecture.
const (
	AMD64 Architecture = "amd64"
	ARM64 Architecture = "arm64"
)

// An Artifact is one file, by URL and digest.
type Artifact struct {
	// URL to fetch it from: http, https, or that of an OCI registry, oci://HOST/REPOSITORY for a blob by its digest alone, with :TAG or
	// @sha256:… for the layer of a manifest. Loopback, link-local and cluster ranges are refused.
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="isURL(self) && (self.startsWith('https://') || self.startsWith('http://') || self.startsWith('oci://'))",message="url must be an http, https or oci URL"
	URL string `json:"url"`
	// Digest of the file: sha256:… or sha512:…, lower-case hex.
	// +kubebuilder:validation:Pattern=`^(sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$`
	Digest string `json:"digest"`
}

// An ImageArtifact is a disk image, by URL and digest.
// +kubebuilder:validation:XValidation:rule="!has(self.format) || self.format != 'OCI'",message="format says what is in the file: Raw or QCOW2; name the registry by an oci:// URL",fieldPath=".format"
// +kubebuilder:validation:XValidation:rule="!has(self.format) || self.format != 'QCOW2' || !has(self.compression) || self.compression == 'None'",message="compression doesn't go with format: QCOW2, which has its own; leave it out",fieldPath=".compression"
type ImageArtifact struct {
	Artifact `json:",inline"`

	// Format of the image: Raw, or QCOW2, which bootd unpacks: its digest is that of the qcow2 file, and the installer gets the raw disk that's
	// in it, with the digest of that. One with a backing file, an external data file, snapshots or encryption is refused. OCI is refused:
	// that a file lies in a registry is said by its URL.
	// +optional
	// +kubebuilder:validation:Enum=Raw;QCOW2;OCI
	// +kubebuilder:default=Raw
	Format string `json:"format,omitempty"`
	// Compression of the image. The digest is of the compressed file.
	// +optional
	// +kubebuilder:validation:Enum=None;Gzip;Zstd;Xz
	// +kubebuilder:default=None
	Compression string `json:"compression,omitempty"`
}

// A RaspberryPiFile is one file that a Raspberry Pi's firmware asks for, by name, URL and digest.
type RaspberryPiFile struct {
	Artifact `json:",inline"`

	// Name by which the firmware asks for it: bootcode.bin, start*.elf, fixup*.dat, bcm27*.dtb, armstub8*.bin, or overlays/ with a .dtbo or .dtb.
	// Kernel, initrds, config.txt and cmdline.txt aren't among them: bootd names and makes these itself.
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^(bootcode\.bin|start[a-z0-9_]*\.elf|fixup[a-z0-9_]*\.dat|bcm27[a-z0-9-]+\.dtb|armstub8[a-z0-9-]*\.bin|overlays/[A-Za-z0-9][A-Za-z0-9_.-]*\.dtbo?)$`
	Name string `json:"name"`
}

// RaspberryPiFiles are what a Raspberry Pi's firmware loads beside kernel and initrds.
// +kubebuilder:validation:XValidation:rule="!has(self.config) || !self.config.exists(l, l.matches('^(kernel|cmdline|arm_64bit|os_prefix|overlay_prefix|ramfsfile|ramfsaddr|auto_initramfs|boot_ramdisk)='))",message="config may not set kernel, cmdline, arm_64bit, os_prefix, overlay_prefix, ramfsfile, ramfsaddr, auto_initramfs or boot_ramdisk: bootd says these itself",fieldPath=".config"
type RaspberryPiFiles struct {
	// Files that the firmware asks for. Which ones a model needs is its firmware's to say: a Pi 4 start4.elf, fixup4.dat and its device tree
	// (bcm2711-rpi-4-b.dtb), a Pi 5 its device tree alone.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Files []RaspberryPiFile `json:"files"`
	// Config are lines of config.txt, such as enable_uart=1, dtoverlay=disable-wifi or [pi4]. bootd adds its own behind them.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=98
	// +kubebuilder:validation:items:Pattern=`^(\[[A-Za-z0-9=:_.-]+\]|[a-z][A-Za-z0-9_:.@-]*=[ -~]*)$`
	Config []string `json:"config,omitempty"`
}

// ProfileArtifacts are the files of one architecture.
// +kubebuilder:validation:XValidation:rule="!has(self.raspberryPi) || self.arch == 'arm64'",message="raspberryPi goes with arch: arm64",fieldPath=".raspberryPi"
// +kubebuilder:validation:XValidation:rule="!has(self.raspberryPi) || !has(self.initrds) || size(self.initrds) <= 9",message="a Raspberry Pi's firmware takes 9 initrds at most",fieldPath=".initrds"
type ProfileArtifacts struct {
	// Arch of the machines that these are for.
	Arch Architecture `json:"arch"`
	// Kernel to boot: the installer's for DiskImage, the system's own for Kernel. All methods but ISO need one.
	// +optional
	Kernel *Artifact `json:"kernel,omitempty"`
	// Initrds of the kernel, in order.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Initrds []Artifact `json:"initrds,omitempty"`
	// Image to write to the disk, for DiskImage.
	// +optional
	Image *ImageArtifact `json:"image,omitempty"`
	// ISO image to boot, for method ISO: one that a machine boots from a CD as well.
	// +optional
	ISO *Artifact `json:"iso,omitempty"`
	// RaspberryPi has what else a Raspberry Pi 3, 4 or 5 loads, whose firmware asks for each file by itself. Without it none boots this profile.
	// +optional
	RaspberryPi *RaspberryPiFiles `json:"raspberryPi,omitempty"`
}

// A ProfileParameter is a value that an entry may give.
type ProfileParameter struct {
	// Name, as templates use it.
	// +kubebuilder:validation:Pattern=`^[a-z][A-Za-z0-9]{0,62}$`
	Name string `json:"name"`
	// Default where an entry gives none. Absent: the entry must give one.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Default *string `json:"default,omitempty"`
	// Pattern (RE2, anchored by us) that a value must match before it enters a command line.
	// +optional
	// +kubebuilder:default="^[A-Za-z0-9._-]{0,64}$"
	// +kubebuilder:validation:MaxLength=256
	Pattern string `json:"pattern,omitempty"`
}

// RootDevice says which disk is meant: one that all of what is set holds for.
type RootDevice struct {
	// Serial number of the disk.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Serial string `json:"serial,omitempty"`
	// WWN of the disk, such as 0x5000c500a1b2c3d4.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	WWN string `json:"wwn,omitempty"`
	// ByPath name of the disk, as under /dev/disk/by-path.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	ByPath string `json:"byPath,omitempty"`
	// Model of the disk.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Model string `json:"model,omitempty"`
	// Type of the disk: NVMe, SSD or HDD.
	// +optional
	// +kubebuilder:validation:Enum=NVMe;SSD;HDD
	Type string `json:"type,omitempty"`
	// MinSize is the least size of the disk, such as 20Gi.
	// +optional
	MinSize *resource.Quantity `json:"minSize,omitempty"`
	// MaxSize is the greatest size of the disk, such as 1Ti.
	// +optional
	MaxSize *resource.Quantity `json:"maxSize,omitempty"`
}

// ProfileTimeouts bound the steps of a boot.
type ProfileTimeouts struct {
	// Install is how long an install may take, such as 30m, from the grant's use until the machine says that it's installed. One
	// that takes longer is told by the reason InstallOverdue, and goes on. Not set: however long it takes.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,5}(h|m|s)){1,4}$')",message="install must be a duration in hours, minutes and seconds, such as 30m"
	Install *metav1.Duration `json:"install,omitempty"`
}

// An InstallerReport says how an installer tells that it's done.
// +kubebuilder:validation:Enum=Callback;None
type InstallerReport string

// Values of InstallerReport.
const (
	InstallerReportCallback InstallerReport = "Callback"
	InstallerReportNone     InstallerReport = "None"
)

// A ProfileInstaller says what kind of an installer a profile has.
type ProfileInstaller struct {
	// Report says how it tells that it's done: Callback, by its POST to the word baremetal.callback, or None, where it can't, as Talos.
	// With None an install counts as done once its machine had its user data, began again from the network, was sent to its disk, and a
	// system asked for an address there whose machine didn't come back for five minutes. So the network must come first in its boot
	// order, and a system that was on the disk before must be wiped: where nothing was written it would be taken for the new one.
	// +optional
	// +kubebuilder:default=Callback
	Report InstallerReport `json:"report,omitempty"`
}

// BootProfileSpec says what to boot.
// +kubebuilder:validation:XValidation:rule="self.method != 'Installer' || (has(self.userDataFormat) && !(self.userDataFormat in ['None', 'CloudInit']))",message="method: Installer needs a userDataFormat that answers the installer's questions: Autoinstall, Ignition, Kickstart, Preseed or Talos",fieldPath=".userDataFormat"
// +kubebuilder:validation:XValidation:rule="self.method != 'DiskImage' || !has(self.userDataFormat) || self.userDataFormat in ['None', 'CloudInit']",messageExpression="'userDataFormat: ' + self.userDataFormat + ' is for method: Installer or Kernel, whose kernel reads it; use None or CloudInit'",fieldPath=".userDataFormat"
// +kubebuilder:validation:XValidation:rule="self.mode != 'Live' || !has(self.userDataFormat) || self.userDataFormat in ['None', 'CloudInit', 'Ignition']",messageExpression="'userDataFormat: ' + self.userDataFormat + ' installs to a disk, which needs a grant: use mode: Install'",fieldPath=".mode"
// +kubebuilder:validation:XValidation:rule="self.method == 'Script' || (!has(self.scriptTemplate) && !has(self.grubTemplate))",message="scriptTemplate and grubTemplate are for method: Script alone; leave them out",fieldPath=".scriptTemplate"
// +kubebuilder:validation:XValidation:rule="self.method != 'Script' || has(self.scriptTemplate) || has(self.grubTemplate)",message="method: Script needs a scriptTemplate for iPXE, a grubTemplate for grub, or both",fieldPath=".scriptTemplate"
// +kubebuilder:validation:XValidation:rule="!has(self.rootDevice)",message="rootDevice is not supported yet; the machine's only disk is taken",fieldPath=".rootDevice"
// +kubebuilder:validation:XValidation:rule="self.mode != 'Live' || self.method in ['Kernel', 'ISO']",message="mode: Live needs method: Kernel or ISO, since nothing is written to a disk",fieldPath=".method"
// +kubebuilder:validation:XValidation:rule="self.method != 'ISO' || !has(self.userDataFormat) || self.userDataFormat == 'None'",messageExpression="'userDataFormat: ' + self.userDataFormat + ' does not go with method: ISO, whose system is told nothing by bootd; use None'",fieldPath=".userDataFormat"
// +kubebuilder:validation:XValidation:rule="self.method != 'ISO' || !has(self.commandLine) || size(self.commandLine) == 0",message="commandLine doesn't go with method: ISO, whose own loader has its kernel's; leave it out",fieldPath=".commandLine"
// +kubebuilder:validation:XValidation:rule="self.method != 'ISO' || self.artifacts.all(a, has(a.iso))",message="method: ISO needs an iso in each of artifacts",fieldPath=".artifacts"
// +kubebuilder:validation:XValidation:rule="self.method != 'ISO' || self.artifacts.all(a, !has(a.kernel) && !has(a.initrds) && !has(a.raspberryPi))",message="kernel, initrds and raspberryPi don't go with method: ISO, which has its own; leave them out of artifacts",fieldPath=".artifacts"
// +kubebuilder:validation:XValidation:rule="self.method == 'ISO' || self.artifacts.all(a, !has(a.iso))",message="iso is for method: ISO alone; leave it out of artifacts",fieldPath=".artifacts"
// +kubebuilder:validation:XValidation:rule="!has(self.installer) || self.method == 'Installer'",message="installer is for method: Installer alone; leave it out",fieldPath=".installer"
// +kubebuilder:validation:XValidation:rule="!has(self.installer) || !has(self.installer.report) || self.installer.report != 'None' || (has(self.userDataFormat) && self.userDataFormat == 'Talos')",message="report: None is for userDataFormat: Talos; an installer of another format is told to report to the URL of baremetal.callback",fieldPath=".installer.report"
// +kubebuilder:validation:XValidation:rule="self.method != 'Script' || self.artifacts.all(a, !has(a.raspberryPi))",message="raspberryPi doesn't go with method: Script, which its firmware doesn't run; use another method",fieldPath=".artifacts"
// +kubebuilder:validation:XValidation:rule="self.method == 'ISO' || self.artifacts.all(a, has(a.kernel))",message="each of artifacts needs a kernel",fieldPath=".artifacts"
// +kubebuilder:validation:XValidation:rule="self.method != 'DiskImage' || self.artifacts.all(a, has(a.image))",message="method: DiskImage needs an image in each of artifacts",fieldPath=".artifacts"
// +kubebuilder:validation:XValidation:rule="self.method == 'DiskImage' || self.artifacts.all(a, !has(a.image))",message="image is for method: DiskImage alone; leave it out of artifacts",fieldPath=".artifacts"
type BootProfileSpec struct {
	// AllowedNamespaces says who may boot this profile. Default: its own namespace.
	// +optional
	AllowedNamespaces *AllowedNamespaces `json:"allowedNamespaces,omitempty"`
	// Mode is Install (writes the disk once for each raised generation) or Live (boots from the network each time).
	Mode BootMode `json:"mode"`
	// Method says how it gets onto the machine: DiskImage (an installer writes an image), Installer (an installer that writes nothing
	// before it has its user data, which answers its questions), Kernel (the kernel is the system; with mode Install one that writes
	// to the disk without asking again), ISO (an ISO image is booted as from a CD, by iPXE alone; with mode Install it may write to the disk
	// without asking again) or Script (a script of your own loads it; mode Install alone, and it may write to the disk without asking again).
	Method BootMethod `json:"method"`
	// UserDataFormat says what the machine expects its user data to be, and thereby by which words of the kernel's command line it's told
	// where that is: CloudInit (ds=nocloud), Ignition (ignition.config.url), Talos (talos.config), Kickstart (inst.ks), Preseed (url)
	// or Autoinstall (autoinstall ds=nocloud). None: by none. All but None and CloudInit need user data.
	// +optional
	// +kubebuilder:default=None
	UserDataFormat UserDataFormat `json:"userDataFormat,omitempty"`
	// Artifacts are the files to boot, one entry an architecture.
	// +listType=map
	// +listMapKey=arch
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=2
	Artifacts []ProfileArtifacts `json:"artifacts"`
	// PullSecretRef names a Secret of this namespace, of type kubernetes.io/dockerconfigjson, with the passwords of the registries and HTTPS
	// servers that Artifacts come from. Each goes to the host that the Secret names it for, and to no other; none goes to machines. What it
	// says counts from the next download on.
	// +optional
	PullSecretRef *LocalReference `json:"pullSecretRef,omitempty"`
	// CommandLine of the kernel. Words may use parameters: role={{ .role }}.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=512
	// +kubebuilder:validation:items:Pattern=`^[ -~]+$`
	CommandLine []string `json:"commandLine,omitempty"`
	// Parameters that an entry may give.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	Parameters []ProfileParameter `json:"parameters,omitempty"`
	// RootDevice that the image is written to. Not supported yet: the machine's only disk is taken.
	// +optional
	RootDevice *RootDevice `json:"rootDevice,omitempty"`
	// ScriptTemplate of method Script is what iPXE is told, printable ASCII of at most 16 KiB. It may say parameters, and what is known of the
	// machine and its boot, as {{ .name }}: docs/bootd.md lists the names. Its grant is used before it's given, once.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16384
	ScriptTemplate string `json:"scriptTemplate,omitempty"`
	// GrubTemplate of method Script is what grub is told, for machines that boot by shim and grub (firstStage: Shim).
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16384
	GrubTemplate string `json:"grubTemplate,omitempty"`
	// Installer says more of the installer of method Installer.
	// +optional
	Installer *ProfileInstaller `json:"installer,omitempty"`
	// Timeouts of a boot's steps.
	// +optional
	Timeouts *ProfileTimeouts `json:"timeouts,omitempty"`
}

// An ArtifactStatus is what is known of one file.
type ArtifactStatus struct {
	// URL of the file.
	URL string `json:"url"`
	// SizeBytes is the file's size in bytes.
	// +optional
	SizeBytes int64 `json:"sizeBytes,omitempty"`
	// CachedOn is how many boot servers hold it.
	// +optional
	CachedOn int64 `json:"cachedOn,omitempty"`
	// Message says why a boot server can't get it, where one can't.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
}

// BootProfileStatus is what is known of a profile.
type BootProfileStatus struct {
	xpv2.ConditionedStatus `json:",inline"`

	// Digest of the spec: sha256:….
	// +optional
	Digest string `json:"digest,omitempty"`
	// Users is how many entries boot it.
	// +optional
	Users int64 `json:"users,omitempty"`
	// Artifacts and where they are cached.
	// +optional
	// +listType=atomic
	Artifacts []ArtifactStatus `json:"artifacts,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,baremetal},shortName=bprof
// +kubebuilder:printcolumn:name="READY",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="MODE",type="string",JSONPath=".spec.mode"
// +kubebuilder:printcolumn:name="METHOD",type="string",JSONPath=".spec.method"
// +kubebuilder:printcolumn:name="ARCHS",type="string",JSONPath=".spec.artifacts[*].arch"
// +kubebuilder:printcolumn:name="CACHED",type="string",JSONPath=".status.artifacts[*].cachedOn"
// +kubebuilder:printcolumn:name="USED",type="integer",JSONPath=".status.users"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"

// A BootProfile says what to boot. Editing one never reinstalls a machine.
type BootProfile struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   BootProfileSpec   `json:"spec"`
	Status BootProfileStatus `json:"status,omitempty"`
}

// GetCondition of this BootProfile.
func (p *BootProfile) GetCondition(ct xpv2.ConditionType) xpv2.Condition {
	return p.Status.GetCondition(ct)
}

// SetConditions of this BootProfile.
func (p *BootProfile) SetConditions(c ...xpv2.Condition) { p.Status.SetConditions(c...) }

// +kubebuilder:object:root=true

// BootProfileList is a list of BootProfiles.
type BootProfileList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []BootProfile `json:"items"`
}
