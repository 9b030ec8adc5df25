// Package programs finds or builds the programs of the local control plane: etcd, Kubernetes and Crossplane.
package programs
