package render_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"sort"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// one reads a file of one YAML document.
func one(t *testing.T, path string) map[string]any {
	t.Helper()
	docs := optional(t, path)
	if len(docs) != 1 {
		t.Fatalf("%s holds %d documents, not one", path, len(docs))
	}
	return docs[0]
}

// optional reads the YAML documents of a file, none where there is no file.
func optional(t *testing.T, path string) []map[string]any {
	t.Helper()
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]any
	for part := range strings.SplitSeq("\n"+string(raw), "\n---\n") {
		doc := map[string]any{}
		if err := yaml.UnmarshalStrict([]byte(part), &doc); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if len(doc) > 0 {
			out = append(out, doc)
		}
	}
	return out
}

// golden writes an output as YAML: the composite's status, then what is composed, by kind and name, then what is deleted. Times of
// the run are left out.
func golden(t *testing.T, out output) []byte {
	t.Helper()
	b := &bytes.Buffer{}
	write := func(title string, docs ...map[string]any) {
		sort.Slice(docs, func(i, j int) bool { return sortKey(docs[i]) < sortKey(docs[j]) })
		for _, d := range docs {
			raw, err := yaml.Marshal(timeless(d))
			if err != nil {
				t.Fatal(err)
			}
			b.WriteString("---\n# " + title + "\n")
			b.Write(raw)
		}
	}
	write("composite", map[string]any{"status": out.composite["status"]})
	write("composed", out.composed...)
	write("deleted", out.deleted...)
	return b.Bytes()
}

// sortKey is what documents are ordered by.
func sortKey(doc map[string]any) string {
	kind, _ := doc["kind"].(string)
	meta, _ := doc["metadata"].(map[string]any)
	name, _ := meta["name"].(string)
	return kind + "/" + name
}

// timeless drops the transition times of the composite's own conditions, which the reconciler took from its clock.
func timeless(doc map[string]any) map[string]any {
	status, _ := doc["status"].(map[string]any)
	conditions, _ := status["conditions"].([]any)
	for _, c := range conditions {
		if m, ok := c.(map[string]any); ok {
			delete(m, "lastTransitionTime")
		}
	}
	sort.Slice(conditions, func(i, j int) bool { return typeOf(conditions[i]) < typeOf(conditions[j]) })
	return doc
}

// typeOf is a condition's type.
func typeOf(c any) string {
	m, _ := c.(map[string]any)
	s, _ := m["type"].(string)
	return s
}
