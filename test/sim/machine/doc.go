// Package machine simulates one network-booting server inside the test process: a real DHCP, TFTP and HTTP client that
// boots what bootd gives it, without root and without firmware.
//
// A machine is driven by its emulated BMC through On, Off, Restart and Powered. Between those calls it does what iron
// does: its firmware asks for an address as a PXE ROM, loads the first stage by TFTP, goes on as iPXE, runs the script
// it is given, starts a kernel, and the kernel's installer writes a disk that exists in memory only. Because it lives on
// loopback its packets come through an emulated DHCP relay that listens on an unprivileged port (RFC 8357).
package machine
