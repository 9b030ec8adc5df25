package debian

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
)

// An Inventory lists files with where they're from: what firmware is given to machines, and under which licence.
type Inventory []entry

type entry struct {
	Path    string `json:"path"`
	SHA256  string `json:"sha256"`
	Package string `json:"package"`
	Version string `json:"version"`
	Source  string `json:"source"`
	License string `json:"license"`
}

// Add files of a package.
func (i *Inventory) Add(p Pin, files map[string][]byte) {
	for path, data := range files {
		sum := sha256.Sum256(data)
		*i = append(*i, entry{"/" + path, hex.EncodeToString(sum[:]), p.Name, p.Version, p.Source, p.License})
	}
}

// Write gives the list as JSON, in the order of the paths.
func (i *Inventory) Write() ([]byte, error) {
	sorted := slices.SortedFunc(slices.Values(*i), func(a, b entry) int { return cmp.Compare(a.Path, b.Path) })
	b, err := json.MarshalIndent(sorted, "", " ")
	if err != nil {
		return nil, fmt.Errorf("cannot write the list of firmware: %w", err)
	}
	return append(b, '\n'), nil
}
