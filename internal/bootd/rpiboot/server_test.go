package rpiboot

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/tftp"
)

// TestBoot: all that a boot asks for is there, however often, and its grant is opened or used once.
func TestBoot(t *testing.T) {
	three := []string{"bootcode.bin", serial + "/start.elf", serial + "/fixup.dat", serial + "/config.txt", serial + "/bcm2710-rpi-3-b-plus.dtb", serial + "/cmdline.txt", serial + "/initrd0", serial + "/kernel8.img"}
	five := []string{serial + "/config.txt", serial + "/bcm2712-rpi-5-b.dtb", serial + "/kernel8.img", serial + "/initrd0", serial + "/cmdline.txt"}
	cases := map[string]struct {
		reason string
		change func(*rig)
		names  []string
		calls  []string
	}{
		"Pi4":         {"its grant is opened with the first word of it", nil, four(), []string{"open"}},
		"Pi4Destroys": {"or used, and the kernel noted each time", destroys, four(), []string{"open", "consume", "deliver", "deliver"}},
		"Pi4Live":     {"no grant is needed", live, four(), nil},
		"Pi3":         {"begins with a file of its own", nil, three, []string{"open"}},
		"Pi3Destroys": {"the same", destroys, three, []string{"open", "consume", "deliver", "deliver"}},
		"Pi5":         {"has most of its firmware itself, and may ask for the kernel first", nil, five, []string{"open"}},
		"Pi5Destroys": {"then that uses the grant", destroys, five, []string{"open", "consume", "deliver", "deliver"}},
		"LastOpening": {"the last script of a grant is one, for all of its boot", func(r *rig) {
			r.session.OpenedGrantID, r.session.Opened = grantID, make([]boot.Opened, boot.MaxOpens-1)
		}, four(), []string{"open"}},
		"FirstRefused": {"what isn't there is asked for, too", nil, append([]string{serial + "/start4.elf"}, four()...), []string{"open"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, tc.change)
			r.asksDHCP(false)
			for _, none := range []string{"pieeprom.sig", "recover4.elf", "recovery.elf", "boot.img", "kernel_2712.img", "overlays/x.dtbo", "bootsig.bin", "image"} {
				if _, err := r.get(serial + "/" + none); !errors.Is(err, tftp.ErrNotFound) {
					t.Errorf("%s: %v", none, err)
				}
			}
			if refused, err := r.boots(tc.names...); err != nil {
				t.Errorf("%s: %s: %v", tc.reason, refused, err)
			}
			if diff := cmp.Diff(tc.calls, r.calls); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff([]boot.Stage{boot.StageDHCP}, r.seen); diff != "" {
				t.Errorf("its start is a sight, once: -want +got:\n%s", diff)
			}
			if r.files.open != 0 {
				t.Errorf("%d files are held", r.files.open)
			}
		})
	}
}

// TestTold: what the two texts hold.
func TestTold(t *testing.T) {
	r := newRig(t, nil)
	r.asksDHCP(true)
	config, err := r.get(serial + "/config.txt")
	want := "# edge/pi-1: install\nenable_uart=1\n[all]\narm_64bit=1\nkernel=kernel8.img\ncmdline=cmdline.txt\ninitramfs initrd0 followkernel\n"
	if diff := cmp.Diff(want, config); diff != "" || err != nil {
		t.Errorf("%v: -want +got:\n%s", err, diff)
	}
	if len(r.calls) > 0 {
		t.Errorf("looking at it asked %v", r.calls)
	}
	line, err := r.get(serial + "/cmdline.txt")
	if err != nil || strings.Count(line, "\n") != 1 || !strings.HasSuffix(line, "\n") {
		t.Errorf("%v: %q", err, line)
	}
	for _, word := range []string{"baremetal.callback=http://10.77.0.1:8480/v1/boot/", "ds=nocloud;s=http://10.77.0.1:8480/v1/boot/", "baremetal.mac=dc:a6:32:ec:fc:3c", "baremetal.address=10.77.0.11/24"} {
		if !strings.Contains(" "+line, " "+word) {
			t.Errorf("no %s in %q", word, line)
		}
	}
	again, err := r.get(serial + "/cmdline.txt")
	if err != nil || again != line {
		t.Errorf("another one at the next request: %v", err)
	}
	if len(r.seen) > 0 {
		t.Errorf("DHCP was told of its start already: %v", r.seen)
	}
}

