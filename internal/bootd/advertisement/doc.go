// Package advertisement answers router solicitations (RFC 4861) on the links of BootNetworks that ask for it, and makes nobody a router by that:
// its advertisements have a lifetime of 0. They say that addresses are DHCPv6's to give, and what is on the link.
//
// Content and Respond are pure, and only Serve touches a Conn.
package advertisement
