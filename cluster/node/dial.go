package node

import (
	"context"
	"fmt"
	"net"

	"github.com/crossplane-contrib/provider-baremetal/cluster/node/inside"
)

// Dial connects to a TCP address inside: a node's, a Service's or a pod's.
func (c *Cluster) Dial(ctx context.Context, address string) (net.Conn, error) {
	return inside.Dial(ctx, c.socket(), address)
}

// Listen listens at a TCP address inside, such as Address and port 0, for what the caller serves to the node and its pods. The
// caller closes it.
func (c *Cluster) Listen(address string) (net.Listener, error) {
	var l net.Listener
	err := c.Inside(func() (err error) {
		l, err = (&net.ListenConfig{}).Listen(context.Background(), "tcp", address)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("cannot listen at %s of the node: %w", address, err)
	}
	return l, nil
}

// Forward makes a TCP address inside reachable at a port of 127.0.0.1, in the caller's network namespace, until Stop. It
// returns that address.
func (c *Cluster) Forward(address string) (string, error) {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("cannot listen for %s: %w", address, err)
	}
	c.mu.Lock()
	c.forwards = append(c.forwards, l)
	c.mu.Unlock()
	go func() {
		for {
			outer, err := l.Accept()
			if err != nil {
				return // Stop closed it.
			}
			go c.forward(outer, address)
		}
	}()
	return l.Addr().String(), nil
}

func (c *Cluster) forward(outer net.Conn, address string) {
	defer outer.Close() // All that was copied has been sent.
	inner, err := c.Dial(context.Background(), address)
	if err != nil {
		return // A closed connection says as much as a refused one.
	}
	defer inner.Close() // All that was copied has been sent.
	inside.Splice(outer, outer, inner)
}
