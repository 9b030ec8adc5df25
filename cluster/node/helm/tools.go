//go:build tools

// Package helm pins Helm, which installs Crossplane as users do. It's a module of its own, so that its dependencies never meet
// the provider's.
package helm

import _ "helm.sh/helm/v4/cmd/helm"
