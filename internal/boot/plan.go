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
	// MethodKernel boots a kernel and initrds; in mode Install these are destructive themselves.
	MethodKernel Method = "Kernel"
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
)

// An Artifact is one file, by URL and digest (sha256:… or sha512:…, lower-case hex).
type Artifact struct {
	URL    string
	Digest string
}

// An Image is a disk image. The digest is of the file as it's served, compressed or not.
type Image struct {
	Artifact

	Format      string
	Compression string
}

// Artifacts are the files of one architecture.
type Artifacts struct {
	Arch    Arch
	Kernel  Artifact
	Initrds []Artifact
	Image   *Image
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
	InstallTimeout      time.Duration
}

// For gives the files for an architecture.
func (p Plan) For(a Arch) (Artifacts, bool) {
	for _, f := range p.Artifacts {
		if f.Arch == a {
			return f, true
		}
	}
	return Artifacts{}, false
}

// KernelDestroys says whether the plan's kernel writes the disk without asking again, so that serving
// its script must consume the grant.
func (p Plan) KernelDestroys() bool { return p.Mode == ModeInstall && p.Method == MethodKernel }

// Digest of what would be done to which machine: sha256:…. The MACs aren't in it, since some BMCs list
// them only once the machine is on, nor what changes no byte on its disk.
func (p Plan) Digest() string {
	d := p
	d.Entry, d.Bound, d.Since, d.MACs, d.ProfileDigest, d.UserDataSecret = Name{}, false, time.Time{}, nil, "", ""
	d.InstallGeneration, d.InstalledGeneration, d.Otherwise, d.LocalBoot, d.InstallTimeout = 0, 0, "", "", 0
	d.Network.DNS, d.Network.NTP, d.CommandLine = some(d.Network.DNS), some(d.Network.NTP), some(d.CommandLine)
	d.Artifacts = append([]Artifacts(nil), d.Artifacts...)
	for i := range d.Artifacts {
		d.Artifacts[i].Initrds = some(d.Artifacts[i].Initrds)
	}
	b, err := json.Marshal(d) //nolint:musttag // Never read again: only its digest counts, and field names are as good as tags.
	if err != nil {
		panic(err) // Plain data always marshals.
	}
	s := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(s[:])
}

// some makes empty and nil the same, since a plan that was written and read again mustn't differ.
func some[T any](s []T) []T {
	if len(s) == 0 {
		return nil
	}
	return s
}
