// Command keeper runs a node in namespaces of its own. Package node starts it; it's of no use to people.
package main

import (
	"fmt"
	"os"

	"github.com/crossplane-contrib/provider-baremetal/cluster/node/inside"
)

func main() {
	if err := inside.Main(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "keeper:", err)
		os.Exit(1)
	}
}
