// Package uptest says how each example with a managed resource or a claim is tested by uptest: what is beside it, what stands in the
// place of what it makes up, and which hooks run. The package below it does so, in a cluster.
package uptest

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
)

// Objects of a file, or of some.
type Objects []*unstructured.Unstructured

// Files are objects by the file that they stand in: DEMO/FILE.yaml below examples/, or beside/FILE.yaml of this package.
type Files map[string]Objects

// besideFolder is the folder of this package that holds what examples need and no example shows.
const besideFolder = "beside"

// Read reads all examples of a checkout, but for those of examples/install, which are a cluster's own, and what stands beside them.
func Read(root string) (Files, error) {
	out := Files{}
	if err := out.read(filepath.Join(root, "examples"), ""); err != nil {
		return nil, err
	}
	delete(out, "")
	return out, out.read(filepath.Join(root, "test", "uptest", besideFolder), besideFolder)
}

func (f Files) read(dir, prefix string) error {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		name := filepath.ToSlash(filepath.Join(prefix, strings.TrimPrefix(path, dir+string(filepath.Separator))))
		if strings.HasPrefix(name, "install/") {
			return nil
		}
		f[name], err = local.Load(path)
		return err
	})
	if err != nil {
		return fmt.Errorf("cannot read the files of %s: %w", dir, err)
	}
	return nil
}

// Of are the objects of some files, in their order.
func (f Files) Of(names ...string) (Objects, error) {
	var out Objects
	for _, n := range names {
		if f[n] == nil {
			return nil, fmt.Errorf("test/uptest/cases.go names %s, which isn't there: correct the name", n)
		}
		out = append(out, f[n]...)
	}
	return out, nil
}

// Names of the files in order.
func (f Files) Names() []string {
	var out []string
	for n := range f {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// What an object is to uptest.
const (
	managed = "managed resource"
	claim   = "claim"
)

// roles of the kinds that are tested. All others are what these need.
func roles() map[string]string {
	return map[string]string{
		"BootEntry": managed, "NetBoxIPAddress": managed, "RedfishHost": managed,
		"HostClaim": claim, "BareMetalNode": claim, "RackPool": claim,
	}
}

// tested says whether there is something to test among the objects.
func (o Objects) tested() bool {
	return slices.ContainsFunc(o, func(u *unstructured.Unstructured) bool { return roles()[u.GetKind()] != "" })
}

// Copy is a deep one.
func (o Objects) Copy() Objects {
	out := make(Objects, 0, len(o))
	for _, u := range o {
		out = append(out, u.DeepCopy())
	}
	return out
}
