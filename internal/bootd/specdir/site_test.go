package specdir

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFresh(t *testing.T) {
	r := newRig(t, all(1))
	if !Fresh(r.state) {
		t.Error("an empty folder is fresh")
	}
	r.start()
	r.stop()
	if Fresh(r.state) {
		t.Error("one that a bootd has used isn't")
	}
}

// TestDamaged: a record that can't be read is no reason to forget it, nor to leave machines without their addresses.
func TestDamaged(t *testing.T) {
	for name, file := range map[string]func(*rig) string{
		"State": func(r *rig) string { return filepath.Join(r.state, recordFile) },
		"Spec":  func(r *rig) string { return filepath.Join(r.dir, RecordFolder, recordFile) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, all(1))
			r.put(file(r), 1)
			if err := os.WriteFile(file(r), []byte("{}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			r.start()
			if r.plan() == nil || r.grant() != nil {
				t.Errorf("served %v, granted %v", r.plan(), r.grant())
			}
			r.says("line 1 of the record of grants", "damaged")
		})
	}
}

// TestTorn: a last line that a crash cut off says nothing, and isn't there for the next one to run into.
func TestTorn(t *testing.T) {
	r := newRig(t, all(1))
	r.start()
	r.stop()
	path := filepath.Join(r.state, recordFile)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(b), "\n")
	if len(lines) != 3 {
		t.Fatalf("%q", lines)
	}
	// The second line says that the grant is in its session: without it, that is found out anew.
	if err := os.WriteFile(path, []byte(lines[0]+lines[1][:20]), 0o600); err != nil { //nolint:gosec // A test's own folder.
		t.Fatal(err)
	}
	r.start()
	if r.grant() == nil {
		t.Errorf("a crash between two writes goes on where it was:\n%s", r.said.String())
	}
	after, err := os.ReadFile(path)
	if err != nil || strings.Count(string(after), "\n") != 2 {
		t.Errorf("%q, %v", after, err)
	}
}

// TestEditedRecord: who takes a record away while bootd runs, or puts one back, stops what isn't used yet. One that is there again as it was is believed.
func TestEditedRecord(t *testing.T) {
	r := newRig(t, all(1))
	r.start()
	if r.grant() == nil {
		t.Fatal("nothing is granted")
	}
	folder, aside := filepath.Join(r.dir, RecordFolder), filepath.Join(t.TempDir(), "aside")
	for range 2 {
		if err := os.Rename(folder, aside); err != nil {
			t.Fatal(err)
		}
		r.turn()
		if r.grant() != nil {
			t.Error("a grant whose record is gone is opened")
		}
		r.says("isn't there any more")
		if err := os.Rename(aside, folder); err != nil {
			t.Fatal(err)
		}
		r.turn()
		if r.grant() == nil {
			t.Error("a record is there as it was, and nothing is installed")
		}
	}
	path := filepath.Join(folder, recordFile)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Rename(folder, aside), os.Mkdir(folder, 0o700)); err != nil {
		t.Fatal(err)
	}
	r.turn()
	if err := os.WriteFile(path, b, 0o600); err != nil { //nolint:gosec // A test's own folder.
		t.Fatal(err)
	}
	r.turn()
	if r.grant() != nil {
		t.Error("a copy of a record counts as that record")
	}
	r.says("was changed by somebody else")
}

// TestConfirm: a person's word keeps a machine as it runs, and installs nothing.
func TestConfirm(t *testing.T) {
	r := newRig(t, all(1))
	r.start()
	r.install(true)
	r.stop()
	r.state = t.TempDir()
	r.start()
	r.says("NeedsConfirmation", "bootd confirm lab/m1 --mac "+mac1)
	cases := []struct{ reason, entry, mac, want string }{
		{"another machine", "lab/m1", mac2, "isn't a MAC of BootEntry lab/m1"},
		{"no such entry", "lab/m9", mac1, "there is no BootEntry lab/m9"},
		{"the machine", "lab/m1", mac1, ""},
		{"twice", "lab/m1", mac1, "nothing is asked about"},
	}
	for _, tc := range cases {
		got := make(chan error, 1)
		go func() {
			_, err := Confirm(r.state, tc.entry, tc.mac, 10e9)
			got <- err
		}()
		var err error
		for waiting := true; waiting; {
			select {
			case err = <-got:
				waiting = false
			default:
				r.turn()
			}
		}
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.reason, err, tc.want)
		}
		if r.grant() != nil {
			t.Fatalf("%s: a confirmation installs nothing", tc.reason)
		}
	}
	if p := r.plan(); p.InstalledGeneration != 1 {
		t.Errorf("%+v", p)
	}
	r.write("a.yaml", all(2))
	if g := r.granted(); g == nil || g.Generation != 2 {
		t.Errorf("raising the generation does: %+v\n%s", g, r.said.String())
	}
	if _, err := Confirm(r.state, "m1", mac1, 1); err == nil {
		t.Error("an entry has a namespace")
	}
	if _, err := Confirm(r.state, "lab/m1", "x", 1); err == nil {
		t.Error("a MAC is a MAC")
	}
	if _, err := Confirm(t.TempDir(), "lab/m1", mac1, 1); err == nil || !strings.Contains(err.Error(), "no bootd") {
		t.Errorf("nobody answers: %v", err)
	}
}
