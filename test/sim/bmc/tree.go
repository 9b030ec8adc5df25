package bmc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Tree is what a BMC answers with, resource by resource. It doesn't change
// once it is made: BMCs that share one write to copies of their own.
type Tree struct {
	// Name says where it comes from: a model, or the folder of a capture.
	Name string

	resources map[string]*resource
}

// resource is one answer.
type resource struct {
	// uri is the resource's own spelling of its path.
	uri string
	// body is the answer decoded, numbers as json.Number; nil where it's no object.
	body object
	// raw is the answer as it was captured; nil once it was written to, and
	// where it was made here.
	raw []byte
	// etag of the first revision; "" where the resource tells none.
	etag string
	// revision counts the writes.
	revision int
}

// treeKey is what paths are compared by: real BMCs mix case, and put a slash
// at the end or don't.
func treeKey(uri string) string { return strings.ToLower(strings.TrimRight(uri, "/")) }

func newTree(name string) *Tree { return &Tree{Name: name, resources: map[string]*resource{}} }

// put adds a resource that is made here.
func (t *Tree) put(uri string, body object) {
	if body["@odata.id"] == nil {
		body["@odata.id"] = uri
	}
	etag, _ := body["@odata.etag"].(string)
	t.resources[treeKey(uri)] = &resource{uri: uri, body: body, etag: etag}
}

// Paths are those of the tree's resources, sorted.
func (t *Tree) Paths() []string {
	out := make([]string, 0, len(t.resources))
	for _, r := range t.resources {
		out = append(out, r.uri)
	}
	slices.Sort(out)

	return out
}

// With is the tree with one resource's body changed, or with an empty one that
// is: a copy, which shares everything else.
func (t *Tree) With(uri string, edit func(body map[string]any)) *Tree {
	out := &Tree{Name: t.Name, resources: maps.Clone(t.resources)}
	r := &resource{uri: uri, body: object{}}
	if was := t.resources[treeKey(uri)]; was != nil {
		r = &resource{uri: was.uri, body: copied(was.body), etag: was.etag}
	}
	edit(r.body)
	out.resources[treeKey(uri)] = r

	return out
}

// maxCapture bounds one resource of a capture; BIOS registries have megabytes.
const maxCapture = 64 << 20

// LoadTree reads a tree captured from a real BMC: the answers are files
// index.json in folders named as the paths, or files *.json named as the paths.
// What isn't JSON is an answer too, and served as it is.
func LoadTree(dir string) (*Tree, error) {
	t := newTree(filepath.Base(dir))
	files := os.DirFS(dir)
	err := fs.WalkDir(files, "redfish", func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(p) != ".json" {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Size() > maxCapture {
			return fmt.Errorf("%q has %d bytes, more than %d", p, info.Size(), maxCapture)
		}
		body, err := fs.ReadFile(files, p)
		if err == nil {
			t.capture("/"+strings.TrimSuffix(p, "/index.json"), body)
		}

		return err
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read the captured tree %q: %w", dir, err)
	}
	if t.resources[pathRoot] == nil {
		return nil, fmt.Errorf("cannot read the captured tree %q: it has no redfish/v1/index.json", dir)
	}

	return t, nil
}

// capture adds an answer of a real BMC. Of two paths that differ in case only
// the first is kept.
func (t *Tree) capture(uri string, raw []byte) {
	if t.resources[treeKey(uri)] != nil {
		return
	}
	r := &resource{uri: uri, raw: raw}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&r.body) != nil {
		r.body = nil
	}
	if own, ok := r.body["@odata.id"].(string); ok && treeKey(own) == treeKey(uri) {
		r.uri = own
	}
	r.etag, _ = r.body["@odata.etag"].(string)
	t.resources[treeKey(uri)] = r
}

// FindTrees lists the folders of captured trees in dirs, each of which is a
// tree or holds trees. Those that aren't there have none.
func FindTrees(dirs ...string) ([]string, error) {
	var out []string
	for _, dir := range dirs {
		if isTree(dir) {
			out = append(out, dir)

			continue
		}
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("cannot list the captured trees: %w", err)
		}
		for _, e := range entries {
			if sub := filepath.Join(dir, e.Name()); isTree(sub) {
				out = append(out, sub)
			}
		}
	}
	slices.Sort(out)

	return slices.Compact(out), nil
}

func isTree(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "redfish", "v1", "index.json"))

	return err == nil
}
