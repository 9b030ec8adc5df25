package bootd

import (
	"context"
	"fmt"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// pullSecret reads the passwords that a profile's files are fetched by, where its source has them now. Nothing else is read for that: a plan
// names the Secret, and it's one of those that bootd may read.
func (d *daemon) pullSecret(ctx context.Context, name string) ([]byte, error) {
	if !boot.IsPullSecret(name) {
		return nil, fmt.Errorf("%q isn't the name of a Secret with passwords of servers", name)
	}
	data, err := d.source.Data(ctx, name)
	return data[boot.KeyPullSecret], err //nolint:wrapcheck // It says what failed.
}
