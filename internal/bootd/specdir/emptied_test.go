package specdir

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestEmptied: a file that's empty is one that is being written, whatever was wrong with it before and whoever starts bootd meanwhile: an installed machine
// boots its disk, and nothing is installed.
func TestEmptied(t *testing.T) {
	one := func(generation int) string { return entryYAML("m1", mac1, "10.77.0.11", generation) }
	rival := entryYAML("m9", mac1, "10.77.0.19", 0)
	starts := func(r *rig, meanwhile func()) {
		r.restart(meanwhile, func(o *Options) { o.Still = 10 * time.Millisecond })
	}
	cases := map[string]struct {
		reason string
		do     func(r *rig)
		right  map[string]string // What makes it right again.
	}{
		"Runs": {"its own is", func(r *rig) { r.write("m.yaml", one(2)); r.src.look(); r.write("m.yaml", "\n") }, map[string]string{"m.yaml": one(2)}},
		"Null": {"null says no more", func(r *rig) { r.write("m.yaml", one(2)); r.src.look(); r.write("m.yaml", "null\n") }, map[string]string{"m.yaml": one(2)}},
		"Nil":  {"nor does null behind a mark", func(r *rig) { r.write("m.yaml", one(2)); r.src.look(); r.write("m.yaml", "--- Null\n...\n") }, map[string]string{"m.yaml": one(2)}},
		"Wide": {"nor an empty file in UTF-16", func(r *rig) { r.write("m.yaml", one(2)); r.src.look(); r.write("m.yaml", utf16LE("\r\n")) }, map[string]string{"m.yaml": one(2)}},
		"Own":  {"at a start, too", func(r *rig) { starts(r, func() { r.write("m.yaml", "") }) }, map[string]string{"m.yaml": one(2)}},
		"Net":  {"its network's is, at a start", func(r *rig) { starts(r, func() { r.write("net.yaml", "") }) }, map[string]string{"m.yaml": one(2), "net.yaml": "THE SAME"}},
		"Rival": {"one of an entry that wants its MAC is, and bootd was started since", func(r *rig) {
			r.write("z.yaml", rival)
			r.turn()
			r.write("m.yaml", one(2))
			r.write("z.yaml", "")
			r.turn()
			starts(r, nil)
		}, map[string]string{"z.yaml": "# nothing\n"}},
		"Wrong": {"its own was wrong since the start", func(r *rig) {
			starts(r, func() { r.write("m.yaml", "a: b\n c: d\n") })
			r.write("m.yaml", "")
		}, map[string]string{"m.yaml": one(2)}},
		"Another": {"another one was", func(r *rig) {
			starts(r, func() { r.write("z.yaml", "a: b\n c: d\n"); r.write("m.yaml", one(2)) })
			r.write("z.yaml", "")
		}, map[string]string{"z.yaml": "# nothing\n"}},
		"New": {"a new one was first, and became a wrong one", func(r *rig) {
			r.write("z.yaml", "")
			r.turn()
			r.write("z.yaml", "a: b\n c: d\n")
			r.write("m.yaml", one(2))
		}, map[string]string{"z.yaml": rivalOf(rival)}},
		"Unreadable": {"or one that can't be read", func(r *rig) {
			r.write("z.yaml", "# nothing yet\n")
			r.turn()
			remove(r.t, r.dir+"/z.yaml")
			if err := os.Mkdir(r.dir+"/.z", 0o700); err != nil {
				r.t.Fatal(err)
			}
			if err := os.Symlink(".z", r.dir+"/z.yaml"); err != nil {
				r.t.Fatal(err)
			}
			r.write("m.yaml", one(2))
		}, nil},
		"Copy": {"one is that said something else of it", func(r *rig) {
			r.write("n.yaml", one(2))
			r.turn()
			r.write("m.yaml", "")
			r.turn()
			r.says("m.yaml:1: BootEntry lab/m1 stood there, too, before that file was wrong or empty: what ")
		}, map[string]string{"m.yaml": "# it stands in n.yaml\n"}},
		"CopyWrong": {"or is wrong", func(r *rig) {
			r.write("n.yaml", one(2))
			r.turn()
			r.write("m.yaml", "a: b\n c: d\n")
		}, map[string]string{"m.yaml": "# it stands in n.yaml\n"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "")
			r.write("net.yaml", sharedYAML)
			r.write("m.yaml", one(1))
			r.start()
			r.install(true)
			tc.do(r)
			for range 3 {
				r.turn()
				if got := r.told(mac1); r.grant() != nil || got != boot.AnswerLocalDisk {
					t.Fatalf("%s: it's told %s\n%s", tc.reason, got, r.said.String())
				}
				time.Sleep((settled + 5) * 10 * time.Millisecond)
			}
			if tc.right == nil {
				return
			}
			for file, text := range tc.right {
				r.write(file, strings.Replace(text, "THE SAME", sharedYAML, 1))
			}
			if g := r.granted(); g == nil || g.Generation != 2 {
				t.Errorf("%s: it's right again, and granted %+v\n%s", tc.reason, g, r.said.String())
			}
		})
	}
}

// rivalOf is an entry's text as one that wants nobody's MAC and address.
func rivalOf(text string) string {
	return strings.NewReplacer(mac1, mac2, "10.77.0.19", "10.77.0.12").Replace(text)
}
