package specdir

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"iter"
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

// keptText gives what is kept of the files, and of what is there; by says what made it so. false: of such files nothing is kept.
func (f *folder) keptText(by string, known *mentions) (text []byte, ok bool) {
	b := binary.AppendUvarint(known.keep(pieces.AppendText(nil, by)), uint64(len(f.files)))
	var loose bytes.Buffer // Texts that aren't packed file by file.
	w, err := flate.NewWriter(&loose, flate.BestSpeed)
	for _, name := range f.sorted() {
		c := f.files[name]
		if c.old || c.blind || len(c.faults) > 0 {
			return nil, false
		}
		b = pieces.AppendText(pieces.AppendText(b, name), string(c.sum[:]))
		if b, ok = c.keep(b); !ok {
			return nil, false
		}
		b = pieces.AppendText(b, string(c.packed))
		for i := 0; i < len(c.objects) && c.packed == nil && err == nil; i++ {
			_, err = io.WriteString(w, c.objects[i].text)
		}
	}
	if errors.Join(err, w.Close()) != nil {
		return nil, false // Of a buffer there is none.
	}
	return append(b, loose.Bytes()...), true
}

// keep appends the objects of a file, without the texts of entries.
func (c *content) keep(b []byte) (_ []byte, ok bool) {
	if c.kept != "" {
		return append(b, c.kept...), true
	}
	b = binary.AppendUvarint(b, uint64(len(c.objects)))
	var last object
	var rest breath
	for i := range c.objects {
		rest.take()
		o := &c.objects[i]
		if b, ok = o.keep(b, &last); !ok {
			return nil, false
		}
		last = *o
	}
	return b, true
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

// keptFolder is what was kept of a folder.
type keptFolder struct {
	files map[string]content
	// shared are the objects that entries are resolved by, and entries is how many there are of these.
	shared  []found
	entries int
	known   *mentions
}

// keptFiles reads what keptText wrote. Where it was made by something else it's an error, as for what is damaged.
func keptFiles(text, by string) (*keptFolder, error) {
	r := pieces.Of(text)
	if was := r.Text(); was != by || r.Err() != nil {
		return nil, errors.New("another program has read it, or one with other settings")
	}
	k := &keptFolder{files: map[string]content{}, known: keptMentions(r.Text())}
	if r.Err() != nil {
		return nil, errors.Join(errKept, r.Err())
	}
	r = pieces.Of(strings.Clone(r.Rest())) // Names are parts of it, and hashes needn't be kept twice for them.
	var loose []string                     // Names of files whose texts aren't packed one by one.
	size := int64(0)
	for range r.Count(sha256.Size) {
		name := r.Text()
		c := content{shed: true}
		if n := copy(c.sum[:], r.Text()); n != len(c.sum) {
			r.Fail(errKept)
		}
		k.skim(name, &c, &r)
		if packed := r.Text(); packed != "" {
			c.packed = []byte(packed)
		} else if r.Err() == nil {
			c.objects, c.kept = c.recalled(), ""
			loose, size = append(loose, name), size+int64(c.texts())
		}
		if _, twice := k.files[name]; twice || r.Err() != nil {
			return nil, errors.Join(errKept, r.Err())
		}
		k.files[name] = c
	}
	all, err := io.ReadAll(io.LimitReader(flate.NewReader(strings.NewReader(r.Rest())), size+1))
	if err != nil || int64(len(all)) != size {
		return nil, errors.Join(errKept, err)
	}
	texts := string(all)
	for _, name := range loose {
		c := k.files[name]
		texts = c.give(texts)
	}
	return k, nil
}

// skim looks through the objects of a file, which aren't made before they're needed: for what comes alone they aren't.
func (k *keptFolder) skim(name string, c *content, r *pieces.Reader) {
	from := r.Rest()
	_, all := keptObjects(r)
	for o := range all {
		if o.isEntry() {
			k.entries++
			continue
		}
		shared := o
		k.shared = append(k.shared, found{&shared, name, false})
	}
	c.kept = from[:len(from)-len(r.Rest())]
}

// recalled are the objects of a file as they were kept.
func (c *content) recalled() []object {
	r := pieces.Of(c.kept)
	n, each := keptObjects(&r)
	all := make([]object, 0, n)
	for o := range each {
		all = append(all, o)
	}
	if r.Err() != nil {
		panic(r.Err()) // It was looked through at the start.
	}
	return all
}

// keptObjects reads the objects of a file, and how many there are.
func keptObjects(r *pieces.Reader) (n int, all iter.Seq[object]) {
	n = r.Count(leastObject)
	return n, func(yield func(object) bool) {
		entries := &spec{kind: v1alpha1.BootEntryKind}
		namespace, line := "", int64(0)
		for range n {
			kind, o := r.Number(), object{}
			if x := r.Text(); x != "" {
				namespace = x
			}
			o.name = boot.Name{Namespace: namespace, Name: r.Text()}
			line += r.Signed()
			o.line = int32(line) //nolint:gosec // As it was written.
			switch {
			case r.Err() != nil || kind >= uint64(len(keptKinds)):
				r.Fail(errKept)
				return
			case keptKinds[kind] == v1alpha1.BootEntryKind:
				size := r.Number()
				if size > maxFile {
					r.Fail(errKept)
					return
				}
				o.spec, o.size = entries, int32(size)
			default:
				o.spec = &spec{kind: keptKinds[kind]}
				if err := o.remake(r.Text()); err != nil {
					r.Fail(err)
					return
				}
			}
			if !yield(o) {
				return
			}
		}
	}
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
