package specdir

import (
	"fmt"
	"strings"
	"testing"
)

// TestPacked goes on with a file of so many machines that their texts are packed: what is resolved of them is what it was.
func TestPacked(t *testing.T) {
	const machines = 200
	docs := []string{networkYAML, profileYAML, givenYAML}
	for n := range machines {
		docs = append(docs, entryYAML(fmt.Sprintf("m%d", n), fmt.Sprintf("52:54:00:00:01:%02x", n), fmt.Sprintf("10.77.0.%d", 10+n), 0))
	}
	text := strings.Join(docs, "---\n")
	r := newRig(t, text)
	r.start()
	c := r.src.folder.files["a.yaml"]
	if len(c.packed) == 0 || len(c.packed) > len(text)/4 || r.src.State().Len() != machines {
		t.Fatalf("%d bytes of %d, %d machines", len(c.packed), len(text), r.src.State().Len())
	}
	for _, o := range c.objects {
		if o.entry != nil || o.text != "" {
			t.Fatalf("%s is kept as it was read", o.name)
		}
	}
	steps := []struct{ reason, file, text string }{
		{"nothing has changed", "a.yaml", text},
		{"a network comes, and all is resolved", "b.yaml", strings.Replace(strings.Replace(networkYAML, "rack", "other", 1), "10.77", "10.78", 2)},
		{"one that is there twice, the same", "b.yaml", docs[3]},
		{"one that is there twice, and another", "b.yaml", strings.Replace(docs[3], "generation: 0", "generation: 2", 1)},
		{"one of many is wrong: it's kept", "a.yaml", strings.Replace(text, "generation: 0", "generation: x", 1)},
		{"one that came to a file that's wrong", "c.yaml", entryYAML("late", mac1, "10.77.0.250", 0)},
		{"all is right again", "a.yaml", text},
	}
	for _, s := range steps {
		r.write(s.file, s.text)
		r.turn()
		if diff := differs(r.src); diff != "" {
			t.Fatalf("%s: %s", s.reason, diff)
		}
		fresh := newFolder(r.dir, r.src.o.Logger)
		if _, err := fresh.look(); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, c := range fresh.files {
			n += len(c.objects)
		}
		if got := r.src.State().Len(); got < machines || got > n {
			t.Errorf("%s: %d machines are served", s.reason, got)
		}
		r.src.folder.shed()
	}
}
