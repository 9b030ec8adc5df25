package boot

import (
	"net/netip"
	"strings"
	"testing"
)

// TestReservedWords: a profile says nothing by its command line that bootd says, nor what lets a kernel write before it asked.
func TestReservedWords(t *testing.T) {
	cases := map[string]struct {
		reason         string
		format         string
		method         Method
		words, machine []string
		problem        string
	}{
		"Plain":          {reason: "what says nothing of user data", format: UserDataTalos, method: MethodInstaller, words: []string{"init_on_alloc=1 talos.platform=metal", "talos.dashboard.disabled=1"}},
		"TalosConfig":    {reason: "Talos takes the first of two", format: UserDataTalos, method: MethodKernel, words: []string{"quiet talos.config=http://x/"}, problem: `the word "talos.config=http://x/", which bootd gives itself for userDataFormat Talos`},
		"TalosInline":    {reason: "nor a config in the word itself", format: UserDataTalos, method: MethodKernel, words: []string{"talos.config.inline=aGk="}, problem: "which bootd gives itself"},
		"TalosWipe":      {reason: "it wipes before it asks", format: UserDataTalos, method: MethodInstaller, words: []string{"talos.experimental.wipe=system"}, problem: "use method Kernel, which uses the grant up with the script"},
		"TalosWipeAlone": {reason: "which a kernel that uses the grant up may", format: UserDataTalos, method: MethodKernel, words: []string{"talos.experimental.wipe=system"}},
		"CoreOS":         {reason: "coreos-installer asks nobody", format: UserDataIgnition, method: MethodInstaller, words: []string{"coreos.inst.install_dev=/dev/sda"}, problem: "write to the disk before it asks"},
		"Ignition":       {reason: "two configs", format: UserDataIgnition, method: MethodKernel, words: []string{"ignition.config.url=http://x/"}, problem: "which bootd gives itself"},
		"IgnitionTells":  {reason: "that there's one may be said", format: UserDataIgnition, method: MethodKernel, words: []string{"ignition.firstboot ignition.platform.id=qemu"}},
		"Kickstart":      {reason: "another file", format: UserDataKickstart, method: MethodInstaller, words: []string{"inst.ks=cdrom:/ks.cfg"}, problem: "which bootd gives itself"},
		"KickstartParts": {reason: "whatever it's about", format: UserDataKickstart, method: MethodInstaller, words: []string{"inst.ks.all"}, problem: "which bootd gives itself"},
		"KickstartRepo":  {reason: "where packages are is the profile's", format: UserDataKickstart, method: MethodInstaller, words: []string{"inst.repo=http://x/"}},
		"Preseed":        {reason: "another file", format: UserDataPreseed, method: MethodInstaller, words: []string{"file=/cdrom/preseed.cfg"}, problem: "write to the disk before it asks"},
		"PreseedCommand": {reason: "it would run first", format: UserDataPreseed, method: MethodInstaller, words: []string{"preseed/early_command=x"}, problem: "write to the disk before it asks"},
		"PreseedURL":     {reason: "behind the line, too", format: UserDataPreseed, method: MethodInstaller, words: []string{"---", "url=http://x/"}, problem: "which bootd gives itself"},
		"Seed":           {reason: "another seed", format: UserDataAutoinstall, method: MethodInstaller, words: []string{"ds=none"}, problem: "which bootd gives itself"},
		"CloudConfig":    {reason: "another answer", format: UserDataAutoinstall, method: MethodInstaller, words: []string{"cloud-config-url=http://x/"}, problem: "write to the disk before it asks"},
		"Autoinstall":    {reason: "that it's automatic may be said", format: UserDataAutoinstall, method: MethodInstaller, words: []string{"autoinstall", "url=http://x/ubuntu.iso"}},
		"Quoted":         {reason: "a kernel takes quotes away", format: UserDataKickstart, method: MethodInstaller, words: []string{`"inst.ks=x"`}, problem: "which bootd gives itself"},
		"Within":         {reason: "wherever they stand", format: UserDataPreseed, method: MethodKernel, words: []string{`u"r"l=http://x/`}, problem: "which bootd gives itself"},
		"Open":           {reason: "a kernel takes what follows for a part of the word", format: UserDataNone, method: MethodKernel, words: []string{`foo="bar`, "quiet"}, problem: `has a double quote that isn't closed`},
		"Closed":         {reason: "one that ends is the profile's own", format: UserDataNone, method: MethodKernel, words: []string{`foo="bar`, `baz" quiet`}},
		"Machine":        {reason: "nor does a host", format: UserDataKickstart, method: MethodInstaller, machine: []string{"inst.ks=x"}, problem: "or from the host's commandLine"},
		"Callback":       {reason: "who reports elsewhere is never installed", format: UserDataPreseed, method: MethodInstaller, words: []string{"--- baremetal.callback=http://x"}, problem: "which bootd gives itself"},
		"CloudInit":      {reason: "of a format that was there before, ours count, being the last", format: UserDataCloudInit, method: MethodKernel, words: []string{"ds=none", "baremetal.callback=x"}},
		"Loader":         {reason: "iPXE would put its own setting in its place", format: UserDataNone, method: MethodKernel, words: []string{"quiet", "x=${net0/mac}"}, problem: `can't be handed to a kernel: the word "x=${net0/mac}" holds ${`},
		"Chain":          {reason: "a command of iPXE's would end there", format: UserDataNone, method: MethodKernel, words: []string{"quiet || splash"}, problem: `the word "||" would end the command`},
		"HostLoader":     {reason: "a host's are handed on by it, too", format: UserDataNone, method: MethodKernel, machine: []string{`x\`}, problem: `ends with a backslash, which would join it with the next line; correct it there, in the entry's parameters, or in the host's commandLine`},
		"None":           {reason: "of none all is the profile's", format: UserDataNone, method: MethodKernel, words: []string{"inst.ks=http://x/"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := Profile{Name: Name{"infra", "x"}, Mode: ModeInstall, Method: tc.method, UserDataFormat: tc.format, CommandLine: tc.words}
			n := SegmentConfig{Subnets: []Subnet{{CIDR: netip.MustParsePrefix("10.77.0.0/24")}}}
			m := Machine{HostUID: "host", MACs: []string{"52:54:00:00:00:01"}, CommandLine: tc.machine}
			_, prob := Resolve(Entry{Addresses: prefixes("10.77.0.11/24")}, p, n, m)
			switch {
			case prob == nil && tc.problem != "":
				t.Errorf("%s: no problem, want %q", tc.reason, tc.problem)
			case prob != nil && (tc.problem == "" || !strings.Contains(prob.Message, tc.problem)):
				t.Errorf("%s: %s, want %q", tc.reason, prob.Message, tc.problem)
			}
		})
	}
}

// TestCarried: what loads the kernel says which words it can't hand on, where it's known before the machine boots what that is.
func TestCarried(t *testing.T) {
	arm := []Artifacts{{Arch: AMD64}, {Arch: ARM64}}
	pi := []Artifacts{{Arch: ARM64, RaspberryPi: &RaspberryPi{}}}
	cases := map[string]struct {
		reason    string
		first     FirstStage
		artifacts []Artifacts
		word      string
		want      string
	}{
		"IPXE":        {reason: "it has no way to quote", word: "a${b}", want: "iPXE would replace"},
		"Native":      {reason: "which it is, too", first: FirstStageNativeIPXE, word: "#a", want: "would end the command"},
		"ARM64":       {reason: "it has grub where there's no iPXE for it, and by U-Boot", artifacts: arm, word: "a${b}"},
		"ARM64Native": {reason: "which who wants iPXE's own drivers doesn't", first: FirstStageNativeIPXE, artifacts: arm, word: "a${b}", want: "iPXE would replace"},
		"Shim":        {reason: "grub hands it on, and a BIOS has iPXE all the same", first: FirstStageShim, word: "a${b}"},
		"RaspberryPi": {reason: "its firmware reads a file", artifacts: pi, word: "a${b}"},
		"ShimNoASCII": {reason: "nothing hands that on", first: FirstStageShim, word: "ä", want: "isn't printable ASCII"},
		"PiNoASCII":   {reason: "nor does a Pi's file", artifacts: pi, word: "ä", want: "isn't printable ASCII"},
		"Quotes":      {reason: "a kernel takes them", word: `a="b c"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			prob := checkCarried(Profile{Artifacts: tc.artifacts}, tc.first, []string{"quiet", tc.word})
			if prob == nil != (tc.want == "") || prob != nil && !strings.Contains(prob.Message, tc.want) {
				t.Errorf("%s: %v, want %q", tc.reason, prob, tc.want)
			}
		})
	}
	for name, carried := range map[string]func(string) error{"ipxe": CarriedByIPXE, "grub": CarriedByGrub, "file": CarriedByFile} {
		if carried("console=ttyS0,115200n8") != nil || carried("a\nb") == nil {
			t.Errorf("%s: a plain word isn't carried, or a line's end is", name)
		}
	}
}

