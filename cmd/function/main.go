// Command function runs function-baremetal, which composes BareMetalNode and RackPool.
package main

import (
	"fmt"

	"github.com/alecthomas/kong"
	function "github.com/crossplane/function-sdk-go"

	"github.com/crossplane-contrib/provider-baremetal/internal/composition"
)

// cli holds the flags.
type cli struct {
	Debug          bool   `help:"Log at debug level." short:"d"`
	Network        string `default:"tcp" help:"Network to listen on."`
	Address        string `default:":9443" help:"Address to listen on."`
	MetricsAddress string `default:":8080" help:"Address to serve metrics on; empty: don't."`
	TLSCertsDir    string `env:"TLS_SERVER_CERTS_DIR" help:"Folder with the server's tls.crt and tls.key, and the ca.crt that Crossplane's certificate is checked by."`
	Insecure       bool   `help:"Serve without TLS. For tests on loopback: whoever reaches the port can ask for a composition."`
}

// Run serves until the process is told to stop.
func (c *cli) Run() error {
	log, err := function.NewLogger(c.Debug)
	if err != nil {
		return fmt.Errorf("cannot make a logger: %w", err)
	}
	err = function.Serve(composition.New(log),
		function.Listen(c.Network, c.Address),
		function.WithMetricsServer(c.MetricsAddress),
		function.MTLSCertificates(c.TLSCertsDir),
		function.Insecure(c.Insecure))
	if err != nil {
		return fmt.Errorf("cannot serve on %q: %w", c.Address, err)
	}
	return nil
}

func main() {
	ctx := kong.Parse(&cli{}, kong.Description("Compose bare-metal nodes and rack pools."))
	ctx.FatalIfErrorf(ctx.Run())
}
