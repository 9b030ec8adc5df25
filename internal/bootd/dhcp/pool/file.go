package pool

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/durable"
)

// Read gives the leases of a file; none where there's no file.
func Read(path string) ([]Lease, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []Lease
	if err == nil {
		err = json.Unmarshal(b, &all) //nolint:musttag // The domain's own names are the format.
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read who has temporary addresses: %w", err)
	}
	return all, nil
}

// Write replaces the file as a whole.
func Write(path string, all []Lease) error {
	b, err := json.Marshal(all) //nolint:musttag // As above.
	if err == nil {
		err = durable.Write(path, b)
	}
	if err != nil {
		return fmt.Errorf("cannot write down who has temporary addresses: %w", err)
	}
	return nil
}
