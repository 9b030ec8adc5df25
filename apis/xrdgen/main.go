// Command xrdgen writes the CompositeResourceDefinitions of both flavours from one set of Go types.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/alecthomas/kong"
)

// cli holds the flags.
type cli struct {
	Types string `default:"./platform/v1alpha1" help:"Package pattern of the composites' Go types."`
	Out   string `default:"../package"          help:"Folder that holds the packages' folders."`
}

// Run reads the types and writes one file an XRD.
func (c *cli) Run() error {
	kinds, err := load(c.Types)
	if err != nil {
		return err
	}
	for _, k := range kinds {
		files, err := render(k)
		if err != nil {
			return err
		}
		for path, content := range files {
			if err := os.WriteFile(filepath.Join(c.Out, path), content, 0o644); err != nil { //nolint:gosec // A manifest is for everybody to read.
				return fmt.Errorf("cannot write XRD of %s: %w", k.Spec.Names.Kind, err)
			}
		}
	}
	return nil
}

func main() {
	ctx := kong.Parse(&cli{}, kong.Description("Write the XRDs of both flavours from Go types."))
	ctx.FatalIfErrorf(ctx.Run())
}
