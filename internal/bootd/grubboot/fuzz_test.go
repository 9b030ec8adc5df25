package grubboot

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// FuzzOwn: whatever is asked for, nothing is opened without a token, and of one with a token no more than is behind its folder.
func FuzzOwn(f *testing.F) {
	r := newRig(f, nil)
	script, files := r.token(boot.TokenScript), r.token(boot.TokenBoot)
	for _, seed := range []string{
		"", "/", "grub.cfg", "x/x64/grub.cfg", "\x00/x64/\xff", "SCRIPT/x64/grub.cfg", "SCRIPT/x64/../x64/grub.cfg", "BOOT/files/sha256-aaaa", "BOOT/files/sha256-",
		"SCRIPT//x64/grub.cfg", "//SCRIPT/aa64/shimaa64.efi", "BOOT/x64/grub.cfg", "SCRIPT/files/sha256-aaaa", "BOOT/files/sha512:aaaa",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		asked := strings.NewReplacer("SCRIPT", script, "BOOT", files).Replace(name)
		_, ok := r.server.Own(asked, netip.Addr{}, netip.MustParseAddr("10.77.0.1"))
		trimmed := strings.TrimPrefix(asked, "/")
		if ok && !strings.HasPrefix(trimmed, script+"/x64/") && !strings.HasPrefix(trimmed, script+"/aa64/") && !strings.HasPrefix(trimmed, files+"/files/") {
			t.Errorf("%q is a file of somebody's", name)
		}
		if len(r.sessions.calls) > 0 {
			t.Errorf("%q asked %v before it was opened", name, r.sessions.calls)
		}
	})
}
