//go:build tools

// Package controlplane pins the programs of the local control plane, etcd, kube-apiserver, kubectl and Crossplane's core, and what a
// cluster with a node has beside these: kube-controller-manager, kube-scheduler, kubelet and kube-proxy. It's a module of its own, so
// that their dependencies never meet the provider's; and it's one module, so that what they have in common, which is most of
// Crossplane, is compiled once. For the same reason it asks for the provider's versions of what both are built of.
package controlplane

import (
	_ "github.com/crossplane/crossplane/v2/cmd/crossplane"
	_ "go.etcd.io/etcd/server/v3"
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager"
	_ "k8s.io/kubernetes/cmd/kube-proxy"
	_ "k8s.io/kubernetes/cmd/kube-scheduler"
	_ "k8s.io/kubernetes/cmd/kubectl"
	_ "k8s.io/kubernetes/cmd/kubelet"
)
