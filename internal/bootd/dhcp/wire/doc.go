// Package wire reads and writes DHCPv4 messages (RFC 2131, 2132, 3396) where they lie: no maps, and no garbage but where a
// client sends an option in pieces. It knows the format and nothing of what a message means to us.
package wire