// TestNothing: what has no live grant gets no file at all, of any name; who is held gets no answer.
func TestNothing(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*rig)
		want   error
	}{
		"NoGrant":   {"it goes on to its disk", func(r *rig) { r.session.Grant = nil }, errDisk},
		"Disk":      {"generation 0", func(r *rig) { r.plan.InstallGeneration = 0 }, errDisk},
		"Installed": {"it's done", func(r *rig) { r.plan.InstalledGeneration = 1 }, errDisk},
		"Used": {"by another boot", func(r *rig) {
			r.session.Consumed = &boot.Consumption{GrantID: grantID, EntryUID: "entry", Generation: 1, Nonce: "other"}
		}, errDisk},
		"UsedKernel": {
			"by another boot's kernel", func(r *rig) {
				destroys(r)
				r.session.Consumed = &boot.Consumption{GrantID: grantID, EntryUID: "entry", Generation: 1, Nonce: "other"}
			}, errDisk,
		},
		"Expired":   {"too late", func(r *rig) { r.session.Grant.Expires = r.now }, errDisk},
		"Otherwise": {"it waits, where it says so", func(r *rig) { r.session.Grant, r.plan.Otherwise = nil, boot.OtherwiseHold }, tftp.ErrLater},
		"Other":     {"the grant of another plan", func(r *rig) { r.session.Grant.PlanDigest = "sha256:other" }, tftp.ErrLater},
		"Behind":    {"one that lags installs nothing", func(r *rig) { r.synced = false }, tftp.ErrLater},
		"Revoked":   {"a released machine", func(r *rig) { r.session.Revocation = "r" }, tftp.ErrLater},
		"NoFile":    {"a file isn't here yet", func(r *rig) { r.files.err = errBoom }, tftp.ErrLater},
		"Word":      {"a word that can't be told", func(r *rig) { r.plan.CommandLine = []string{"a\x07b"} }, tftp.ErrLater},
		"LiveWord":  {"nor where it netboots each time", func(r *rig) { live(r); r.plan.CommandLine = []string{"a\x07b"} }, tftp.ErrLater},
		"BootLoop": {"five boots came to nothing, and it has begun again", func(r *rig) {
			r.session.OpenedGrantID, r.session.Opened = grantID, make([]boot.Opened, boot.MaxOpens+1)
		}, tftp.ErrLater},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, tc.change)
			r.asksDHCP(true)
			for _, name := range four() {
				if text, err := r.get(name); !errors.Is(err, tc.want) || errors.Is(tc.want, tftp.ErrLater) != errors.Is(err, tftp.ErrLater) {
					t.Errorf("%s: %s: %v %q, want %v", tc.reason, name, err, text, tc.want)
				}
			}
			if len(r.calls) > 0 {
				t.Errorf("%s: asked %v", tc.reason, r.calls)
			}
			if diff := cmp.Diff([]session.Kind{session.SawScript}, r.sights); diff != "" {
				t.Errorf("it's said once a boot: -want +got:\n%s", diff)
			}
		})
	}
}

// TestSilent: of an installer that doesn't report, its machine's being sent to its disk by a later exchange is the sign.
func TestSilent(t *testing.T) {
	r := newRig(t, func(r *rig) { r.plan.Method, r.plan.SilentInstaller = boot.MethodInstaller, true })
	r.session.Consumed = &boot.Consumption{GrantID: grantID, EntryUID: "entry", Generation: 1, Nonce: "other", At: r.now}
	r.asksDHCP(true)
	if refused, err := r.boots(four()...); !errors.Is(err, errDisk) {
		t.Fatalf("%s: %v", refused, err)
	}
	x := r.last
	if !x.Silent || !x.Disk || x.Reason != boot.DecidedConsumed || x.GrantID != grantID || x.Exchange.IsZero() {
		t.Errorf("%+v", x)
	}
}

// TestRefusedLate: what is refused at the last step gets neither token nor kernel, and a moment's trouble isn't for good.
func TestRefusedLate(t *testing.T) {
	for name, change := range map[string]func(*rig){"Image": nil, "Kernel": destroys} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, change)
			r.asksDHCP(true)
			r.err = errBoom
			for _, name := range []string{"/cmdline.txt", "/kernel8.img"} {
				if text, err := r.get(serial + name); !errors.Is(err, tftp.ErrLater) {
					t.Errorf("%s while the API is down: %v %q", name, err, text)
				}
			}
			r.err = nil
			if refused, err := r.boots(four()...); err != nil {
				t.Errorf("afterwards: %s: %v", refused, err)
			}
			r.session.Revocation = "r"
			for _, name := range four() {
				if text, err := r.get(name); err == nil {
					t.Errorf("%s after it was revoked: %q", name, text)
				}
			}
		})
	}
}

