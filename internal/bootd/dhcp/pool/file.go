package pool

import (
	"fmt"

	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/durable"
)

// Read gives the leases of a file; none where there's no file.
func Read(path string) ([]Lease, error) {
	var all []Lease // The domain's own names are the format.
	if _, err := durable.ReadJSON(path, &all); err != nil {
		return nil, fmt.Errorf("cannot read who has temporary addresses: %w", err)
	}
	return all, nil
}

// Write replaces the file as a whole.
func Write(path string, all []Lease) error {
	if err := durable.WriteJSON(path, all); err != nil {
		return fmt.Errorf("cannot write down who has temporary addresses: %w", err)
	}
	return nil
}
