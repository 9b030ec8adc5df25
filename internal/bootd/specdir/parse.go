package specdir

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootspec"
)

// defaultNamespace of an object that names none, as kubectl has it.
const defaultNamespace = "default"

const secretKind = "Secret"

// An object of a file. There are as many as machines.
type object struct {
	*spec

	name boot.Name
	// text of an entry, which it can be made of again, and its length. A file keeps it when it isn't here.
	text string
	size int32
	line int32
	// old says that it's of before its file became wrong: it's served, and nothing is installed by it.
	old bool
}

// A spec is what was read of an object: exactly one of the pointers is set, or none of an entry.
type spec struct {
	kind    string
	network *v1alpha1.BootNetwork
	profile *v1alpha1.BootProfile
	entry   *v1alpha1.BootEntry // Asked by machine: it may not be there.
	secret  *corev1.Secret
	// text of a network or a profile, which it can be made of again.
	text string
}

// key of an object among all.
func (o *object) key() string { return o.kind + " " + o.name.String() }

// parse reads a file: its right objects, and what is wrong with the others.
func parse(file string, text []byte) (objects []object, faults []fault) {
	docs := split(text)
	objects = make([]object, 0, len(docs)) // Without room that many small ones would waste.
	namespace := ""
	var b breath
	for _, d := range docs {
		b.take()
		o, f := d.parse()
		for i := range o { // Most are of the namespace that the one before is of: its name is held once.
			if n := &o[i].name.Namespace; *n == namespace {
				*n = namespace
			} else {
				namespace = *n
			}
		}
		objects = append(objects, o...)
		for _, x := range f {
			x.file = file
			faults = append(faults, x)
		}
	}
	return objects, faults
}

// Check says what is wrong in the text of a file, one sentence each: file, line, field, and why.
func Check(file string, text []byte) (wrong []string) {
	_, faults := parse(file, text)
	for _, f := range faults {
		wrong = append(wrong, f.String())
	}
	return wrong
}

func (d document) parse() ([]object, []fault) {
	raw := bytes.TrimSpace(d.text)
	if !bytes.HasPrefix(raw, []byte("{")) {
		var err error
		if !d.single() {
			return nil, []fault{{line: d.line, message: `there are several documents, or something stands behind one, and YAML would read the first alone: part them by lines of ---, in UTF-8, with lines that end by LF`}}
		}
		if raw, err = yaml.YAMLToJSONStrict(d.text); err != nil {
			return nil, []fault{d.syntax(err)}
		}
	}
	return d.decode(raw, "")
}

// inYAML is how the YAML library names a line, counted from the document's first.
var inYAML = regexp.MustCompile(`line (\d+): `)

func (d document) syntax(err error) fault {
	text, line := err.Error(), d.line
	if m := inYAML.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1])
		line, text = d.line+n-1, strings.Replace(text, m[0], "", 1)
	}
	text = strings.TrimPrefix(strings.TrimPrefix(text, "error converting YAML to JSON: "), "yaml: ")
	return fault{line: line, message: "it isn't YAML: " + strings.Join(strings.Fields(text), " ")}
}

// decode reads one object in JSON, which stands at a path of the document.
func (d document) decode(raw []byte, path string) ([]object, []fault) {
	head := struct {
		APIVersion string            `json:"apiVersion"`
		Kind       string            `json:"kind"`
		Items      []json.RawMessage `json:"items"`
	}{}
	if bytes.Equal(raw, []byte("null")) {
		return nil, nil
	}
	if o, ok := plainEntry(raw); ok {
		return d.taken(o, o.entry, raw, path)
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, &head); err != nil {
		return nil, []fault{d.typed(err, path)}
	}
	if strings.HasSuffix(head.Kind, "List") {
		if head.Items == nil { // Of a list, too, nobody loses a machine to a misspelt word.
			f := d.fault(path+"items", "a list holds its objects in items; where it's to hold none, say items: []")
			f.foreign = head.Kind != "List" && foreignKind(head.APIVersion, head.Kind)
			return nil, []fault{f}
		}
		var all []object
		var faults []fault
		for i, x := range head.Items {
			o, f := d.decode(x, fmt.Sprintf("%sitems[%d].", path, i))
			all, faults = append(all, o...), append(faults, f...)
		}
		return all, faults
	}
	o := object{spec: &spec{kind: head.Kind}}
	version, into := o.make()
	if into == nil {
		f := d.fault(path+"kind", fmt.Sprintf("kind %q is none of BootNetwork, BootProfile, BootEntry and Secret, nor a list of them", head.Kind))
		f.foreign = foreignKind(head.APIVersion, head.Kind)
		return nil, []fault{f}
	}
	if head.APIVersion != version {
		return nil, d.fault(path+"apiVersion", fmt.Sprintf("apiVersion of a %s is %s, not %q", head.Kind, version, head.APIVersion)).in(o.kind, raw)
	}
	strict, err := kjson.UnmarshalStrict(raw, into)
	if err != nil {
		return nil, d.typed(timed(encoded(err, raw), raw), path).in(o.kind, raw)
	}
	if len(strict) > 0 {
		return nil, d.strict(strict[0], path).in(o.kind, raw)
	}
	return d.taken(o, into, raw, path)
}

