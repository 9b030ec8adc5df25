package dhcp

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/ipxe"
)

// withShims are all files of a bootd, with an iPXE for ARM64 or, as in Debian, without.
func withShims(ipxeARM64 string) Files {
	f := testFiles
	f.UEFIARM64, f.ShimAMD64, f.ShimARM64, f.GrubARM64 = ipxeARM64, "shimx64.efi", "shimaa64.efi", "grubaa64-alone.efi"
	return f
}

// asUBoot is what U-Boot's distro boot says, whose option 93 and class are those of UEFI.
func asUBoot(arch byte) dhcpv4.Modifier {
	return all(option(93, 0, arch), option(94, 1, 0, 0), text(60, fmt.Sprintf("PXEClient:Arch:%05d:UNDI:003000", arch)), option(55, 1, 3, 6, 12, 17), option(57, 2, 64))
}

// granted is a state in which a plan's install is granted, on either architecture; change may make it another.
func granted(p boot.Plan, change func(*boot.Plan, *boot.Session)) *boot.State {
	p.Artifacts = []boot.Artifacts{{Arch: boot.AMD64}, {Arch: boot.ARM64}}
	s := testState(nil).Sessions["entry-1"]
	g := *s.Grant
	s.Grant = &g
	if change != nil {
		change(&p, &s)
	}
	if s.Grant != nil {
		s.Grant.PlanDigest = p.Digest()
	}
	st := testState(nil, p)
	st.Sessions[s.EntryUID] = s
	return st
}

// TestShimWhereItBoots: a machine that nobody has said it of is given the shim where it boots something from here, and only an address
// otherwise, as ever; one that's said to boot by it is always asked.
func TestShimWhereItBoots(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*boot.Plan, *boot.Session)
		want   bool
	}{
		"Granted": {"its install", nil, true},
		"Live":    {"what it netboots each time", func(p *boot.Plan, s *boot.Session) { p.Mode, p.InstallGeneration, s.Grant = boot.ModeLive, 0, nil }, true},
		"Disk":    {"it never asked for anything", func(p *boot.Plan, s *boot.Session) { p.InstallGeneration, s.Grant = 0, nil }, false},
		"Holds": {"it waited at its disk before", func(p *boot.Plan, s *boot.Session) {
			p.InstallGeneration, p.Otherwise, s.Grant = 0, boot.OtherwiseHold, nil
		}, false},
		"NoGrant":   {"nobody has confirmed it", func(_ *boot.Plan, s *boot.Session) { s.Grant = nil }, false},
		"Expired":   {"nobody came for it", func(_ *boot.Plan, s *boot.Session) { s.Grant.Expires = testNow }, false},
		"Revoked":   {"the session is closed", func(_ *boot.Plan, s *boot.Session) { s.Revocation = "x" }, false},
		"Installed": {"it has its system", func(p *boot.Plan, _ *boot.Session) { p.InstalledGeneration = 1 }, false},
		"Used": {
			"its installer starts again", func(_ *boot.Plan, s *boot.Session) {
				s.Consumed = &boot.Consumption{GrantID: s.Grant.ID, HostUID: "host-1", EntryUID: "entry-1", Generation: 1}
			}, false,
		},
		"BootLoop": {
			"five boots of it came to nothing", func(_ *boot.Plan, s *boot.Session) {
				s.OpenedGrantID, s.Opened = s.Grant.ID, make([]boot.Opened, boot.MaxOpens)
			}, false,
		},
		"OtherArch": {"its files are for another processor", func(p *boot.Plan, _ *boot.Session) { p.Artifacts = p.Artifacts[:1] }, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for stage, want := range map[boot.FirstStage]bool{boot.FirstStageAuto: tc.want, "": tc.want, boot.FirstStageShim: true} {
				v := testView(granted(testPlan(func(p *boot.Plan) { p.FirstStage = stage }), tc.change))
				v.Files = withShims("")
				p := offer(t, v, asPXE(11))
				if _, _, _, ok := ipxe.LoaderOf(p.BootFileName); ok != want || !ok && p.BootFileName != "" || !p.YourIPAddr.Equal(testAddress.AsSlice()) {
					t.Errorf("%s: by %q it's given %s and told to load %q, want the shim: %t", tc.reason, stage, p.YourIPAddr, p.BootFileName, want)
				}
			}
		})
	}
}

// TestShimBesideAWrongClock: what has expired by it may be good, and its machine is to wait in its loader until the gate knows.
func TestShimBesideAWrongClock(t *testing.T) {
	v := testView(granted(testPlan(), func(_ *boot.Plan, s *boot.Session) { s.Grant.Expires = testNow.Add(-24 * time.Hour) }))
	v.Files, v.Skewed = withShims(""), func() bool { return true }
	if p := offer(t, v, asPXE(11)); p.BootFileName == "" {
		t.Error("it's told to load nothing, and goes to its disk")
	}
}

