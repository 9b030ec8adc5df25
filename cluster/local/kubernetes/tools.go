//go:build tools

// Package kubernetes pins the programs of the local control plane: etcd, kube-apiserver,
// kube-controller-manager and kubectl. It's a module of its own, so that their dependencies never
// meet the provider's.
package kubernetes

import (
	_ "go.etcd.io/etcd/server/v3"
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager"
	_ "k8s.io/kubernetes/cmd/kubectl"
)
