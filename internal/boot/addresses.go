package boot

import "fmt"

// checkAddresses says which address of an entry its machine can't have on a segment; nil: none.
func checkAddresses(e Entry, n SegmentConfig) *Problem {
	if len(e.Addresses) == 0 {
		return &Problem{ProblemInvalid, "the machine has no address; name one"}
	}
	for _, a := range e.Addresses {
		subnet, ok := n.subnetOf(a)
		if !ok {
			return &Problem{ProblemInvalid, fmt.Sprintf("address %s isn't in any subnet of BootNetwork %s; give one that is, or add its subnet there", a, n.Name)}
		}
		if AtItsEnd(subnet.CIDR, a.Addr()) {
			return &Problem{ProblemInvalid, fmt.Sprintf(
				"address %s is the first or the last of subnet %s in BootNetwork %s: its own, or the one that all its machines listen to; give the machine another", a.Addr(), subnet.CIDR, n.Name)}
		}
		if a.Addr() == subnet.Gateway {
			remedy := "give the machine another"
			if e.Allocated {
				remedy = "give NetBox a record of the gateway, then delete the claim and apply it again, so that it gets another"
			}
			return &Problem{ProblemInvalid, fmt.Sprintf(
				"address %s is the gateway of its subnet in BootNetwork %s, which a machine would take from it; %s", a.Addr(), n.Name, remedy)}
		}
	}
	return nil
}
