package specdir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestSameStamp: a file's size and time don't tell it from every other one.
func TestSameStamp(t *testing.T) {
	cases := map[string]struct {
		reason string
		// change has another text in the place of the first one's, of the same size and time.
		change func(t *testing.T, f *folder, store string)
		asked  bool
		waits  time.Duration
		want   bool
	}{
		"Switched": {"a link is switched to another file, as in a store where all files have one time", func(t *testing.T, f *folder, store string) {
			t.Helper()
			must(t, os.Symlink(aged(t, filepath.Join(store, "2"), all(2)), filepath.Join(f.dir, "b.tmp")))
			must(t, os.Rename(filepath.Join(f.dir, "b.tmp"), filepath.Join(f.dir, "a.yaml")))
		}, false, 0, true},
		"Tick":  {"it was written to twice within one tick, and somebody asks", within, true, 0, true},
		"Later": {"nobody asks, and it's seen when the tick is over", within, false, tick, true},
		"Soon":  {"and not before", within, false, 0, false},
		"Rights": {"it may be read by more, and is as it was", func(t *testing.T, _ *folder, store string) {
			t.Helper()
			must(t, os.Chmod(filepath.Join(store, "1"), 0o640)) //nolint:gosec // That's what is tried.
		}, true, 0, false},
		"Touched": {"it has another time, and is as it was", func(t *testing.T, _ *folder, store string) {
			t.Helper()
			must(t, os.Chtimes(filepath.Join(store, "1"), time.Time{}, time.Unix(2, 0)))
		}, true, 0, false},
		"Nothing": {"it's as it was", func(*testing.T, *folder, string) {}, true, tick, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r, store := newRig(t, ""), t.TempDir()
			f := newFolder(r.dir, nil)
			must(t, os.Symlink(aged(t, filepath.Join(store, "1"), all(1)), filepath.Join(r.dir, "a.yaml")))
			if changed, err := f.look(); err != nil || !changed {
				t.Fatal(changed, err)
			}
			tc.change(t, f, store)
			c := f.files["a.yaml"]
			c.since = c.since.Add(-tc.waits)
			f.files["a.yaml"], f.asked = c, tc.asked
			changed, err := f.look()
			if err != nil || changed != tc.want || f.files["a.yaml"].old {
				t.Errorf("%s: changed: %t, %v", tc.reason, changed, err)
			}
			if again, err := f.look(); err != nil || again {
				t.Errorf("%s: nothing has changed since: %t, %v", tc.reason, again, err)
			}
		})
	}
}

// aged writes a file of the first second of 1970.
func aged(t *testing.T, path, text string) string {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o600))
	must(t, os.Chtimes(path, time.Time{}, time.Unix(1, 0)))
	return path
}

// within writes the file anew, and has it look as it does where the clock hasn't moved since.
func within(t *testing.T, f *folder, store string) {
	t.Helper()
	path := aged(t, filepath.Join(store, "1"), all(2))
	c := f.files["a.yaml"]
	c.stamp = seenAs(path)
	f.files["a.yaml"] = c
}

// TestSure: once a tick is over a file is looked at by its stamp alone, until that is another one.
func TestSure(t *testing.T) {
	r := newRig(t, all(1))
	f := newFolder(r.dir, nil)
	path := filepath.Join(r.dir, "a.yaml")
	for _, sure := range []bool{false, true} {
		if _, err := f.look(); err != nil || f.files["a.yaml"].sure != sure {
			t.Fatalf("sure: %t, want %t (%v)", f.files["a.yaml"].sure, sure, err)
		}
		c := f.files["a.yaml"]
		c.since = c.since.Add(-tick)
		f.files["a.yaml"] = c
	}
	f.asked = true
	must(t, os.Chmod(path, 0o640)) //nolint:gosec // That's what is tried.
	if changed, err := f.look(); err != nil || changed || f.files["a.yaml"].sure {
		t.Errorf("changed: %t, %v; it's sure what stands there, and was written to a moment ago", changed, err)
	}
	if changed, err := f.look(); err != nil || changed || f.files["a.yaml"].sure {
		t.Errorf("changed: %t, %v; it's sure what stands there, and the tick isn't over", changed, err)
	}
}

