package boot

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/netip"
	"time"
)

// Mode is Install (writes the disk once, by a grant) or Live (netboots each time).
type Mode string

// Values of Mode.
const (
	ModeInstall Mode = "Install"
	ModeLive    Mode = "Live"
)

// Method says how a plan gets onto a machine.
type Method string

// Values of Method.
const (
	// MethodDiskImage boots an installer that streams an image to the disk.
	MethodDiskImage Method = "DiskImage"
	// MethodInstaller boots an installer that writes nothing before it has its user data, which answers its questions.
	MethodInstaller Method = "Installer"
	// MethodKernel boots a kernel and initrds; in mode Install these are destructive themselves.
	MethodKernel Method = "Kernel"
	// MethodISO boots an ISO image as from a CD; in mode Install that's destructive itself.
	MethodISO Method = "ISO"
	// MethodScript runs a script of the profile's own, which may do anything: it's destructive itself.
	MethodScript Method = "Script"
)

// Otherwise says what a machine is told that may not be installed.
type Otherwise string

// Values of Otherwise.
const (
	OtherwiseLocalDisk Otherwise = "LocalDisk"
	OtherwiseHold      Otherwise = "Hold"
)

// LocalBoot says how a machine's firmware is sent to its disk.
type LocalBoot string

// Values of LocalBoot.
const (
	LocalBootAuto    LocalBoot = "Auto"
	LocalBootExit    LocalBoot = "Exit"
	LocalBootSanboot LocalBoot = "Sanboot"
	// LocalBootNotFound isn't found its script, or its shim.
	LocalBootNotFound LocalBoot = "NotFound"
	// LocalBootGrub is sent to its disk by grub, whatever it installs by: UEFI by PXE, as that's what grub takes. Elsewhere it's Auto.
	LocalBootGrub LocalBoot = "Grub"
)

// FirstStage says what a machine's firmware loads first.
type FirstStage string

// Values of FirstStage.
const (
	// FirstStageAuto is iPXE where there is one for the firmware, else as Shim: that by the firmware's own driver of the NIC, if it's there.
	FirstStageAuto FirstStage = "Auto"
	// FirstStageShim is Debian's signed shim and grub, for UEFI that runs nothing unsigned (Secure Boot). A BIOS knows nothing of that, and
	// has iPXE.
	FirstStageShim FirstStage = "Shim"
	// FirstStageNativeIPXE is iPXE with drivers of its own, for UEFI whose driver of the NIC (SNP) doesn't go on. A BIOS has the iPXE that it
	// has by Auto.
	FirstStageNativeIPXE FirstStage = "NativeIPXE"
)

// An Artifact is one file, by URL and digest (sha256:… or sha512:…, lower-case hex).
type Artifact struct {
	URL    string
	Digest string
	// PullSecret names the copy, in bootd's namespace, of the Secret with the passwords of its server; "": it's asked without.
	PullSecret string `json:",omitempty"` //nolint:tagliatelle // As FirstStage.
	// Unpack says that the file is a qcow2 image, of which machines are given the raw disk that's in it. No plan's own artifacts say it: an Image's
	// Source does.
	Unpack bool `json:",omitempty"` //nolint:tagliatelle // As FirstStage.
}

// An Image is a disk image. The digest is of the file as it's served, compressed or not.
type Image struct {
	Artifact

	Format      string
	Compression string
}

// Formats of an Image. bootd unpacks one of FormatQCOW2: machines are given the raw disk that's in it.
const (
	FormatRaw   = "Raw"
	FormatQCOW2 = "QCOW2"
)

// Source is the image as it's asked for: one of FormatQCOW2 by what's in it.
func (i Image) Source() Artifact {
	a := i.Artifact
	a.Unpack = i.Format == FormatQCOW2
	return a
}

// Artifacts are the files of one architecture.
type Artifacts struct {
	Arch    Arch
	Kernel  Artifact
	Initrds []Artifact
	Image   *Image
	// ISO of MethodISO is booted in the place of a kernel; nil: there's none.
	ISO *Artifact `json:",omitempty"` //nolint:tagliatelle // As FirstStage below: digests know fields by these names.
	// RaspberryPi has what else the firmware of a Raspberry Pi loads; nil: none boots by these.
	RaspberryPi *RaspberryPi `json:",omitempty"` //nolint:tagliatelle // As FirstStage below: digests know fields by these names.
}

// A Network is the boot segment of a plan, as DHCP gives it to the machine.
type Network struct {
	Name

	Address netip.Prefix
	Gateway netip.Addr
	DNS     []netip.Addr
	NTP     []netip.Addr
	Domain  string
	MTU     int
	Lease   time.Duration
	// Interface is what the machine's system has the network on; nil: nobody has said it, and the system asks DHCP.
	Interface *Interface `json:",omitempty"` //nolint:tagliatelle // As FirstStage below: digests know fields by these names.
	// Six is the machine's place in IPv6 where what is above is that in IPv4; nil: it has one address, of either family, and that's above.
	Six *Place `json:",omitempty"` //nolint:tagliatelle // As FirstStage below: digests know fields by these names.
}

