// Package ipxe renders what iPXE is told, and knows the URLs by which DHCP, HTTP and scripts agree. It's pure.
package ipxe