// TestAskedWithinATick: who is about to use a grant has the files' bytes looked at.
func TestAskedWithinATick(t *testing.T) {
	r := newRig(t, all(1))
	r.start()
	path := filepath.Join(r.dir, "a.yaml")
	before := seenAs(path).modified
	must(t, os.WriteFile(path, []byte(all(2)), 0o600))
	must(t, os.Chtimes(path, time.Time{}, before))
	c := r.src.folder.files["a.yaml"]
	c.stamp = seenAs(path) // As where no clock has moved since.
	r.src.folder.files["a.yaml"] = c
	r.src.lookFor()
	if r.src.stale {
		t.Fatal("it's looked at though nobody asks")
	}
	r.src.looks.ask()
	r.src.lookFor()
	if !r.src.stale {
		t.Error("who asks is told of what stood there")
	}
}

// TestResumedWithinATick: of a folder that a new life finds as it was, a write may have come in the same tick, too.
func TestResumedWithinATick(t *testing.T) {
	r := newRig(t, all(1))
	f := newFolder(r.dir, nil)
	_, err := f.look()
	must(t, err)
	c := f.files["a.yaml"]
	c.since, c.sure = time.Time{}, false // As what was kept of it says.
	files := map[string]content{"a.yaml": c}
	must(t, f.unchanged(t.Context(), files))
	if c := files["a.yaml"]; time.Since(c.since) > time.Minute || c.sure {
		t.Errorf("%+v", c)
	}
}

// TestGoing: of a file that is removed while the folder is looked at nothing is said, and nothing is installed by it. A link to nowhere is told of.
func TestGoing(t *testing.T) {
	r := newRig(t, all(1))
	r.start()
	path := filepath.Join(r.dir, "a.yaml")
	must(t, os.Remove(path))
	must(t, os.Symlink("nowhere", path)) // It's in the list, and can't be opened.
	r.src.look()
	if c := r.src.folder.files["a.yaml"]; !c.old || strings.Contains(r.said.String(), "can't be read") {
		t.Errorf("old: %t\n%s", c.old, r.said.String())
	}
	r.src.look()
	r.says("it can't be read: open " + path + ": no such file or directory")
}

// TestSureOfATouchedFile: one that has other times, or another inode, may be written to once more within that tick, and is looked at by its stamp from then on.
func TestSureOfATouchedFile(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"Touched": func(path string) error { return os.Chtimes(path, time.Time{}, time.Unix(2, 0)) },
		"Rights":  func(path string) error { return os.Chmod(path, 0o640) }, //nolint:gosec // That's what is tried.
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, all(1))
			f := newFolder(r.dir, nil)
			path := filepath.Join(r.dir, "a.yaml")
			for range 2 {
				if _, err := f.look(); err != nil {
					t.Fatal(err)
				}
				c := f.files["a.yaml"]
				c.since = c.since.Add(-tick)
				f.files["a.yaml"] = c
			}
			must(t, change(path))
			if changed, err := f.look(); err != nil || changed {
				t.Fatal(changed, err)
			}
			if c := f.files["a.yaml"]; c.sure || time.Since(c.since) >= tick || c.stamp != seenAs(path) {
				t.Errorf("%+v", c)
			}
		})
	}
}

// TestSureIsNotReadAgain: what is sure costs no read.
func TestSureIsNotReadAgain(t *testing.T) {
	r := newRig(t, all(1))
	f := newFolder(r.dir, nil)
	for range 2 {
		_, err := f.look()
		must(t, err)
		c := f.files["a.yaml"]
		c.since = c.since.Add(-tick)
		f.files["a.yaml"] = c
	}
	c := f.files["a.yaml"]
	c.sum[0]++ // Who looked would find another file.
	f.files["a.yaml"], f.asked = c, true
	if changed, err := f.look(); err != nil || changed {
		t.Errorf("it's read again: %t, %v", changed, err)
	}
	if f.files["a.yaml"].sum != c.sum {
		t.Error("it's read again")
	}
}
