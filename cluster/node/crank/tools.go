//go:build tools

// Package crank pins Crossplane's CLI, which users install packages with. It's a module of its own, because the CLI's last
// version to be had as a module isn't that of Crossplane itself, and wants other versions of k8s.io.
package crank

import _ "github.com/crossplane/crossplane/v2/cmd/crank"
