// Package onlab runs the pages of docs/operations that need no kubelet, on the local control plane with emulated machines, which also have
// the faults that the symptoms are of.
package onlab
