// Package oncluster runs the pages of docs/operations that need a real node: install, upgrade, uninstall.
package oncluster
