package specdir

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	kjson "sigs.k8s.io/json"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootspec"
)

// What an entry says is needed while plans are made, and hardly ever later: then it's its text that is kept, which takes a fifth of it, and of a
// file with many their texts in one piece, packed, which takes a hundredth.

const (
	// packs is how many bytes of text are worth packing.
	packs = 64 << 10
	// heavy is how many are worth giving back to the system at once what reading them took.
	heavy = 4 << 20
)

// isEntry says whether an object is an entry, whether it's there or not.
func (o *object) isEntry() bool { return o.kind == v1alpha1.BootEntryKind }

// machine is the entry as it stands in the file, with what an API server would fill in. It mustn't be changed.
func (o *object) machine() *v1alpha1.BootEntry {
	if o.entry != nil {
		return o.entry
	}
	e := &v1alpha1.BootEntry{}
	if strict, err := kjson.UnmarshalStrict([]byte(o.text), e); err != nil || len(strict) > 0 {
		panic(fmt.Sprintf("BootEntry %s was read before: %v %v", o.name, strict, err)) // The same bytes are the same entry.
	}
	e.Namespace = o.name.Namespace
	bootspec.DefaultEntry(e)
	return e
}

// unpack has the texts of all entries at hand.
func (f *folder) unpack() {
	for name, c := range f.files {
		if c.packed != nil {
			c.unpack()
			c.shed = false
			f.files[name] = c
		}
	}
}

func (c *content) unpack() {
	if c.packed == nil {
		return
	}
	if c.kept != "" {
		c.objects, c.kept = c.recalled(), ""
	}
	var b strings.Builder
	b.Grow(c.texts())
	if _, err := io.Copy(&b, flate.NewReader(bytes.NewReader(c.packed))); err != nil {
		panic(err) // It was packed here, in memory.
	}
	c.give(b.String())
}

// give gives each entry its text, of many one behind the other, and what is left of them.
func (c *content) give(all string) (rest string) {
	for i := range c.objects {
		if o := &c.objects[i]; o.isEntry() {
			o.text, all = all[:o.size], all[o.size:]
		}
	}
	return all
}

// texts is how long all texts are.
func (c *content) texts() (n int) {
	for i := range c.objects {
		n += int(c.objects[i].size)
	}
	return n
}

// shed lets go of what is only needed while plans are made, once they are.
func (f *folder) shed() {
	n := 0
	for name, c := range f.files {
		if c.shed {
			continue
		}
		n += c.let()
		f.files[name] = c
	}
	if n >= heavy {
		debug.FreeOSMemory()
	}
}

// let lets go of a file's entries, and packs their texts. It gives their length.
func (c *content) let() int {
	n := c.texts()
	if n >= packs && c.packed == nil {
		var b bytes.Buffer
		w, err := flate.NewWriter(&b, flate.BestSpeed)
		for i := 0; i < len(c.objects) && err == nil; i++ {
			_, err = io.WriteString(w, c.objects[i].text)
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			panic(err) // Of a buffer there is none.
		}
		c.packed = bytes.Clone(b.Bytes())
	}
	gone := &spec{kind: v1alpha1.BootEntryKind}
	for i := range c.objects {
		o := &c.objects[i]
		if o.isEntry() {
			o.spec = gone
		}
		if c.packed != nil {
			o.text = ""
		}
	}
	c.shed = true
	return n
}