// TestResetAfterTheKernel: a machine whose kernel destroys, and which starts again, is given nothing by the same grant, not even within the
// minute and by the same number of its exchange: neither where that is a new exchange, nor where it begins without one.
func TestResetAfterTheKernel(t *testing.T) {
	for name, again := range map[string]func(*rig){
		"Pi4":    func(r *rig) { r.asksDHCP(true) },
		"Pi3":    func(r *rig) { r.asksDHCP(false) },
		"NoDHCP": func(*rig) {},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, destroys)
			r.asksDHCP(name == "Pi4")
			if refused, err := r.boots(four()...); err != nil {
				t.Fatalf("%s: %v", refused, err)
			}
			again(r)
			names := four()
			if name == "NoDHCP" { // Without its beginning nothing runs that would ask for the rest.
				names = []string{serial + "/start4.elf", serial + "/config.txt", "bootcode.bin"}
			}
			for _, name := range names {
				if text, err := r.get(name); err == nil || errors.Is(err, tftp.ErrLater) {
					t.Errorf("%s: %v, %q", name, err, text)
				}
			}
			if diff := cmp.Diff([]string{"open", "consume", "deliver", "deliver"}, r.calls); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestResetBefore: one that starts again before it had its kernel gets it by another script of its grant where that isn't used, and else not.
func TestResetBefore(t *testing.T) {
	r := newRig(t, nil)
	r.asksDHCP(true)
	first, err := r.get(serial + "/cmdline.txt")
	if err != nil {
		t.Fatal(err)
	}
	r.now = r.now.Add(2 * time.Minute)
	r.asksDHCP(true)
	second, err := r.get(serial + "/cmdline.txt")
	if err != nil || first == second || len(r.session.Opened) != 2 {
		t.Errorf("%v: %d scripts, the same: %t", err, len(r.session.Opened), first == second)
	}
	r = newRig(t, destroys)
	r.asksDHCP(true)
	if _, err := r.get(serial + "/cmdline.txt"); err != nil {
		t.Fatal(err)
	}
	r.now = r.now.Add(2 * time.Minute)
	r.asksDHCP(true)
	if refused, err := r.boots(four()...); !errors.Is(err, errDisk) {
		t.Errorf("%s: %v", refused, err)
	}
}

// TestOnePlan: a boot gets files of one plan, whenever that changes.
func TestOnePlan(t *testing.T) {
	for n := range len(four()) {
		r := newRig(t, destroys)
		r.asksDHCP(true)
		if refused, err := r.boots(four()[:n]...); err != nil {
			t.Fatalf("%s: %v", refused, err)
		}
		r.plan.Artifacts = append([]boot.Artifacts(nil), r.plan.Artifacts...)
		r.plan.Artifacts[0].Kernel.Digest = "initrd"
		for _, name := range four()[n:] {
			if text, err := r.get(name); err == nil {
				t.Errorf("after %d files: %s is given of another plan: %q", n, name, text)
			}
		}
	}
}

// TestStrangers: an address, a name and a time that aren't this boot's.
func TestStrangers(t *testing.T) {
	cases := map[string]struct {
		reason string
		client netip.Addr
		name   string
		after  time.Duration
		silent bool
	}{
		"Serial":       {"TFTP_PREFIX=0", address, serial + "/cmdline.txt", 0, false},
		"OtherOrder":   {"the octets of option 97 as they stand there", address, "da06ffe0/cmdline.txt", 0, false},
		"MAC":          {"TFTP_PREFIX=2", address, "dc-a6-32-ec-fc-3c/cmdline.txt", 0, false},
		"Capitals":     {"as somebody's firmware may write it", address, "DC-A6-32-EC-FC-3C/cmdline.txt", 0, false},
		"String":       {"TFTP_PREFIX=1", address, "site/rack-7/cmdline.txt", 0, false},
		"None":         {"after it has found nothing below its prefix", address, "cmdline.txt", 0, false},
		"Late":         {"a slow boot", address, serial + "/cmdline.txt", 14 * time.Minute, false},
		"TooLate":      {"no boot takes so long", address, serial + "/cmdline.txt", 15 * time.Minute, true},
		"OtherAddress": {"who isn't it", netip.MustParseAddr("10.77.0.12"), serial + "/cmdline.txt", 0, true},
		"OtherSerial":  {"another machine, which says so", address, "d4659bbd/cmdline.txt", 0, true},
		"OtherMAC":     {"the same", address, "dc-a6-32-00-00-01/cmdline.txt", 0, true},
		"Deep":         {"no prefix is so deep", address, "a/b/c/d/e/f/g/h/cmdline.txt", 0, true},
		"Behind":       {"nothing is below a file", address, "cmdline.txt/x", 0, true},
		"Empty":        {"nothing", address, "", 0, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			r.asksDHCP(true)
			r.now = r.now.Add(tc.after - time.Second)
			text, err := r.from(tc.client, tc.name)
			if silent := errors.Is(err, tftp.ErrNotFound); silent != tc.silent || (text == "") != tc.silent {
				t.Errorf("%s: %v, %q", tc.reason, err, text)
			}
		})
	}
	r := newRig(t, nil)
	if _, err := r.get(serial + "/cmdline.txt"); !errors.Is(err, tftp.ErrNotFound) {
		t.Errorf("without DHCP: %v", err)
	}
	r.asksDHCP(true)
	r.plan.Network.Address = netip.MustParsePrefix("10.77.0.99/24")
	if _, err := r.get(serial + "/cmdline.txt"); !errors.Is(err, tftp.ErrNotFound) {
		t.Errorf("after it was planned another address: %v", err)
	}
}

