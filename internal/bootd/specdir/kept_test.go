package specdir

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// kept is what is kept of a folder of two files, and the folder.
func kept(tb testing.TB) (string, *folder) {
	tb.Helper()
	f := &folder{files: map[string]content{}}
	for name, text := range map[string]string{"a.yaml": hallYAML(), "b.json": machineJSON(7) + machineJSON(8)} {
		objects, faults := parse(name, []byte(text))
		if len(faults) > 0 {
			tb.Fatal(faults)
		}
		f.files[name] = content{objects: objects, sum: [32]byte{1, byte(len(text) & 0xff)}}
	}
	f.shed()
	// Of the one the texts are packed, as of a large one.
	c := f.files["b.json"]
	c.packed = []byte("packed")
	for i := range c.objects {
		c.objects[i].text = ""
	}
	f.files["b.json"] = c
	known := newMentions(0)
	known.add([]mention{{"mac", mac1, ""}, {"mac", mac2, ""}})
	known.arrange()
	known.later[mention{"address", "10.77.0.11", ""}.hash()] = true
	text, ok := f.keptText("this one", known)
	if !ok {
		tb.Fatal("nothing is kept")
	}
	return string(text), f
}

// TestKeptFiles: what is kept of files is read as what they are once all is resolved.
func TestKeptFiles(t *testing.T) {
	text, f := kept(t)
	k, err := keptFiles(text, "this one")
	if err != nil || k.entries != 4 || len(k.shared) != 2 {
		t.Fatalf("%+v, %v", k, err)
	}
	for m, want := range map[mention]bool{{"mac", mac1, ""}: true, {"mac", mac2, ""}: true, {"address", "10.77.0.11", ""}: true, {"mac", "10.77.0.11", ""}: false} {
		if k.known.has(m) != want {
			t.Errorf("%s is there: %t", m, !want)
		}
	}
	c := k.files["b.json"]
	if c.objects != nil {
		t.Error("objects are made that nobody needs")
	}
	c.objects, c.kept = c.recalled(), ""
	k.files["b.json"] = c
	opts := cmp.Options{cmp.AllowUnexported(content{}, object{}, spec{}, stamp{}), cmpopts.EquateEmpty()}
	if diff := cmp.Diff(f.files, k.files, opts); diff != "" {
		t.Error(diff)
	}
	if _, err := keptFiles(text, "another"); err == nil || errors.Is(err, errKept) {
		t.Errorf("it's another program's, and whole: %v", err)
	}
	for n := range len(text) {
		if files, err := keptFiles(text[:n], "this one"); err == nil {
			t.Fatalf("cut at %d: %v", n, files)
		}
		for bit := range 8 { // A checksum stands against that; nothing ends bootd.
			bent := []byte(text)
			bent[n] ^= 1 << bit
			if files, err := keptFiles(string(bent), "this one"); (files == nil) == (err == nil) {
				t.Fatalf("bent at %d: %v, %v", n, files, err)
			}
		}
	}
	o := f.files["a.yaml"].objects[0]
	o.old = true
	if _, ok := o.keep(nil, &object{}); ok {
		t.Error("what is of before is kept")
	}
}

func FuzzKeptFiles(f *testing.F) {
	text, _ := kept(f)
	f.Add(strings.TrimPrefix(text, "\x08this one"))
	f.Fuzz(func(t *testing.T, text string) {
		if files, err := keptFiles("\x08this one"+text, "this one"); (files == nil) == (err == nil) {
			t.Errorf("%v, %v", files, err)
		}
	})
}

// TestProgram: the program that runs is known, and so is what a folder's plans rest on beside it.
func TestProgram(t *testing.T) {
	if len(runs()) < 40 {
		t.Errorf("%q", runs())
	}
	s := func(change func(*Options)) string {
		o := Options{Dir: "/specs", Node: map[string]string{"a": "1", "b": "2"}}
		change(&o)
		return (&Source{o: o}).by()
	}
	was := s(func(*Options) {})
	for name, change := range map[string]func(*Options){
		"Program":   func(o *Options) { o.Program = "x" },
		"Folder":    func(o *Options) { o.Dir = "/specs/" },
		"Label":     func(o *Options) { o.Node = map[string]string{"a": "1", "b": "3"} },
		"Labels":    func(o *Options) { o.Node = map[string]string{"a": `1" "b"="2`} },
		"NoInstall": func(o *Options) { o.NoInstall = true },
	} {
		if now := s(change); now == was {
			t.Errorf("%s: %s", name, now)
		}
	}
	if s(func(o *Options) { o.Node = map[string]string{"b": "2", "a": "1"} }) != was {
		t.Error("an order of labels counts")
	}
}

// TestProgramOfAllBytes: a program without Go's note is known by all its bytes.
func TestProgramOfAllBytes(t *testing.T) {
	path := t.TempDir() + "/program"
	id := func(text string) string {
		must(t, os.WriteFile(path, []byte(text), 0o600))
		return programIn(path)
	}
	if a, b := id("one"), id("two"); a == b || a == "" || a != id("one") {
		t.Errorf("%q, %q", a, b)
	}
	if got := programIn(path + ".none"); got != "" {
		t.Errorf("%q", got)
	}
}
