package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// hangingConfig is the provider config of a NetBox that answers nothing, hangingOnes are asked for from there, and besideOnes meanwhile from the
// one that answers.
const (
	hangingConfig           = "hanging"
	hangingOnes, besideOnes = 200, fairOnes
)

// besideHanging returns how long addresses take, the last of some, while another NetBox hangs and everything waits for that.
func besideHanging(ctx context.Context, l *lab.Lab) (time.Duration, error) {
	s, err := slowNetBox(ctx, l, hangingConfig, netbox.Options{}, fairFrom)
	if err != nil {
		return 0, err
	}
	defer func() { _ = s.Close() }() // Nobody waits for it any more.
	s.Inject(netbox.Fault{Kind: netbox.FaultHang})
	if err := create(ctx, l, addressesOf(hangingConfig, otherNamespace, "hanging", hangingOnes, fairFrom, nil)); err != nil {
		return 0, err
	}
	if err := l.Until(ctx, "a request that hangs", addressTimeout, func(context.Context) error {
		if s.FaultsMet()[netbox.FaultHang] == 0 {
			return errors.New("none does")
		}
		return nil
	}); err != nil {
		return 0, err
	}
	if err := pass(ctx, 3*time.Second); err != nil { // Whoever can be held up is to be.
		return 0, err
	}
	began := time.Now()
	if err := create(ctx, l, addresses("beside", besideOnes, fairFrom, "")); err != nil {
		return 0, err
	}
	last, err := ready(ctx, l, "beside", besideOnes)
	if err != nil {
		return 0, err
	}
	if n := len(s.Addresses()); n != 0 {
		return 0, fmt.Errorf("the one that was to hang has given %d addresses", n)
	}
	return last.Sub(began), nil
}
