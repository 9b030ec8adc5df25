// Package node is a real Kubernetes cluster of one node, in namespaces of its own: etcd, the control plane, kubelet and
// kube-proxy of stock Kubernetes, containerd and runc of Debian, CoreDNS, and a registry. It needs root, and nothing of it
// reaches the machine's network. When Stop returns, or whoever started it is gone in whatever way, nothing is left but logs.
package node