// TestUnpackedImage: of an image of QEMU's the installer is told the digest of the disk that it's given.
func TestUnpackedImage(t *testing.T) {
	r := newRig(t, func(r *rig) { r.plan.Artifacts[0].Image.Format = boot.FormatQCOW2 })
	r.asksDHCP(true)
	if text, err := r.get("cmdline.txt"); err != nil || !strings.Contains(text, " baremetal.image-digest="+rawDigest+" baremetal.image-format=Raw ") {
		t.Errorf("%v\n%s", err, text)
	}
}

// TestForesee: what would be told is told, and nothing is done for it.
func TestForesee(t *testing.T) {
	r := newRig(t, nil)
	r.asksDHCP(true)
	a, text, err := r.server.Foresee(t.Context(), r.server.of[address].Token, "", 0)
	if err != nil || a.Answer != boot.AnswerInstall || len(r.calls)+len(r.sights)+len(r.seen) > 0 {
		t.Errorf("%v, %v, asked %v, seen %v %v", err, a, r.calls, r.sights, r.seen)
	}
	if !strings.Contains(text, "kernel=kernel8.img\n") || !strings.Contains(text, "baremetal.callback=http://BOOTD/v1/boot/BOOT-TOKEN ") {
		t.Errorf("it shows\n%s", text)
	}
	if a, text, err := r.server.Foresee(t.Context(), "x", "", 0); err != nil || a.Answer != boot.AnswerHold || text != "" {
		t.Errorf("%v, %v, %q", err, a, text)
	}
	r = newRig(t, func(r *rig) { r.plan.Artifacts[0].RaspberryPi = nil })
	r.asksDHCP(true)
	if a, _, err := r.server.Foresee(t.Context(), r.server.of[address].Token, "", 0); err != nil || !strings.Contains(a.Message, "artifacts[].raspberryPi") {
		t.Errorf("without files for it: %v, %+v", err, a)
	}
}

// TestManyBoots: what is remembered is bounded.
func TestManyBoots(t *testing.T) {
	r := newRig(t, nil)
	r.asksDHCP(true)
	x := r.server.of[address].Pi
	for i := range maxBoots + 10 {
		p := *x.Plan
		p.Network.Address = netip.PrefixFrom(netip.AddrFrom4([4]byte{11, byte(i >> 16), byte(i >> 8), byte(i)}), 8)
		x.Plan = &p
		r.server.Began(x)
	}
	if n := len(r.server.of); n > maxBoots {
		t.Errorf("%d boots are remembered", n)
	}
}

// FuzzOwn: whatever is asked for, only names of this plan are there, and asking opens nothing.
func FuzzOwn(f *testing.F) {
	r := newRig(f, nil)
	r.asksDHCP(true)
	for _, seed := range append(four(), "", "/", "../cmdline.txt", "\x00/kernel8.img", "overlays/../kernel8.img", "a/overlays/overlay_map.dtb") {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if _, ok := r.server.Own(name, address, ours); ok && !strings.ContainsAny(name, "abcdefghijklmnopqrstuvwxyz") {
			t.Errorf("%q is a file", name)
		}
		if _, ok := r.server.Own(name, ours, ours); ok {
			t.Errorf("%q is a stranger's", name)
		}
		if len(r.calls) > 0 {
			t.Errorf("%q asked %v before it was opened", name, r.calls)
		}
	})
}

// TestTwoBoards: once an address asks for another board's files, there are two at it. The other one's firmware would go on with the bare
// names, which any board asks for: none of them has this boot's grant.
func TestTwoBoards(t *testing.T) {
	r := newRig(t, nil)
	r.asksDHCP(true)
	for _, name := range []string{"d4659bbd/start4.elf", "config.txt", "cmdline.txt", "kernel8.img", serial + "/cmdline.txt"} {
		if text, err := r.get(name); !errors.Is(err, tftp.ErrNotFound) || text != "" {
			t.Errorf("%s: %v, %q", name, err, text)
		}
	}
	if len(r.calls) > 0 {
		t.Errorf("asked %v", r.calls)
	}
	r.now = r.now.Add(time.Minute)
	r.asksDHCP(true)
	if _, err := r.get(serial + "/cmdline.txt"); err != nil {
		t.Errorf("who asked DHCP since: %v", err)
	}
}
