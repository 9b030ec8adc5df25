// Package hostclaim binds HostClaims and hosts, and is the one place where the order of a boot and of a
// release is decided. It edits managed resources and never talks to a BMC or to NetBox.
package hostclaim
