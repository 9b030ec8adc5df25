package specdir

import (
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestCopiedUID: a block of what kubectl printed is copied with its metadata.uid. The grant of one machine isn't the other's.
func TestCopiedUID(t *testing.T) {
	uid := func(entry string) string { return strings.Replace(entry, "{namespace: lab, ", "{namespace: lab, uid: x, ", 1) }
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
	if s, has := st.Sessions[other.EntryUID]; behind != other || has || other.InstallGeneration != 0 {
		t.Errorf("the token of %s is of %+v, with session %+v", other.Entry, behind, s)
	}
}
