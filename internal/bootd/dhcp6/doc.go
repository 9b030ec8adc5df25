// Package dhcp6 answers the DHCPv6 requests (RFC 8415) of the machines that this boot plane owns, and is silent otherwise.
//
// It's as package dhcp is: a request goes bytes → message → facts → decision → message → bytes, Classify and Respond are pure, and only
// Serve touches a Conn. What a machine loads, what its script's token is and which reasons there are is said there, once for both.
package dhcp6
