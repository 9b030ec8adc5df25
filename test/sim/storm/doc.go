// Package storm simulates thousands of machines that boot at once, as a hall does after a power cut: real DHCP through one relay, a real
// script and a real kernel by HTTP, and the waits of iPXE between its tries. A machine costs a goroutine and one connection; what it's
// given isn't run, and what of a kernel isn't to be compared isn't even copied.
package storm
