package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-baremetal/cluster/node/inside"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netns"
	"github.com/crossplane-contrib/provider-baremetal/test/vm"
)

// apiFD is, in namespaces of its own, the listener outside that leads to the API server.
const apiFD = readyFD + 1

// startVariable tells the demo in namespaces of its own when a person began to watch: a Unix time in milliseconds.
const startVariable = "PROVIDER_BAREMETAL_DEMO_START"

func started() time.Time {
	if ms, err := strconv.ParseInt(os.Getenv(startVariable), 10, 64); err == nil {
		return time.UnixMilli(ms)
	}
	return time.Now()
}

// isolate gets from the world what virtual machines need, and runs the demo in namespaces of its own.
func isolate(ctx context.Context, p place, ready *os.File) error {
	if err := netns.Missing(); err != nil {
		return fmt.Errorf("cannot run virtual machines: %w; \"make demo\" without VM=1 shows simulated ones, and needs no such thing", err)
	}
	d := newDemo(p, &virtual{}, os.Stdout)
	if err := provide(ctx, d.say); err != nil {
		return err
	}
	if err := os.Setenv(startVariable, strconv.FormatInt(d.start.UnixMilli(), 10)); err != nil {
		return fmt.Errorf("cannot say when the demo began: %w", err)
	}
	var files []*os.File
	if ready != nil {
		var err error
		// If detaching fails, whoever waits sees this process end.
		if files, err = handed(func() { _ = detach(ready) }); err != nil {
			return err
		}
	}
	switch code, err := netns.Run(ctx, files...); {
	case err != nil && ctx.Err() != nil:
		return errInterrupted // It didn't end in time, and was killed with all that was in its namespaces.
	case err != nil:
		return err
	case code != 0:
		return errSaid
	}
	return nil
}

// provide gets what is missing.
func provide(ctx context.Context, say func(string)) error {
	err := vm.Install(ctx, say)
	if err == nil {
		err = vm.Prepare(ctx, say)
	}
	if ctx.Err() != nil {
		return errInterrupted
	}
	return err
}

// handed are the files that a demo in namespaces of its own is given where it's to be kept: one to say that everything is up, upon
// which up is called, and a listener in the user's own network.
func handed(up func()) ([]*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("cannot make a pipe: %w", err)
	}
	go func() {
		if n, err := r.Read(make([]byte, 1)); err == nil && n > 0 {
			up()
		}
	}()
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, fmt.Errorf("cannot listen for the API server's users: %w", err)
	}
	api, err := l.File()
	if err != nil {
		return nil, fmt.Errorf("cannot pass on a listener: %w", err)
	}
	_ = l.Close() // What is passed on stays open.
	return []*os.File{w, api}, nil
}

// forwarded makes an address in these namespaces reachable where the listener is that was handed, and returns where that is.
func forwarded(address string) (string, error) {
	unix.CloseOnExec(apiFD)
	f := os.NewFile(apiFD, "api")
	l, err := net.FileListener(f)
	if err != nil {
		return "", fmt.Errorf("cannot serve the API server to the outside: %w", err)
	}
	_ = f.Close() // The listener has its own.
	go forward(l, address)
	return l.Addr().String(), nil
}

// forward connects whoever comes to an address in this network, until the process ends.
func forward(l net.Listener, address string) {
	for {
		outer, err := l.Accept()
		if err != nil {
			time.Sleep(look) // There are too many connections, and some will end.
			continue
		}
		go func() {
			defer outer.Close() // All that was copied has been sent.
			inner, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", address)
			if err != nil {
				return // A closed connection says as much as a refused one.
			}
			defer inner.Close() // All that was copied has been sent.
			inside.Splice(outer, outer, inner)
		}()
	}
}

// isolated plays in the namespaces that isolate made.
func isolated(ctx context.Context, p place, ready *os.File) error {
	if err := netns.Enter(); err != nil {
		return err
	}
	return play(ctx, newDemo(p, &virtual{}, os.Stdout), ready)
}
