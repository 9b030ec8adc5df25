// Command function runs function-baremetal, which composes BareMetalNode and RackPool.
package main

import (
	"context"
	"fmt"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
	function "github.com/crossplane/function-sdk-go"

	"github.com/crossplane-contrib/provider-baremetal/internal/composition"
)

// version is set by the linker.
var version = "dev"

// cli holds the flags.
type cli struct {
	Debug          bool             `help:"Log at debug level." short:"d"`
	Network        string           `default:"tcp" help:"Network to listen on."`
	Address        string           `default:":9443" help:"Address to listen on."`
	MetricsAddress string           `default:":8080" help:"Address to serve metrics on; empty: don't."`
	TLSCertsDir    string           `env:"TLS_SERVER_CERTS_DIR" help:"Folder with the server's tls.crt and tls.key, and the ca.crt that Crossplane's certificate is checked by."`
	Insecure       bool             `help:"Serve without TLS. For tests on loopback: whoever reaches the port can ask for a composition."`
	Version        kong.VersionFlag `help:"Print the version."`
}

// Run serves until the process is told to stop.
func (c *cli) Run() error {
	log, err := function.NewLogger(c.Debug)
	if err != nil {
		return fmt.Errorf("cannot make a logger: %w", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	runner := &draining{FunctionRunnerServiceServer: composition.New(log)}
	served := make(chan error, 1)
	go func() {
		served <- function.Serve(runner,
			function.Listen(c.Network, c.Address),
			function.WithMetricsServer(c.MetricsAddress),
			function.MTLSCertificates(c.TLSCertsDir),
			function.Insecure(c.Insecure))
	}()
	select {
	case err = <-served:
		return fmt.Errorf("cannot serve on %q: %w", c.Address, err)
	case <-ctx.Done():
		runner.drain(quiet, patience)
		return nil
	}
}

func main() {
	ctx := kong.Parse(&cli{}, kong.Description("Compose bare-metal nodes and rack pools."), kong.Vars{"version": version})
	ctx.FatalIfErrorf(ctx.Run())
}
