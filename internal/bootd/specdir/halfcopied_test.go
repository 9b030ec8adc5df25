package specdir

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestHalfCopiedAtAStart: bootd starts while somebody copies its folder. Machines whose files aren't there yet have their addresses and boot
// their disks; nothing is installed by them until their files are there. What isn't there at the end is gone.
func TestHalfCopiedAtAStart(t *testing.T) {
	const mac3 = "52:54:00:00:00:03"
	m1, m2, m3 := entryYAML("m1", mac1, "10.77.0.11", 1), entryYAML("m2", mac2, "10.77.0.12", 0), entryYAML("m3", mac3, "10.77.0.13", 0)
	cases := map[string]struct {
		reason string
		first  map[string]string
		rest   map[string]string
	}{
		"Files":   {reason: "of three files one is there", first: map[string]string{"1.yaml": sharedYAML + "---\n" + m2}, rest: map[string]string{"2.yaml": m1, "3.yaml": m3}},
		"Bytes":   {reason: "of one file the first half is there, which is right by itself", first: map[string]string{"1.yaml": sharedYAML + "---\n" + m2}, rest: map[string]string{"1.yaml": sharedYAML + "---\n" + m2 + "---\n" + m1 + "---\n" + m3}},
		"Network": {reason: "their network comes last", first: map[string]string{"1.yaml": m2 + "---\n" + m1}, rest: map[string]string{"2.yaml": sharedYAML, "3.yaml": m3}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "")
			for n, text := range tc.rest {
				r.write(n, text)
			}
			for n, text := range tc.first {
				if _, twice := tc.rest[n]; !twice {
					r.write(n, text)
				}
			}
			r.start()
			if r.told(mac1) != boot.AnswerInstall || r.told(mac3) != boot.AnswerLocalDisk {
				t.Fatalf("%s\n%s", tc.reason, r.said.String())
			}
			before := r.src.State()
			r.stop()
			for n := range tc.rest {
				remove(t, filepath.Join(r.dir, n))
			}
			for n, text := range tc.first {
				r.write(n, text)
			}
			slow := func(o *Options) { o.Before, o.Still = before, 200*time.Millisecond }
			r.start(slow)
			for range 3 {
				for _, mac := range []boot.MAC{mac1, mac2, mac3} {
					if _, ok := r.src.State().ByMAC(mac); !ok {
						t.Fatalf("%s: %s isn't served while the folder is copied\n%s", tc.reason, mac, r.said.String())
					}
				}
				if r.told(mac1) == boot.AnswerInstall || r.told(mac3) == boot.AnswerInstall {
					t.Fatalf("%s: installed by half a folder\n%s", tc.reason, r.said.String())
				}
				r.turn()
			}
			for n, text := range tc.rest {
				r.write(n, text)
			}
			r.turn()
			time.Sleep(250 * time.Millisecond)
			r.turn()
			if r.told(mac1) != boot.AnswerInstall || r.told(mac2) != boot.AnswerLocalDisk || r.told(mac3) != boot.AnswerLocalDisk {
				t.Errorf("%s: all is there: %s, %s, %s\n%s", tc.reason, r.told(mac1), r.told(mac2), r.told(mac3), r.said.String())
			}
		})
	}
}

// TestDeletedBeforeAStart: a machine that was taken out of the folder while bootd was away is served a while longer, and then it's gone.
func TestDeletedBeforeAStart(t *testing.T) {
	r := newRig(t, "")
	r.write("net.yaml", networkYAML+"---\n"+profileYAML+"---\n"+givenYAML)
	r.write("m1.yaml", entryYAML("m1", mac1, "10.77.0.11", 0))
	r.write("m2.yaml", entryYAML("m2", mac2, "10.77.0.12", 0))
	r.start()
	before := r.src.State()
	r.stop()
	remove(t, filepath.Join(r.dir, "m1.yaml"))
	r.start(func(o *Options) { o.Before, o.Still = before, 10*time.Millisecond })
	if r.plan() == nil {
		t.Errorf("m1 may be on its way\n%s", r.said.String())
	}
	r.says("it may be half copied")
	time.Sleep((settled + 5) * 10 * time.Millisecond)
	r.turn()
	if _, ok := r.src.State().ByMAC(mac2); r.plan() != nil || !ok {
		t.Errorf("m1 is gone, and served\n%s", r.said.String())
	}
	r.says("are named by files again, or gone with them")
	remove(t, filepath.Join(r.dir, "m2.yaml"))
	r.turn()
	if _, ok := r.src.State().ByMAC(mac2); ok {
		t.Error("while bootd runs what is removed is gone at once")
	}
}
