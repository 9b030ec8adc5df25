// Package cluster tests what users install as they install it: packages from a registry, stock Crossplane, a real kubelet, a
// DaemonSet that hears the broadcast of a real firmware.
package cluster
