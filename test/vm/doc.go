// Package vm proves the project on real firmware: QEMU machines behind emulated BMCs, on a bridge in a network namespace of
// the tests' own, from claim to Ready. It needs root and the Debian packages listed in debian-packages.txt.
package vm
