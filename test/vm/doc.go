// Package vm is a rack of virtual machines with real firmware: a lab whose bootd serves a bridge, with QEMU machines on it and an
// emulated BMC in front of each. It needs root, the Debian packages listed in debian-packages.txt, and namespaces of its own
// (test/sim/netns). Its tests prove the project on it, from claim to Ready; the demo shows it.
package vm
