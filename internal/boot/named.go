package boot

import "strings"

// HostByMACs is how the UID of a host begins that a machine's MACs stand for, since it has no other.
const HostByMACs = "macs-"

// NamedByMACs says whether a host's UID stands for a machine's MACs: no object but its entry knows of it.
func NamedByMACs(hostUID string) bool { return strings.HasPrefix(hostUID, HostByMACs) }
