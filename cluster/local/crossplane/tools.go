//go:build tools

// Package crossplane pins Crossplane's core for the local control plane. It's a module of its own,
// because core and kube-apiserver want different k8s.io versions.
package crossplane

import _ "github.com/crossplane/crossplane/v2/cmd/crossplane"
