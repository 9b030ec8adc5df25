package xpkg

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// An object is a YAML document.
type object map[string]any

func (o object) kind() string { return text(o["kind"]) }
func (o object) name() string { return text(at(o, "metadata")["name"]) }

func (o object) annotate(key, value string) {
	m := at(o, "metadata")
	a, ok := m["annotations"].(map[string]any)
	if !ok {
		a = map[string]any{}
		m["annotations"] = a
	}
	a[key] = value
}

// at gives a mapping in a mapping, an empty one where there is none.
func at(m map[string]any, key string) map[string]any {
	if sub, ok := m[key].(map[string]any); ok {
		return sub
	}
	return map[string]any{}
}

func text(v any) string {
	s, _ := v.(string) // What isn't a string is no name.
	return s
}

// list gives the mappings in a list.
func list(m map[string]any, key string) []map[string]any {
	items, _ := m[key].([]any) // What isn't a list is an empty one.
	var out []map[string]any
	for _, i := range items {
		if sub, ok := i.(map[string]any); ok {
			out = append(out, sub)
		}
	}
	return out
}

// separator of documents, at the start of a line.
var separator = regexp.MustCompile(`(?m)^---\s*$`)

// documents of a YAML file, without the empty ones.
func documents(path string) ([]object, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read %q: %w", path, err)
	}
	var out []object
	for i, doc := range separator.Split(string(b), -1) {
		o := object{}
		if err := yaml.UnmarshalStrict([]byte(doc), &o); err != nil {
			return nil, fmt.Errorf("cannot understand document %d of %q: %w", i+1, path, err)
		}
		if len(o) == 0 {
			continue
		}
		if o.kind() == "" || o.name() == "" {
			return nil, fmt.Errorf("document %d of %q has no kind or no name", i+1, path)
		}
		out = append(out, o)
	}
	return out, nil
}

// encode writes a YAML stream.
func encode(objects []object) ([]byte, error) {
	var out bytes.Buffer
	for _, o := range objects {
		b, err := yaml.Marshal(o)
		if err != nil {
			return nil, fmt.Errorf("cannot write %s %q: %w", o.kind(), o.name(), err)
		}
		out.WriteString("---\n")
		out.Write(b)
	}
	return out.Bytes(), nil
}

// depend says in which registry the packages are that this one depends on, and in which versions. In the source they have their names
// alone: which registry it'll be is known by whoever pushes them.
func (r Release) depend(meta object) error {
	versions, err := Range(r.Version)
	if err != nil {
		return err
	}
	for _, d := range list(at(meta, "spec"), "dependsOn") {
		name := text(d["package"])
		if name == "" || strings.ContainsAny(name, "/:@") {
			return fmt.Errorf("it depends on %q: give the name of a package of ours alone", name)
		}
		d["package"], d["version"] = r.Repository(name), versions
	}
	return nil
}

// resolve gives the functions of a Composition the names that they're installed with. In the source they have those of their packages.
func (r Release) resolve(o object) error {
	if o.kind() != "Composition" {
		return nil
	}
	for _, step := range list(at(o, "spec"), "pipeline") {
		ref := at(step, "functionRef")
		installed, err := InstalledName(r.Repository(text(ref["name"])))
		if err != nil {
			return err
		}
		ref["name"] = installed
	}
	return nil
}

// lint says what Crossplane's package manager would: it takes no other kinds.
func lint(kind string, objects []object) error {
	allowed, ok := map[string][]string{
		"Provider":      {"CustomResourceDefinition"},
		"Configuration": {"CompositeResourceDefinition", "Composition"},
		"Function":      {},
	}[kind]
	if !ok {
		return fmt.Errorf("there are no packages of kind %q", kind)
	}
	for _, o := range objects {
		if !slices.Contains(allowed, o.kind()) {
			return fmt.Errorf("a %s can't bring %s %q", kind, o.kind(), o.name())
		}
	}
	return nil
}

func dataURI(svg []byte) string {
	return "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(svg)
}
