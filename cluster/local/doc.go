// Package local runs a control plane on loopback from plain processes: etcd, kube-apiserver, kube-controller-manager and
// Crossplane. It needs neither root nor containers, and several may run at once.
package local
