package specdir

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot/pieces"
)

// What is kept of a folder for the next life is what this one has of it once all is resolved: of each file its name, its digest and its objects, of
// each entry its text. It begins with what made it so, which must be the same then. Secrets are never in it.

// leastObject is the least number of bytes that an object takes.
const leastObject = 5

// keptKinds are the kinds of what is kept, by number.
var keptKinds = [...]string{v1alpha1.BootEntryKind, v1alpha1.BootNetworkKind, v1alpha1.BootProfileKind} //nolint:gochecknoglobals // A constant.

var errKept = errors.New("what was kept of the folder of specs can't be read")

// keptText gives what is kept of the files; by says what made it so. false: of such files nothing is kept.
func (f *folder) keptText(by string) (text []byte, ok bool) {
	b := binary.AppendUvarint(pieces.AppendText(nil, by), uint64(len(f.files)))
	var loose bytes.Buffer // Texts that aren't packed file by file.
	w, err := flate.NewWriter(&loose, flate.BestSpeed)
	var rest breath
	for _, name := range f.sorted() {
		c := f.files[name]
		if c.old || c.blind || len(c.faults) > 0 {
			return nil, false
		}
		b = pieces.AppendText(pieces.AppendText(b, name), string(c.sum[:]))
		b = binary.AppendUvarint(b, uint64(len(c.objects)))
		var last object
		for i := range c.objects {
			rest.take()
			o := &c.objects[i]
			if b, ok = o.keep(b, &last); !ok {
				return nil, false
			}
			if c.packed == nil && err == nil {
				_, err = io.WriteString(w, o.text)
			}
			last = *o
		}
		b = pieces.AppendText(b, string(c.packed))
	}
	if errors.Join(err, w.Close()) != nil {
		return nil, false // Of a buffer there is none.
	}
	return append(b, loose.Bytes()...), true
}

// keep appends an object to one that stands before it. Its text, where it's an entry, stands elsewhere.
func (o *object) keep(b []byte, before *object) ([]byte, bool) {
	kind := slices.Index(keptKinds[:], o.kind)
	if kind < 0 || o.old {
		return nil, false
	}
	namespace := o.name.Namespace
	if namespace == before.name.Namespace {
		namespace = "" // As that has it; it's none of an object.
	}
	b = pieces.AppendText(pieces.AppendText(append(b, byte(kind)), namespace), o.name.Name) //nolint:gosec // One of three.
	b = binary.AppendVarint(b, int64(o.line)-int64(before.line))
	if o.isEntry() {
		return binary.AppendUvarint(b, uint64(o.size)), true //nolint:gosec // A length.
	}
	return pieces.AppendText(b, o.spec.text), o.spec.text != ""
}

// keptFiles reads what keptText wrote. Where it was made by something else it's an error, as for what is damaged.
func keptFiles(text, by string) (map[string]content, error) {
	r := pieces.Of(text)
	if was := r.Text(); was != by || r.Err() != nil {
		return nil, errors.New("another program has read it, or one with other settings")
	}
	n := r.Count(sha256.Size)
	names, files := make([]string, 0, n), make(map[string]content, n)
	entries := &spec{kind: v1alpha1.BootEntryKind}
	loose := int64(0)
	for range n {
		name := r.Text()
		c := content{shed: true}
		if n := copy(c.sum[:], r.Text()); n != len(c.sum) {
			r.Fail(errKept)
		}
		c.objects = keptObjects(&r, entries)
		if packed := r.Text(); packed != "" {
			c.packed = []byte(packed)
		} else {
			loose += int64(c.texts())
		}
		if _, twice := files[name]; twice || r.Err() != nil {
			return nil, errors.Join(errKept, r.Err())
		}
		files[name], names = c, append(names, name)
	}
	all, err := io.ReadAll(io.LimitReader(flate.NewReader(strings.NewReader(r.Rest())), loose+1))
	if err != nil || int64(len(all)) != loose {
		return nil, errors.Join(errKept, err)
	}
	texts := string(all)
	for _, name := range names {
		if c := files[name]; c.packed == nil {
			texts = c.give(texts)
		}
	}
	return files, nil
}

// keptObjects reads the objects of a file, all entries with one spec.
func keptObjects(r *pieces.Reader, entries *spec) []object {
	all := make([]object, r.Count(leastObject))
	namespace, line := "", int64(0)
	for i := range all {
		kind, o := r.Number(), &all[i]
		if x := r.Text(); x != "" {
			namespace = x
		}
		o.name = boot.Name{Namespace: namespace, Name: r.Text()}
		line += r.Signed()
		o.line = int32(line) //nolint:gosec // As it was written.
		switch {
		case r.Err() != nil || kind >= uint64(len(keptKinds)):
			r.Fail(errKept)
			return nil
		case keptKinds[kind] == v1alpha1.BootEntryKind:
			size := r.Number()
			if size > maxFile {
				r.Fail(errKept)
				return nil
			}
			o.spec, o.size = entries, int32(size) //nolint:gosec // It's small enough.
		default:
			o.spec = &spec{kind: keptKinds[kind]}
			if err := o.remake(r.Text()); err != nil {
				r.Fail(err)
				return nil
			}
		}
	}
	return all
}

// remake makes a network or a profile of its text, as it was read.
func (o *object) remake(text string) error {
	_, into := o.make()
	strict, err := kjson.UnmarshalStrict([]byte(text), into)
	if err != nil || len(strict) > 0 || into.GetName() != o.name.Name {
		return errors.Join(errKept, err)
	}
	into.SetNamespace(o.name.Namespace)
	if len(o.check()) > 0 {
		return errKept
	}
	o.spec.text = text
	return nil
}
