package boot

import (
	"net/netip"
	"testing"
	"time"
)

func TestDigest(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*Plan)
		same   bool
	}{
		"Host":         {reason: "Another machine is another install.", change: func(p *Plan) { p.HostUID = "other" }},
		"Entry":        {reason: "Another entry is another install, whatever its name.", change: func(p *Plan) { p.EntryUID = "other" }},
		"Serial":       {reason: "A swapped board is another machine.", change: func(p *Plan) { p.Serial = "X" }},
		"Address":      {reason: "The address is written into the system.", change: func(p *Plan) { p.Network.Address = netip.MustParsePrefix("10.77.0.12/24") }},
		"Second":       {reason: "So is one of IPv6 beside it.", change: func(p *Plan) { p.Network.Six = &Place{Address: netip.MustParsePrefix("2001:db8::11/64")} }},
		"Kernel":       {reason: "Other bytes.", change: func(p *Plan) { p.Artifacts = []Artifacts{{Arch: AMD64}} }},
		"ISO":          {reason: "Another image.", change: func(p *Plan) { p.Artifacts = []Artifacts{{Arch: AMD64, ISO: &Artifact{Digest: "sha256:i"}}} }},
		"CommandLine":  {reason: "Other words.", change: func(p *Plan) { p.CommandLine = []string{"quiet"} }},
		"UserData":     {reason: "Other user data.", change: func(p *Plan) { p.UserDataDigest = "sha256:u" }},
		"Hostname":     {reason: "Another name.", change: func(p *Plan) { p.Hostname = "web-2" }},
		"Interface":    {reason: "Another network in its system.", change: func(p *Plan) { p.Network.Interface = &Interface{VLAN: 77} }},
		"MACs":         {reason: "Some BMCs list MACs only once the machine is on.", change: func(p *Plan) { p.MACs = nil }, same: true},
		"Generation":   {reason: "The grant names it by itself.", change: func(p *Plan) { p.InstallGeneration = 7 }, same: true},
		"Installed":    {reason: "What was done doesn't change what would be.", change: func(p *Plan) { p.InstalledGeneration = 7 }, same: true},
		"Otherwise":    {reason: "What is told instead of an install isn't the install.", change: func(p *Plan) { p.Otherwise = OtherwiseHold }, same: true},
		"Timeout":      {reason: "Patience changes no byte on the disk.", change: func(p *Plan) { p.InstallTimeout = time.Hour }, same: true},
		"Silent":       {reason: "Its kernel is told other words, without which its signs say nothing.", change: func(p *Plan) { p.SilentInstaller = true }},
		"EmptyForNil":  {reason: "A plan that was written and read again is the same.", change: func(p *Plan) { p.CommandLine, p.Network.DNS = []string{}, []netip.Addr{} }, same: true},
		"EmptyInitrds": {reason: "The same for what is nested.", change: func(p *Plan) { p.Network.NTP = []netip.Addr{} }, same: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := plan(tc.change).Digest() == plan().Digest(); got != tc.same {
				t.Errorf("%s\nDigest() is the same: %t, want %t", tc.reason, got, tc.same)
			}
		})
	}
	p := plan()
	_ = p.Digest()
	if p.Artifacts[0].Initrds == nil {
		t.Error("Digest() changed the plan")
	}
}

func TestKernelDestroys(t *testing.T) {
	cases := map[string]struct {
		reason string
		mode   Mode
		method Method
		want   bool
	}{
		"DiskImage": {reason: "The installer asks before it writes.", mode: ModeInstall, method: MethodDiskImage},
		"Installer": {reason: "Its user data is what it asks for.", mode: ModeInstall, method: MethodInstaller},
		"Kernel":    {reason: "A kernel that installs by itself asks nobody.", mode: ModeInstall, method: MethodKernel, want: true},
		"ISO":       {reason: "An ISO may be an installer that asks nobody.", mode: ModeInstall, method: MethodISO, want: true},
		"LiveISO":   {reason: "A live system writes no disk.", mode: ModeLive, method: MethodISO},
		"Script":    {reason: "A script may do anything.", mode: ModeInstall, method: MethodScript, want: true},
		"Live":      {reason: "A live system writes no disk.", mode: ModeLive, method: MethodKernel},
	}
	for name, tc := range cases {
		if got := (&Plan{Mode: tc.mode, Method: tc.method}).KernelDestroys(); got != tc.want {
			t.Errorf("%s: %s\nKernelDestroys() = %t", name, tc.reason, got)
		}
	}
}
