package lab

import (
	"context"
	"slices"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/proc"
)

// BootdWith starts a bootd anew, after kill -9 where it still runs, with arguments beside its own, of which the last one counts, and waits until it's
// ready. HealBootd ends that.
func (l *Lab) BootdWith(ctx context.Context, b *Bootd, args ...string) error {
	b.Kill()
	c := b.command
	c.Args = slices.Concat(c.Args, args)
	var err error
	if b.Process, err = proc.Start(c); err != nil {
		return err
	}
	return l.awaitHTTP(ctx, b.Process, b.Health)
}
