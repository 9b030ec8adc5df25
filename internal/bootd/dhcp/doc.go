// Package dhcp answers the DHCPv4 requests of the machines that this boot plane owns, and is silent otherwise.
//
// A request goes bytes → packet → facts → decision → packet → bytes. Classify and Respond are pure: they know no clock, no
// socket and no lease database, so that every replica gives the same answer to the same packet. Only Serve touches a Conn.
package dhcp
