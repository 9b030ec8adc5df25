package specdir

import (
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestCopiedUID: a block of what kubectl printed is copied with its metadata.uid. The grant of one machine isn't the other's.
func TestCopiedUID(t *testing.T) {
	uid := func(entry string) string {
		return strings.Replace(entry, "{namespace: lab, ", "{namespace: lab, uid: x, ", 1)
	}
	r := newRig(t, "")
	r.write("net.yaml", networkYAML+"---\n"+profileYAML+"---\n"+givenYAML)
	r.write("m.yaml", uid(entryYAML("m2", mac2, "10.77.0.12", 0))+"---\n"+uid(entryYAML("m1", mac1, "10.77.0.11", 1)))
	r.start()
	if r.grant() == nil {
		t.Errorf("the one that asks is granted its install\n%s", r.said.String())
	}
	st := r.src.State()
	other, ok := st.ByMAC(mac2)
	if !ok {
		t.Fatalf("the other has no address\n%s", r.said.String())
	}
	behind, _ := st.ByEntry(boot.KeyOf(other.EntryUID))
	if s, has := st.Sessions[other.EntryUID]; behind.Entry != other.Entry || has || other.InstallGeneration != 0 {
		t.Errorf("the token of %s is of %+v, with session %+v", other.Entry, behind, s)
	}
}

// TestContested: of two entries that want one MAC or one address nothing is installed. A restart, which reads the files in another order, doesn't change who that is.
func TestContested(t *testing.T) {
	copied := entryYAML("a-copy", mac1, "10.77.0.12", 1)
	sameAddress := entryYAML("a-copy", mac2, "10.77.0.11", 1)
	live := strings.NewReplacer("mode: Install\n  method: DiskImage\n", "mode: Live\n  method: Kernel\n", "name: debian", "name: live",
		`      image: {url: "http://x.example/i", digest: "`+kernel+`"}`+"\n", "").Replace(profileYAML)
	cases := map[string]struct {
		reason, first, second string
	}{
		"Running": {reason: "a machine that asks for no install keeps its MAC", first: entryYAML("m1", mac1, "10.77.0.11", 0), second: copied},
		"Live": {
			reason: "so does one without a disk", second: copied,
			first: strings.Replace(entryYAML("m1", mac1, "10.77.0.11", 1), "name: debian", "name: live", 1),
		},
		"Address":        {reason: "and its address", first: entryYAML("m1", mac1, "10.77.0.11", 0), second: sameAddress},
		"Granted":        {reason: "one that was granted an install waits with it", first: entryYAML("m1", mac1, "10.77.0.11", 1), second: copied},
		"GrantedAddress": {reason: "also over an address", first: entryYAML("m1", mac1, "10.77.0.11", 1), second: sameAddress},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "")
			r.write("net.yaml", networkYAML+"---\n"+profileYAML+"---\n"+givenYAML+"---\n"+live)
			r.write("m.yaml", tc.first)
			r.start()
			check := func(when string) {
				t.Helper()
				r.turn()
				p, ok := r.src.State().ByMAC(mac1)
				if !ok || p.Entry.Name != "m1" || len(r.src.State().Plans()) != 1 {
					t.Errorf("%s: %s: %+v of %d is served\n%s", tc.reason, when, p, len(r.src.State().Plans()), r.said.String())
				}
				if g := r.grant(); g != nil {
					t.Errorf("%s: %s: granted: %+v\n%s", tc.reason, when, g, r.said.String())
				}
			}
			r.write("a.yaml", tc.second)
			check("beside the other")
			r.stop()
			r.pass(-50 * 365 * 24 * time.Hour) // A clock that isn't set yet.
			r.start()
			check("after a restart")
		})
	}
}

// TestContestedByOne: an entry wants what two others have, and each of them is named.
func TestContestedByOne(t *testing.T) {
	r := newRig(t, sharedYAML+"---\n"+entryYAML("m1", mac1, "10.77.0.11", 1)+"---\n"+entryYAML("m2", mac2, "10.77.0.12", 1))
	r.start()
	r.write("m.yaml", entryYAML("m3", mac1, "10.77.0.12", 1))
	r.turn()
	r.says("address 10.77.0.12 is already BootEntry lab/m2's", "MAC "+mac1+" is already BootEntry lab/m1's")
	for _, mac := range []boot.MAC{mac1, mac2} {
		if p, ok := r.src.State().ByMAC(mac); !ok || !r.src.Held(p) || !strings.Contains(r.src.Why(p), "another entry wants what it has") {
			t.Errorf("%s: %q", mac, r.src.Why(p))
		}
	}
}

// TestContestedNew: two entries that both ask, and of which nothing is known: none is installed, and it's said why.
func TestContestedNew(t *testing.T) {
	r := newRig(t, "")
	r.write("net.yaml", networkYAML+"---\n"+profileYAML+"---\n"+givenYAML)
	r.write("m.yaml", entryYAML("m1", mac1, "10.77.0.11", 1)+"---\n"+entryYAML("m2", mac1, "10.77.0.12", 1))
	r.start()
	if g := r.grant(); g != nil || r.plan() == nil {
		t.Errorf("%+v of %+v", g, r.plan())
	}
	r.says("nothing is installed on that machine either")
	r.write("m.yaml", entryYAML("m1", mac1, "10.77.0.11", 1))
	r.turn()
	if r.grant() == nil {
		t.Errorf("once it's decided, it's installed\n%s", r.said.String())
	}
}
