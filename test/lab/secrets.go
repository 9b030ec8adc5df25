package lab

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// Told lists the logs in a folder, and in those below it, that have a password or session token of a BMC in them.
func Told(dir string) ([]string, error) {
	var out []string
	files := os.DirFS(dir)
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := fs.ReadFile(files, path)
		if bytes.Contains(b, []byte(bmc.Secret)) {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read the logs: %w", err)
	}
	slices.Sort(out)
	return out, nil
}
