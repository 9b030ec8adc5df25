package bootspec

import (
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// raspberryPi gives a profile's files for Raspberry Pis as plans need them.
func raspberryPi(r *v1alpha1.RaspberryPiFiles, pull string) *boot.RaspberryPi {
	if r == nil {
		return nil
	}
	out := &boot.RaspberryPi{Config: r.Config}
	for _, f := range r.Files {
		out.Files = append(out.Files, boot.NamedArtifact{Name: f.Name, Artifact: artifact(f.Artifact, pull)})
	}
	return out
}

// planRaspberryPi writes them as a plan has them.
func planRaspberryPi(r *boot.RaspberryPi) *v1alpha1.PlanRaspberryPi {
	if r == nil {
		return nil
	}
	out := &v1alpha1.PlanRaspberryPi{Config: r.Config}
	for _, f := range r.Files {
		out.Files = append(out.Files, v1alpha1.PlanFile{Name: f.Name, URL: f.URL, Digest: f.Digest})
	}
	return out
}

// planRaspberryPiOf reads what planRaspberryPi has written.
func planRaspberryPiOf(r *v1alpha1.PlanRaspberryPi, pull string) *boot.RaspberryPi {
	if r == nil {
		return nil
	}
	out := &boot.RaspberryPi{Config: r.Config}
	for _, f := range r.Files {
		out.Files = append(out.Files, boot.NamedArtifact{Name: f.Name, Artifact: boot.Artifact{URL: f.URL, Digest: f.Digest, PullSecret: pull}})
	}
	return out
}

const (
	// mostPiInitrds is how many names of initrds go into the 80 characters that a Raspberry Pi's firmware reads of them.
	mostPiInitrds = 9
	mostPiFiles   = 64
	mostPiConfig  = 64
	mostPiName    = 64
	piConfigLine  = 98
)

var (
	piFileForm   = formOf(`^(bootcode\.bin|start[a-z0-9_]*\.elf|fixup[a-z0-9_]*\.dat|bcm27[a-z0-9-]+\.dtb|armstub8[a-z0-9-]*\.bin|overlays/[A-Za-z0-9][A-Za-z0-9_.-]*\.dtbo?)$`) //nolint:gochecknoglobals // A pattern, as regexp.MustCompile gives it.
	piConfigForm = formOf(`^(\[[A-Za-z0-9=:_.-]+\]|[a-z][A-Za-z0-9_:.@-]*=[ -~]*)$`)                                                                                             //nolint:gochecknoglobals // A pattern, as regexp.MustCompile gives it.
	piOursForm   = formOf(`^(kernel|cmdline|arm_64bit|os_prefix|overlay_prefix|ramfsfile|ramfsaddr|auto_initramfs|boot_ramdisk)=`)                                               //nolint:gochecknoglobals // A pattern, as regexp.MustCompile gives it.
)

func validRaspberryPi(f faults, a v1alpha1.ProfileArtifacts, m v1alpha1.BootMethod) {
	r := a.RaspberryPi
	if r == nil {
		return
	}
	at := f.field(".raspberryPi")
	at.whenf(a.Arch != v1alpha1.ARM64, "raspberryPi goes with arch: arm64")
	at.whenf(m == v1alpha1.BootMethodScript, "raspberryPi doesn't go with method: Script, which its firmware doesn't run; use another method")
	f.field(".initrds").whenf(len(a.Initrds) > mostPiInitrds, "a Raspberry Pi's firmware takes 9 initrds at most")
	at.field(".files").whenf(len(r.Files) == 0, "files must name what the firmware asks for, such as start4.elf")
	at.field(".files").whenf(len(r.Files) > mostPiFiles, "files has more than 64 files")
	seen := map[string]bool{}
	for i, x := range r.Files {
		to := at.field(".files[%d]", i)
		to.field(".name").whenf(len(x.Name) > mostPiName || !piFileForm.MatchString(x.Name),
			"a file's name is bootcode.bin, start*.elf, fixup*.dat, bcm27*.dtb, armstub8*.bin, or overlays/ with a .dtbo or .dtb, and one is %q", x.Name)
		to.field(".name").whenf(seen[x.Name], "file %s is there twice", x.Name)
		seen[x.Name] = true
		validArtifact(to, x.Artifact)
	}
	config := at.field(".config")
	config.whenf(len(r.Config) > mostPiConfig, "config has more than 64 lines")
	for i, l := range r.Config {
		config.field("[%d]", i).whenf(len(l) > piConfigLine || strings.ContainsAny(l, "\r\n") || !piConfigForm.MatchString(l),
			"a line of config is KEY=VALUE or [FILTER] in at most 98 printable ASCII characters, and one is %q", l)
		config.whenf(piOursForm.MatchString(l),
			"config may not set kernel, cmdline, arm_64bit, os_prefix, overlay_prefix, ramfsfile, ramfsaddr, auto_initramfs or boot_ramdisk: bootd says these itself")
	}
}
