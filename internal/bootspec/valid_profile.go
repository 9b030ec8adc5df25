package bootspec

import (
	"slices"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// ValidProfile says what is wrong with a BootProfile.
func ValidProfile(p *v1alpha1.BootProfile) []Fault {
	var list []Fault
	meta(faults{"metadata", &list}, p.Namespace, p.Name)
	f, s := faults{"spec", &list}, p.Spec
	validNamespaces(f.field(".allowedNamespaces"), s.AllowedNamespaces)
	f.field(".mode").whenf(s.Mode != v1alpha1.BootModeInstall && s.Mode != v1alpha1.BootModeLive, "mode must be Install or Live, and is %q", s.Mode)
	validMethod(f, s)
	validTemplates(f, s)
	f.field(".rootDevice").whenf(s.RootDevice != nil, "rootDevice is not supported yet; the machine's only disk is taken")
	if i := s.Installer; i != nil {
		f.field(".installer").whenf(s.Method != v1alpha1.BootMethodInstaller, "installer is for method: Installer alone; leave it out")
		f.field(".installer.report").whenf(!slices.Contains([]v1alpha1.InstallerReport{"", v1alpha1.InstallerReportCallback, v1alpha1.InstallerReportNone}, i.Report),
			"report must be Callback or None, and is %q", i.Report)
		f.field(".installer.report").whenf(i.Report == v1alpha1.InstallerReportNone && s.UserDataFormat != v1alpha1.UserDataTalos,
			"report: None is for userDataFormat: Talos; an installer of another format is told to report to the URL of baremetal.callback")
	}
	validArtifacts(f.field(".artifacts"), s)
	if r := s.PullSecretRef; r != nil {
		f.field(".pullSecretRef.name").whenf(r.Name == "" || len(r.Name) > 253, "pullSecretRef needs the name of a Secret")
	}
	f.field(".commandLine").whenf(len(s.CommandLine) > 64, "commandLine has more than 64 words")
	for i, w := range s.CommandLine {
		f.field(".commandLine[%d]", i).whenf(!wordForm.MatchString(w), "a word of commandLine is 1 to 512 printable ASCII characters")
	}
	validParameters(f.field(".parameters"), s.Parameters)
	if t := s.Timeouts; t != nil && t.Install != nil {
		f.field(".timeouts.install").whenf(t.Install.Duration < 0, "install must be a duration in hours, minutes and seconds, such as 30m")
	}
	return list
}

// validMethod says what doesn't go together of method, mode and user data.
func validMethod(f faults, s v1alpha1.BootProfileSpec) {
	plain := []v1alpha1.UserDataFormat{"", v1alpha1.UserDataNone, v1alpha1.UserDataCloudInit}
	all := append(slices.Clone(plain), v1alpha1.UserDataIgnition, v1alpha1.UserDataTalos, v1alpha1.UserDataKickstart,
		v1alpha1.UserDataPreseed, v1alpha1.UserDataAutoinstall)
	methods := []v1alpha1.BootMethod{v1alpha1.BootMethodDiskImage, v1alpha1.BootMethodInstaller, v1alpha1.BootMethodKernel, v1alpha1.BootMethodISO, v1alpha1.BootMethodScript}
	method, format := f.field(".method"), f.field(".userDataFormat")
	method.whenf(!slices.Contains(methods, s.Method), "method must be one of %v, and is %q", methods, s.Method)
	method.whenf(s.Mode == v1alpha1.BootModeLive && s.Method != v1alpha1.BootMethodKernel && s.Method != v1alpha1.BootMethodISO,
		"mode: Live needs method: Kernel or ISO, since nothing is written to a disk")
	format.whenf(!slices.Contains(all, s.UserDataFormat), "userDataFormat must be one of %v, and is %q", all[1:], s.UserDataFormat)
	format.whenf(s.Method == v1alpha1.BootMethodInstaller && slices.Contains(plain, s.UserDataFormat),
		"method: Installer needs a userDataFormat that answers the installer's questions: Autoinstall, Ignition, Kickstart, Preseed or Talos")
	format.whenf(s.Method == v1alpha1.BootMethodDiskImage && !slices.Contains(plain, s.UserDataFormat),
		"userDataFormat: %s is for method: Installer or Kernel, whose kernel reads it; use None or CloudInit", s.UserDataFormat)
	if s.Method == v1alpha1.BootMethodISO {
		format.whenf(s.UserDataFormat != "" && s.UserDataFormat != v1alpha1.UserDataNone,
			"userDataFormat: %s does not go with method: ISO, whose system is told nothing by bootd; use None", s.UserDataFormat)
		f.field(".commandLine").whenf(len(s.CommandLine) > 0, "commandLine doesn't go with method: ISO, whose own loader has its kernel's; leave it out")
	}
	f.field(".mode").whenf(s.Mode == v1alpha1.BootModeLive && s.UserDataFormat != v1alpha1.UserDataIgnition && !slices.Contains(plain, s.UserDataFormat),
		"userDataFormat: %s installs to a disk, which needs a grant: use mode: Install", s.UserDataFormat)
}

// validTemplates says whether there are templates where they're wanted, and nowhere else. What is wrong inside of one is boot.CheckTemplates'
// to say.
func validTemplates(f faults, s v1alpha1.BootProfileSpec) {
	at, some := f.field(".scriptTemplate"), s.ScriptTemplate != "" || s.GrubTemplate != ""
	at.whenf(s.Method != v1alpha1.BootMethodScript && some, "scriptTemplate and grubTemplate are for method: Script alone; leave them out")
	at.whenf(s.Method == v1alpha1.BootMethodScript && !some, "method: Script needs a scriptTemplate for iPXE, a grubTemplate for grub, or both")
	at.whenf(len(s.ScriptTemplate) > boot.MaxTemplate, "scriptTemplate is longer than %d bytes", boot.MaxTemplate)
	f.field(".grubTemplate").whenf(len(s.GrubTemplate) > boot.MaxTemplate, "grubTemplate is longer than %d bytes", boot.MaxTemplate)
}

func validArtifacts(f faults, s v1alpha1.BootProfileSpec) {
	f.whenf(len(s.Artifacts) == 0, "artifacts must hold the files of one architecture at least")
	seen := map[v1alpha1.Architecture]bool{}
	for i, a := range s.Artifacts {
		at := f.field("[%d]", i)
		at.field(".arch").whenf(a.Arch != v1alpha1.AMD64 && a.Arch != v1alpha1.ARM64, "arch must be amd64 or arm64, and is %q", a.Arch)
		at.field(".arch").whenf(seen[a.Arch], "architecture %s is there twice", a.Arch)
		seen[a.Arch] = true
		validISO(at, a, s.Method)
		at.whenf(a.Kernel == nil && s.Method != v1alpha1.BootMethodISO, "each of artifacts needs a kernel")
		if a.Kernel != nil {
			validArtifact(at.field(".kernel"), *a.Kernel)
		}
		at.field(".initrds").whenf(len(a.Initrds) > 16, "initrds has more than 16 files")
		for j, x := range a.Initrds {
			validArtifact(at.field(".initrds[%d]", j), x)
		}
		at.whenf(s.Method == v1alpha1.BootMethodDiskImage && a.Image == nil, "method: DiskImage needs an image in each of artifacts")
		validRaspberryPi(at, a, s.Method)
		at.field(".image").whenf(s.Method != v1alpha1.BootMethodDiskImage && a.Image != nil, "image is for method: DiskImage alone; leave it out of artifacts")
		if m := a.Image; m != nil {
			validArtifact(at.field(".image"), m.Artifact)
			validFormat(at.field(".image.format"), m.Format)
			at.field(".image.compression").whenf(m.Format == boot.FormatQCOW2 && m.Compression != "" && m.Compression != "None",
				"compression doesn't go with format: QCOW2, which has its own; leave it out")
			at.field(".image.compression").whenf(!slices.Contains([]string{"", "None", "Gzip", "Zstd", "Xz"}, m.Compression),
				"compression must be None, Gzip, Zstd or Xz, and is %q", m.Compression)
		}
	}
}

// validISO says whether there's an ISO where one is wanted, and nowhere else.
func validISO(f faults, a v1alpha1.ProfileArtifacts, m v1alpha1.BootMethod) {
	if a.ISO != nil {
		validArtifact(f.field(".iso"), *a.ISO)
		f.field(".iso").whenf(m != v1alpha1.BootMethodISO, "iso is for method: ISO alone; leave it out of artifacts")
	}
	if m == v1alpha1.BootMethodISO {
		f.whenf(a.ISO == nil, "method: ISO needs an iso in each of artifacts")
		f.whenf(a.Kernel != nil || len(a.Initrds) > 0 || a.RaspberryPi != nil,
			"kernel, initrds and raspberryPi don't go with method: ISO, which has its own; leave them out of artifacts")
	}
}

func validParameters(f faults, ps []v1alpha1.ProfileParameter) {
	f.whenf(len(ps) > 32, "parameters has more than 32 parameters")
	seen := map[string]bool{}
	for i, p := range ps {
		at := f.field("[%d]", i)
		at.field(".name").whenf(!parameterKey.MatchString(p.Name), "the name of a parameter is letters and digits, beginning with a lower-case letter, and one is %q", p.Name)
		at.field(".name").whenf(seen[p.Name], "parameter %s is there twice", p.Name)
		seen[p.Name] = true
		at.field(".default").whenf(p.Default != nil && len(*p.Default) > 256, "default is longer than 256 characters")
		at.field(".pattern").whenf(len(p.Pattern) > 256, "pattern is longer than 256 characters")
	}
}

func validNamespaces(f faults, a *v1alpha1.AllowedNamespaces) {
	if a == nil {
		return
	}
	f.field(".from").whenf(!slices.Contains([]v1alpha1.AllowedFrom{"None", v1alpha1.AllowedFromSame, v1alpha1.AllowedFromAll, v1alpha1.AllowedFromNames}, a.From),
		"from must be None, Same, All or Names, and is %q", a.From)
}

// patternDefault is what a parameter without a pattern must match.
const patternDefault = "^[A-Za-z0-9._-]{0,64}$"

// DefaultProfile fills in what an API server fills in.
func DefaultProfile(p *v1alpha1.BootProfile) {
	if p.Spec.UserDataFormat == "" {
		p.Spec.UserDataFormat = v1alpha1.UserDataNone
	}
	if i := p.Spec.Installer; i != nil && i.Report == "" {
		i.Report = v1alpha1.InstallerReportCallback
	}
	for i := range p.Spec.Artifacts {
		if m := p.Spec.Artifacts[i].Image; m != nil {
			m.Format, m.Compression = or(m.Format, boot.FormatRaw), or(m.Compression, "None")
		}
	}
	for i := range p.Spec.Parameters {
		p.Spec.Parameters[i].Pattern = or(p.Spec.Parameters[i].Pattern, patternDefault)
	}
}

// validFormat says what is wrong with an image's format. Who says OCI means where the image lies, which its URL says (docs/adr/0092).
func validFormat(f faults, format string) {
	f.whenf(format == "OCI", "format says what is in the file: Raw or QCOW2; name the registry by an oci:// URL")
	f.whenf(!slices.Contains([]string{"", boot.FormatRaw, boot.FormatQCOW2, "OCI"}, format), "format must be Raw or QCOW2, and is %q", format)
}
