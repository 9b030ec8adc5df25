// Command chainsaw is Kyverno's, with the one command that uptest calls. The others, which migrate and lint tests, want modules that
// aren't to be had.
package main

import (
	"os"

	"github.com/kyverno/chainsaw/pkg/commands/test"
	"github.com/spf13/cobra"
)

func main() {
	root := &cobra.Command{Use: "chainsaw", Short: "Runs chainsaw's tests."}
	root.AddCommand(test.Command())
	if err := root.Execute(); err != nil {
		os.Exit(1) // Cobra has said why.
	}
}
