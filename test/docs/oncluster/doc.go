// Package oncluster runs the pages that need a real node: the README's section on clusters, and of docs/operations install, upgrade, uninstall.
package oncluster