// TestSilentWords: a profile that says nobody reports leaves it to bootd to see that a machine which begins again was installed.
func TestSilentWords(t *testing.T) {
	cases := map[string]struct {
		reason  string
		format  string
		word    string
		problem bool
	}{
		"Same":     {reason: "it may say so itself", format: UserDataTalos, word: "panic=0"},
		"Restarts": {reason: "a Talos that failed would begin again, and its old system be taken for the new one", format: UserDataTalos, word: "panic=10", problem: true},
		"Bare":     {reason: "nor without a number", format: UserDataTalos, word: "panic", problem: true},
		"Kexec":    {reason: "what is started past the firmware isn't seen", format: UserDataTalos, word: "sysctl.kernel.kexec_load_disabled=0", problem: true},
		"Other":    {reason: "another word", format: UserDataTalos, word: "panic_on_oops=1"},
		"Format":   {reason: "of others nothing is known", format: UserDataKickstart, word: "panic=10"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := Profile{Name: Name{"infra", "x"}, Mode: ModeInstall, Method: MethodInstaller, UserDataFormat: tc.format, SilentInstaller: true}
			prob := checkWords(p, []string{"quiet " + tc.word})
			if (prob != nil) != tc.problem || prob != nil && !strings.Contains(prob.Message, "panic=0 sysctl.kernel.kexec_load_disabled=1") {
				t.Errorf("%s: %v", tc.reason, prob)
			}
			if p.SilentInstaller = false; checkWords(p, []string{tc.word}) != nil {
				t.Errorf("%s: it's the profile's own where its installer reports", tc.reason)
			}
		})
	}
}

func TestAnsweredBy(t *testing.T) {
	for format, want := range map[string]bool{
		"": false, UserDataNone: false, UserDataCloudInit: false, "Sysprep": false,
		UserDataIgnition: true, UserDataTalos: true, UserDataKickstart: true, UserDataPreseed: true, UserDataAutoinstall: true,
	} {
		if got := AnsweredBy(format); got != want {
			t.Errorf("AnsweredBy(%q) = %t", format, got)
		}
	}
}