// TestGrubToTheDisk: a machine that is sent to its disk by grub has that named once it is to go there, and installs by what it has.
func TestGrubToTheDisk(t *testing.T) {
	disk := func(p *boot.Plan, _ *boot.Session) { p.InstalledGeneration = 1 }
	httpBoot := all(option(93, 0, 16), text(60, "HTTPClient:Arch:00016:UNDI:003016"))
	const shim = "the shim"
	cases := map[string]struct {
		reason string
		change func(*boot.Plan, *boot.Session)
		files  Files
		req    dhcpv4.Modifier
		want   string
	}{
		"Disk":     {"its firmware shows a menu otherwise", disk, withShims(""), asPXE(7), shim},
		"Install":  {"by iPXE, which has HTTP", nil, withShims(""), asPXE(7), "snponly.efi"},
		"Holds":    {"it waits in iPXE", func(_ *boot.Plan, s *boot.Session) { s.Revocation = "x" }, withShims(""), asPXE(7), "snponly.efi"},
		"NotThere": {"this bootd has no grub: as Auto", disk, testFiles, asPXE(7), "snponly.efi"},
		"BIOS":     {"iPXE starts its disk", disk, withShims(""), asPXE(0), "undionly.kpxe"},
		"HTTPBoot": {"grub has no HTTP", disk, withShims(""), httpBoot, "http"},
		"ARM64":    {"here, too", disk, withShims(""), asPXE(11), shim},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := testView(granted(testPlan(func(p *boot.Plan) { p.LocalBoot = boot.LocalBootGrub }), tc.change))
			v.Files = tc.files
			file := offer(t, v, tc.req).BootFileName
			if _, _, _, ok := ipxe.LoaderOf(file); ok != (tc.want == shim) || !ok && !strings.HasPrefix(file, tc.want) {
				t.Errorf("%s: it's told to load %q, want %s", tc.reason, file, tc.want)
			}
		})
	}
}

