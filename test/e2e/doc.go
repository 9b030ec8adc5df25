// Package e2e runs the whole system on a local control plane and holds what must be so, one case a file.
package e2e
