// Package getter stands in for github.com/hashicorp/go-getter: chainsaw, which fetches manifests with it, is only given local files, and
// reads those by itself.
package getter

import (
	"context"
	"fmt"
)

// ClientMode says what is fetched.
type ClientMode uint

// ClientModeFile is one file.
const ClientModeFile ClientMode = 2

// A Client fetches one file, from a URL to a path.
type Client struct {
	Ctx      context.Context //nolint:containedctx // As the library has it.
	Src, Dst string
	Mode     ClientMode
}

// Get refuses.
func (c *Client) Get() error {
	return fmt.Errorf("cannot fetch %q: this chainsaw reads local files only", c.Src)
}