// TestFirstStage: what a machine's firmware is told to load, by what its plan says. TOKEN stands for the token of its exchange.
func TestFirstStage(t *testing.T) {
	httpBoot := func(arch byte) dhcpv4.Modifier {
		return all(option(93, 0, arch), text(60, "HTTPClient:Arch:00016:UNDI:003016"))
	}
	cases := map[string]struct {
		reason string
		stage  boot.FirstStage
		files  Files
		req    dhcpv4.Modifier
		want   string
	}{
		"Auto":        {"iPXE, as ever", boot.FirstStageAuto, withShims(""), asPXE(7), "snponly.efi"},
		"Unsaid":      {"the same", "", withShims(""), asPXE(7), "snponly.efi"},
		"Shim":        {"its own folder, by the token of its exchange", boot.FirstStageShim, withShims(""), asPXE(7), "/TOKEN/x64/shimx64.efi"},
		"BIOS":        {"knows nothing of signatures", boot.FirstStageShim, withShims(""), asPXE(0), "undionly.kpxe"},
		"HTTPBoot":    {"Debian's grub has no HTTP: nothing, and the firmware goes on to PXE", boot.FirstStageShim, withShims(""), httpBoot(16), ""},
		"ARM64":       {"Debian has no iPXE for it", boot.FirstStageAuto, withShims(""), asPXE(11), "/TOKEN/aa64/shimaa64.efi"},
		"ARM64IPXE":   {"where an operator has one it's taken", boot.FirstStageAuto, withShims("snponly-arm64.efi"), asPXE(11), "snponly-arm64.efi"},
		"ARM64Shim":   {"unless the machine says otherwise", boot.FirstStageShim, withShims("snponly-arm64.efi"), asPXE(11), "/TOKEN/aa64/shimaa64.efi"},
		"ARM64HTTP":   {"as for x64", boot.FirstStageAuto, withShims(""), httpBoot(19), ""},
		"Native":      {"its driver doesn't go on: iPXE's own do", boot.FirstStageNativeIPXE, withShims(""), asPXE(7), "ipxe.efi"},
		"NativeHTTP":  {"the same by its URL", boot.FirstStageNativeIPXE, withShims(""), httpBoot(16), "http://10.99.0.1:8080/v1/firmware/ipxe.efi"},
		"NativeBIOS":  {"has one way to its NIC", boot.FirstStageNativeIPXE, withShims(""), asPXE(0), "undionly.kpxe"},
		"NativeIA32":  {"there's nothing for it", boot.FirstStageNativeIPXE, withShims(""), asPXE(6), ""},
		"NativeNone":  {"neither snponly.efi nor grub, which go by the firmware's driver", boot.FirstStageNativeIPXE, Files{UEFIAMD64: "snponly.efi", ShimAMD64: "shimx64.efi"}, asPXE(7), ""},
		"NativeARM64": {"Debian 13's", boot.FirstStageNativeIPXE, Files{UEFIARM64: "snponly-arm64.efi", NativeARM64: "ipxe-arm64.efi"}, asPXE(11), "ipxe-arm64.efi"},
		"NativeNoARM": {"nor here", boot.FirstStageNativeIPXE, withShims("snponly-arm64.efi"), asPXE(11), ""},
		"NotThere":    {"nothing unsigned instead", boot.FirstStageShim, testFiles, asPXE(7), ""},
		"IA32":        {"there's nothing for it", boot.FirstStageShim, withShims(""), asPXE(6), ""},
		"System":      {"boots nothing", boot.FirstStageShim, withShims(""), text(60, "x"), ""},
		"UBoot":       {"a shim finds no grub there", boot.FirstStageAuto, withShims(""), asUBoot(11), "/TOKEN/aa64/grubaa64-alone.efi"},
		"UBootIPXE":   {"and an iPXE stops", boot.FirstStageAuto, withShims("snponly-arm64.efi"), asUBoot(11), "/TOKEN/aa64/grubaa64-alone.efi"},
		"UBootShim":   {"grub is signed, too", boot.FirstStageShim, withShims(""), asUBoot(11), "/TOKEN/aa64/grubaa64-alone.efi"},
		"UBootNative": {"whoever wants that iPXE has it", boot.FirstStageNativeIPXE, Files{NativeARM64: "ipxe-arm64.efi", GrubARM64: "grubaa64-alone.efi"}, asUBoot(11), "ipxe-arm64.efi"},
		"UBootX64":    {"nobody has seen one here", boot.FirstStageAuto, withShims(""), asUBoot(7), "snponly.efi"},
		"UBootFirst":  {"before it says that it's UEFI it runs nothing of ours", boot.FirstStageShim, withShims(""), all(option(93, 0, 22), option(94, 1, 0, 0), text(60, "U-Boot.armv8")), ""},
		"UBootNoGrub": {"an address, and no promise", boot.FirstStageShim, testFiles, asUBoot(11), ""},
		"ARM64NoShim": {"an address, and no promise", boot.FirstStageAuto, testFiles, asPXE(11), ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := testView(granted(testPlan(func(p *boot.Plan) { p.FirstStage = tc.stage }), nil))
			v.Files = tc.files
			got := offer(t, v, tc.req).BootFileName
			if token, arch, file, ok := ipxe.LoaderOf(got); ok {
				if c, err := boot.Verify(v.Keys, token, v.Now); err != nil || c.Kind != boot.TokenScript || c.Entry != boot.KeyOf("entry-1") {
					t.Errorf("its token is %+v, %v", c, err)
				}
				if len(got) > 127 {
					t.Errorf("%q is longer than DHCP's file field, which the shim reads", got)
				}
				got = ipxe.LoaderPath("TOKEN", arch, file)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestShimNeedsKeys: without a token there'd be no grub.cfg.
func TestShimNeedsKeys(t *testing.T) {
	v := testView(testState(nil, testPlan(func(p *boot.Plan) { p.FirstStage = boot.FirstStageShim })))
	v.Files, v.Keys = withShims(""), nil
	if a, p := answered(t, v, request(t, asPXE(7)), broadcastIn()); p != nil || a.Reason != SilentNoKeys {
		t.Errorf("%s: %v", a.Reason, p)
	}
}

// TestShimByProxy: grub takes its server from who gave the address, which isn't us.
func TestShimByProxy(t *testing.T) {
	v := testView(testState(func(g *boot.Segment) { g.Mode = boot.SegmentProxy }, testPlan(func(p *boot.Plan) { p.FirstStage = boot.FirstStageShim })))
	v.Files, v.Proxy = withShims(""), true
	if a, p := answered(t, v, request(t, asPXE(7)), broadcastIn()); p != nil || a.Reason != SilentNoFile {
		t.Errorf("%s: %v", a.Reason, p)
	}
}

// TestNativeByProxy: iPXE's own drivers ask DHCP anew, and so don't mind who gave the address.
func TestNativeByProxy(t *testing.T) {
	v := testView(testState(ofMode(boot.SegmentProxy), testPlan(native)))
	v.Proxy = true
	if _, p := answered(t, v, request(t, asPXE(7)), broadcastIn()); p == nil || p.BootFileName != "ipxe.efi" {
		t.Errorf("it's told %v", p)
	}
	v.Files.NativeAMD64 = ""
	if a, p := answered(t, v, request(t, asPXE(7)), broadcastIn()); p != nil || a.Reason != SilentNoFile {
		t.Errorf("where there is none: %s: %v", a.Reason, p)
	}
}