// entryHead is what an entry begins with that was made from YAML, or by most programs.
const entryHead = `{"apiVersion":"baremetal.m.crossplane.io/v1alpha1","kind":"BootEntry",`

// plainEntry reads an entry that begins as most do, at once and not for its kind first; false: it's none, or something is wrong with it.
func plainEntry(raw []byte) (object, bool) {
	if !bytes.HasPrefix(raw, []byte(entryHead)) {
		return object{}, false
	}
	o := object{spec: &spec{kind: v1alpha1.BootEntryKind}}
	version, into := o.make()
	strict, err := kjson.UnmarshalStrict(raw, into)
	return o, err == nil && len(strict) == 0 && o.entry.Kind == o.kind && o.entry.APIVersion == version
}

// taken gives an object that was read, unless it's wrong.
func (d document) taken(o object, into metav1.Object, raw []byte, path string) ([]object, []fault) {
	if into.GetNamespace() == "" {
		into.SetNamespace(defaultNamespace)
	}
	o.name = boot.Name{Namespace: into.GetNamespace(), Name: into.GetName()}
	o.line = int32(d.line + leading(d.text)) //nolint:gosec // Of a file of maxFile bytes.
	switch {
	case o.entry != nil:
		o.text, o.size = string(raw), int32(len(raw)) //nolint:gosec // As above.
	case o.secret == nil: // What is secret isn't kept.
		o.spec.text = string(raw)
	}
	if wrong := o.check(); len(wrong) > 0 {
		var faults []fault
		for _, w := range wrong {
			faults = append(faults, d.fault(path+w.Field, w.Message).in(o.kind, raw)...)
		}
		return nil, faults
	}
	return []object{o}, nil
}

// foreignKind says whether an object is certainly none of ours, as a Kustomization or a ConfigMap is. A misspelt one of ours may be a machine.
func foreignKind(apiVersion, kind string) bool {
	group := strings.ToLower(apiVersion)
	return group != "" && kind != "" && !strings.Contains(group, "baremetal") && !strings.Contains(strings.ToLower(kind), "boot")
}

// make gives a new object of a kind with its apiVersion; nil of a kind that nobody knows.
func (o *object) make() (version string, into metav1.Object) {
	ours := v1alpha1.GroupVersion.String()
	switch o.kind {
	case v1alpha1.BootNetworkKind:
		o.network = &v1alpha1.BootNetwork{}
		return ours, o.network
	case v1alpha1.BootProfileKind:
		o.profile = &v1alpha1.BootProfile{}
		return ours, o.profile
	case v1alpha1.BootEntryKind:
		o.entry = &v1alpha1.BootEntry{}
		return ours, o.entry
	case secretKind:
		o.secret = &corev1.Secret{}
		return "v1", o.secret
	}
	return "", nil
}

// check says what is wrong with an object, and fills in what an API server would.
func (o *object) check() []bootspec.Fault {
	switch {
	case o.network != nil:
		bootspec.DefaultNetwork(o.network)
		return bootspec.ValidNetwork(o.network)
	case o.profile != nil:
		bootspec.DefaultProfile(o.profile)
		return bootspec.ValidProfile(o.profile)
	case o.entry != nil:
		bootspec.DefaultEntry(o.entry)
		return append(bootspec.ValidEntry(o.entry), alone(o.entry)...)
	}
	for k, v := range o.secret.StringData {
		if o.secret.Data == nil {
			o.secret.Data = map[string][]byte{}
		}
		o.secret.Data[k] = []byte(v)
	}
	return nil
}

// alone says what an entry names that isn't there without a cluster.
func alone(e *v1alpha1.BootEntry) (wrong []bootspec.Fault) {
	p := e.Spec.ForProvider
	if p.Machine.HostClaimRef != nil {
		wrong = append(wrong, bootspec.Fault{
			Field: "spec.forProvider.machine.hostClaimRef", Message: "there are no HostClaims without a cluster; name the machine by macs",
		})
	}
	for i, n := range p.Networks {
		if j := slices.IndexFunc(n.Addresses, func(a v1alpha1.EntryAddress) bool { return a.Ref != nil }); j >= 0 {
			wrong = append(wrong, bootspec.Fault{
				Field: fmt.Sprintf("spec.forProvider.networks[%d].addresses[%d].ref", i, j), Message: "there are no NetBoxIPAddresses without a cluster; give address",
			})
		}
	}
	return wrong
}
