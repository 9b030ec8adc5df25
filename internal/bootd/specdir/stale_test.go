package specdir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestStaleSpecsInstallNothing: what is kept from before, since it has become wrong, can't be read or is gone, gives addresses and boots
// from disk. Nothing is installed by it, nor granted anew, until it's right again.
func TestStaleSpecsInstallNothing(t *testing.T) {
	machine := entryYAML("m1", mac1, "10.77.0.11", 1)
	broken := "---\nkind: BootEntri\n"
	cases := map[string]struct {
		reason string
		do     func(r *rig)
		// gone says that it isn't served either.
		gone bool
		// still says that it's installed all the same.
		still bool
	}{
		"Same":         {reason: "nothing is wrong", do: func(*rig) {}, still: true},
		"WrongBeside":  {reason: "another document is wrong, and this one stands as it is", do: func(r *rig) { r.write("m.yaml", machine+broken) }, still: true},
		"Entry":        {reason: "the entry is wrong", do: func(r *rig) { r.write("m.yaml", strings.Replace(machine, "generation: 1", "generation: x", 1)) }},
		"EntryRemoved": {reason: "the entry was taken out, and another is wrong", do: func(r *rig) { r.write("m.yaml", broken) }},
		"Profile":      {reason: "its profile is wrong", do: func(r *rig) { r.write("net.yaml", strings.Replace(sharedYAML, "mode: Install", "mode: Instal", 1)) }},
		"Network":      {reason: "its network is", do: func(r *rig) { r.write("net.yaml", strings.Replace(sharedYAML, "10.77.0.0/24", "10.77.0.1/24", 1)) }},
		"Secret":       {reason: "its Secret is", do: func(r *rig) { r.write("net.yaml", strings.Replace(sharedYAML, "stringData:", "stringDat:", 1)) }},
		"Unreadable": {reason: "a file can't be read", do: func(r *rig) {
			remove(r.t, filepath.Join(r.dir, "m.yaml"))
			if err := os.Symlink("nowhere", filepath.Join(r.dir, "m.yaml")); err != nil {
				r.t.Fatal(err)
			}
		}},
		"FileRemoved": {reason: "its file was removed, of two", do: func(r *rig) { remove(r.t, filepath.Join(r.dir, "m.yaml")) }, gone: true},
		"Empty": {reason: "all files were", do: func(r *rig) {
			remove(r.t, filepath.Join(r.dir, "m.yaml"))
			remove(r.t, filepath.Join(r.dir, "net.yaml"))
		}},
		"Gone":  {reason: "the folder was", do: func(r *rig) { remove(r.t, r.dir) }},
		"Twice": {reason: "an edited copy lies beside it", do: func(r *rig) { r.write("backup.yaml", strings.Replace(machine, "generation: 1", "generation: 0", 1)) }},
		"TwiceProfile": {reason: "or one of its profile", do: func(r *rig) {
			r.write("z.yaml", strings.Replace(profileYAML, "x.example/i", "x.example/other", 1))
		}},
		"Copy": {reason: "a copy that says the same does no harm", do: func(r *rig) { r.write("backup.yaml", machine) }, still: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "")
			back := func() {
				r.write("net.yaml", sharedYAML)
				r.write("m.yaml", machine)
			}
			back()
			r.start()
			if r.grant() == nil {
				t.Fatalf("nothing is granted\n%s", r.said.String())
			}
			tc.do(r)
			r.turn()
			if g, p := r.grant(), r.plan(); (g != nil) != tc.still || (p == nil) != tc.gone {
				t.Errorf("%s: granted %+v, served %+v\n%s", tc.reason, g, p, r.said.String())
			}
			r.pass(2 * grantLife)
			r.src.turned = time.Time{}
			r.turn()
			if g := r.grant(); (g != nil) != tc.still {
				t.Errorf("%s: granted anew once it has expired: %+v", tc.reason, g)
			}
			if name == "Gone" {
				return // With its record.
			}
			for _, name := range []string{"m.yaml", "backup.yaml", "z.yaml"} {
				remove(t, filepath.Join(r.dir, name))
			}
			back()
			r.turn()
			time.Sleep(time.Millisecond)
			r.turn()
			if r.grant() == nil {
				t.Errorf("%s: it's right again, and nothing is granted\n%s", tc.reason, r.said.String())
			}
		})
	}
}

// TestMovedWhileWrong: what was moved to another file counts as it stands there, not as it's kept for the file that is wrong.
func TestMovedWhileWrong(t *testing.T) {
	r := newRig(t, "")
	r.write("a.yaml", all(1))
	r.start()
	r.write("a.yaml", networkYAML+"---\n"+profileYAML+"---\n"+givenYAML+"---\nkind: x\n")
	r.write("b.yaml", entryYAML("m1", mac1, "10.77.0.11", 0))
	r.turn()
	if p := r.plan(); p == nil || p.InstallGeneration != 0 || r.src.world.kept[p.EntryUID] {
		t.Errorf("%+v", p)
	}
	if r.grant() != nil {
		t.Error("the lowered generation isn't heard")
	}
}
