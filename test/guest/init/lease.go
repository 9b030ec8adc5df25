package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4/nclient4"
	"github.com/insomniacslk/dhcp/dhcpv6/nclient6"
)

const (
	dhcpTries = 10
	dhcpPause = 3 * time.Second
	// An address on the link is one's own a second or two after the link is up, and on emulated processors that others use as well, later.
	ownTries = 200
	ownPause = 300 * time.Millisecond
)

// leased is what a DHCP server says.
type leased struct {
	address, gateway string
	err              error
}

// lease asks over both families, and takes the answer that comes first.
func lease(ctx context.Context, name string) (address, gateway string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := make(chan leased, 2) //nolint:mnd // One of each.
	for _, ask := range []func(context.Context, string) leased{lease4, lease6} {
		go func() { answers <- ask(ctx, name) }()
	}
	var errs []error
	for range cap(answers) {
		l := <-answers
		if l.err == nil {
			return l.address, l.gateway, nil
		}
		errs = append(errs, l.err)
	}
	return "", "", fmt.Errorf("no address on %s: %w", name, errors.Join(errs...))
}

// lease4 asks as an operating system does: no option 60, 93 or 97, by which bootd sees that no firmware is asking.
func lease4(ctx context.Context, name string) leased {
	c, err := nclient4.New(name, nclient4.WithTimeout(dhcpPause), nclient4.WithRetry(dhcpTries))
	if err != nil {
		return leased{err: fmt.Errorf("no DHCP client on %s: %w", name, err)}
	}
	defer func() { _ = c.Close() }()
	l, err := c.Request(ctx)
	if err != nil {
		return leased{err: err}
	}
	ones, _ := l.ACK.SubnetMask().Size()
	gateway := ""
	if routers := l.ACK.Router(); len(routers) > 0 {
		gateway = routers[0].String()
	}
	return leased{address: fmt.Sprintf("%s/%d", l.ACK.YourIPAddr, ones), gateway: gateway}
}

// lease6 does so over IPv6, where the gateway is a router's to say.
func lease6(ctx context.Context, name string) leased {
	var c *nclient6.Client
	var err error
	for range ownTries { // Until its address on the link is known to be its own.
		if c, err = nclient6.New(name, nclient6.WithTimeout(dhcpPause), nclient6.WithRetry(dhcpTries)); err == nil {
			break
		}
		time.Sleep(ownPause)
	}
	if err != nil {
		return leased{err: fmt.Errorf("no client of DHCPv6 on %s: %w", name, err)}
	}
	defer func() { _ = c.Close() }()
	l, err := c.RapidSolicit(ctx)
	if err != nil {
		return leased{err: err}
	}
	ia := l.Options.OneIANA()
	if ia == nil || ia.Options.OneAddress() == nil {
		return leased{err: errors.New("a server of DHCPv6 gave no address")}
	}
	return leased{address: ia.Options.OneAddress().IPv6Addr.String() + "/64"}
}