// A Plan is what a machine is to be given, resolved. It holds no secret.
type Plan struct {
	Entry    Name
	EntryUID string
	HostUID  string
	// Bound says that the machine comes from a bound host, which beats raw MACs.
	Bound bool
	// Since is when the entry was made; of two that want a MAC the later one is refused.
	Since  time.Time
	MACs   []MAC
	UUID   string
	Serial string

	Network  Network
	Hostname string

	Mode        Mode
	Method      Method
	Artifacts   []Artifacts
	CommandLine []string
	// Script of MethodScript as iPXE is told it, GrubScript as grub is: parameters are filled in, and what a boot alone knows isn't.
	Script     string `json:",omitempty"` //nolint:tagliatelle // As FirstStage below: digests know fields by these names.
	GrubScript string `json:",omitempty"` //nolint:tagliatelle // As above.

	UserDataFormat string
	// UserDataSecret names the copy of what the machine is given, in bootd's namespace.
	UserDataSecret string
	UserDataDigest string
	ProfileDigest  string

	InstallGeneration int64
	// InstalledGeneration is what the provider's own records know as installed, whatever became of
	// the session.
	InstalledGeneration int64
	Otherwise           Otherwise
	LocalBoot           LocalBoot
	FirstStage          FirstStage `json:",omitempty"` //nolint:tagliatelle // Digests know fields by these names; the others have none of their own.
	InstallTimeout      time.Duration
	// SilentInstaller says that the installer of MethodInstaller never tells how it ended: that is read from signs.
	SilentInstaller bool `json:",omitempty"` //nolint:tagliatelle // As above.
	// Port that the machine is behind; nil: its entry names none.
	Port *Port `json:",omitempty"` //nolint:tagliatelle // As above.
}

// For gives the files for an architecture.
func (p *Plan) For(a Arch) (Artifacts, bool) {
	if f := p.Listed(a); f != nil {
		return *f, true
	}
	return Artifacts{}, false
}

// Listed are those where they lie, which all plans of a shape share: they must not be changed. nil: there are none.
func (p *Plan) Listed(a Arch) *Artifacts {
	for i := range p.Artifacts {
		if f := &p.Artifacts[i]; f.Arch == a {
			return f
		}
	}
	return nil
}

// File gives a kernel or an initrd of the plan by its digest, and says whether it's a kernel; false: the plan has no such file.
func (p *Plan) File(digest string) (a Artifact, kernel, ok bool) {
	for _, f := range p.Artifacts {
		if f.ISO != nil {
			continue // It has no kernel, which isn't asked for by an empty name.
		}
		if f.Kernel.Digest == digest {
			return f.Kernel, true, true
		}
		for _, i := range f.Initrds {
			if i.Digest == digest {
				return i, false, true
			}
		}
	}
	return Artifact{}, false, false
}

// Stage is what a machine's firmware loads first, to be told an answer.
func (p *Plan) Stage(a Answer) FirstStage {
	if p.LocalBoot == LocalBootGrub && a == AnswerLocalDisk {
		return FirstStageShim
	}
	return p.FirstStage
}

// KernelDestroys says whether the plan's kernel, its ISO or its script writes the disk without asking again, so that serving
// its script must consume the grant.
func (p *Plan) KernelDestroys() bool {
	return p.Mode == ModeInstall && (p.Method == MethodKernel || p.Method == MethodISO || p.Method == MethodScript)
}

// Digest of what would be done to which machine: sha256:…. The MACs aren't in it, since some BMCs list
// them only once the machine is on, nor what changes no byte on its disk.
func (p *Plan) Digest() string {
	d := *p
	d.Entry, d.Bound, d.Since, d.MACs, d.ProfileDigest, d.UserDataSecret = Name{}, false, time.Time{}, nil, "", ""
	d.InstallGeneration, d.InstalledGeneration, d.Otherwise, d.LocalBoot, d.FirstStage, d.InstallTimeout = 0, 0, "", "", "", 0
	d.Port = nil
	d.Network.DNS, d.Network.NTP, d.CommandLine = some(d.Network.DNS), some(d.Network.NTP), some(d.CommandLine)
	if six := d.Network.Six; six != nil {
		d.Network.Six = &Place{six.Address, six.Gateway, some(six.DNS), some(six.NTP)}
	}
	d.Artifacts = append([]Artifacts(nil), d.Artifacts...)
	for i := range d.Artifacts {
		d.Artifacts[i] = d.Artifacts[i].open()
	}
	b, err := json.Marshal(d) //nolint:musttag // Never read again: only its digest counts, and field names are as good as tags.
	if err != nil {
		panic(err) // Plain data always marshals.
	}
	s := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(s[:])
}

// open gives the files without what their servers are told: bytes that have their digest are the same, whoever may fetch them.
func (a Artifacts) open() Artifacts {
	a.Kernel.PullSecret = ""
	a.Initrds = append([]Artifact(nil), some(a.Initrds)...)
	for i := range a.Initrds {
		a.Initrds[i].PullSecret = ""
	}
	if a.Image != nil {
		i := *a.Image
		i.PullSecret, a.Image = "", &i
	}
	if a.ISO != nil {
		a.ISO = &Artifact{URL: a.ISO.URL, Digest: a.ISO.Digest}
	}
	a.RaspberryPi = a.RaspberryPi.open()
	return a
}

// some makes empty and nil the same, since a plan that was written and read again mustn't differ.
func some[T any](s []T) []T {
	if len(s) == 0 {
		return nil
	}
	return s
}
