// Command serve runs emulated BMCs for other Redfish clients, on loopback until it is interrupted: one of our own models, or
// one with a tree captured from a real machine, which then behaves as that vendor's do.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

// options are what the flags say.
type options struct {
	tree, model, address, user, password string
	plain                                bool
}

// run serves until the context ends, and says on out how to reach what is served.
func run(ctx context.Context, args []string, out io.Writer) error {
	var o options
	f := flag.NewFlagSet("serve", flag.ContinueOnError)
	f.SetOutput(out)
	f.StringVar(&o.tree, "tree", "", "folder of a captured tree, which holds redfish/v1/index.json")
	f.StringVar(&o.model, "model", string(bmc.ModelInline), "model of our own, where no tree is named")
	f.StringVar(&o.address, "addr", "127.0.0.1:0", "address and port to listen on")
	f.StringVar(&o.user, "user", bmc.DefaultUsername, "name of the only account")
	f.StringVar(&o.password, "password", bmc.DefaultPassword, "its password")
	f.BoolVar(&o.plain, "http", false, "serve plain HTTP, for clients that can't do without a trusted certificate")
	if err := f.Parse(args); err != nil {
		return err
	}
	cfg, err := o.config()
	if err != nil {
		return err
	}
	if o.plain {
		return plain(ctx, o, cfg, out)
	}
	s, err := bmc.NewServerAt(o.address, cfg) //nolint:contextcheck,nolintlint // It ends with Close; found or not by what else is linted.
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s of %s, user %s\nSHA-256 of its certificate: %s\n", s.URL(), o.what(s.BMC), o.user, s.CertificateSHA256())
	<-ctx.Done()

	return s.Close()
}

func (o options) config() (bmc.Config, error) {
	cfg := bmc.Config{Username: o.user, Password: o.password}
	if o.tree != "" {
		tree, err := bmc.LoadTree(o.tree)
		cfg.Tree = tree

		return cfg, err
	}
	models := bmc.Models()
	for _, m := range models {
		if string(m) == o.model {
			mac := net.HardwareAddr{0x52, 0x54, 0, 0, 0xff, 1}
			cfg.Systems = []bmc.SystemConfig{{Model: m, Serial: "SERVED1", MACs: []net.HardwareAddr{mac}}}

			return cfg, nil
		}
	}

	return cfg, fmt.Errorf("there is no model %q: choose one of %v, or a captured tree with -tree", o.model, models)
}

// what says whose BMC is served.
func (o options) what(b *bmc.BMC) string {
	if o.tree == "" {
		return "model " + o.model
	}

	return fmt.Sprintf("tree %s, which behaves as %s, Systems %v", o.tree, b.Behaviour().Name, b.Systems())
}

// plain serves without TLS.
func plain(ctx context.Context, o options, cfg bmc.Config, out io.Writer) error {
	b := bmc.New(cfg)
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.address)
	if err != nil {
		return fmt.Errorf("cannot listen on %q: %w", o.address, err)
	}
	srv := &http.Server{Handler: b, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		_ = srv.Close()
	}()
	fmt.Fprintf(out, "http://%s of %s, user %s\n", l.Addr(), o.what(b), o.user)
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}

	return nil
}
