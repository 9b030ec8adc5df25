// Package wire reads and writes DHCPv6 packets (RFC 8415) where they lie: what relays put around a message, and options by their code.
package wire
