//go:build tools

// Package kubernetes pins the programs of the local control plane, etcd, kube-apiserver, kube-controller-manager and
// kubectl, and what a cluster with a node has beside these: kube-scheduler, kubelet and kube-proxy. It's a module of its
// own, so that their dependencies never meet the provider's.
package kubernetes

import (
	_ "go.etcd.io/etcd/server/v3"
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager"
	_ "k8s.io/kubernetes/cmd/kube-proxy"
	_ "k8s.io/kubernetes/cmd/kube-scheduler"
	_ "k8s.io/kubernetes/cmd/kubectl"
	_ "k8s.io/kubernetes/cmd/kubelet"
)
