package links

import (
	"bufio"
	"encoding/hex"
	"io"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Flags of an address of IPv6, as the kernel has them: IFA_F_…, linux/if_addr.h.
const (
	temporary  = 0x01
	optimistic = 0x04
	dadFailed  = 0x08
	deprecated = 0x20
	tentative  = 0x40
	permanent  = 0x80
)

// rank puts addresses in an order in which the first is the one to be reached under. Of IPv4 it's the kernel's. Of IPv6 those go first that stay, by
// number: the kernel names the newest first, be it a temporary one (RFC 8981), one that nobody is to use any more, or one that another host has
// (RFC 4862 §5.4), and a server's DUID would follow it.
func rank(all []netip.Addr, flagsOf func() map[netip.Addr]uint64) {
	four := func(a netip.Addr) int {
		if a.Is4() {
			return 0
		}
		return 1
	}
	six := 0
	for _, a := range all {
		six += four(a)
	}
	if six < 2 { // There's nothing to choose from.
		return
	}
	flags := flagsOf()
	slices.SortStableFunc(all, func(a, b netip.Addr) int {
		switch x, y := four(a), four(b); {
		case x != y:
			return x - y
		case x == 0:
			return 0
		}
		if x, y := worth(flags[a]), worth(flags[b]); x != y {
			return x - y
		}
		return a.Compare(b)
	})
}

// worth is less for an address that is better to be reached under.
func worth(flags uint64) int {
	const stays, leased, changes, goes, unsure = 0, 1, 2, 3, 4
	switch {
	case flags&(dadFailed|tentative|optimistic) != 0:
		return unsure
	case flags&deprecated != 0:
		return goes
	case flags&temporary != 0:
		return changes
	case flags&permanent == 0:
		return leased
	}
	return stays
}

// flagsOf are those of all addresses of IPv6 in this thread's network; none where the system doesn't say.
func flagsOf() map[netip.Addr]uint64 {
	f, err := os.Open("/proc/thread-self/net/if_inet6")
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	return readFlags(f)
}

// readFlags reads lines of an address, the interface's number, the prefix's length, the scope, the flags and the interface's name, in hexadecimal digits.
func readFlags(r io.Reader) map[netip.Addr]uint64 {
	const address, flags, least = 0, 4, 5
	out := map[netip.Addr]uint64{}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) < least {
			continue
		}
		b, err := hex.DecodeString(f[address])
		if err != nil {
			continue
		}
		a, ok := netip.AddrFromSlice(b)
		v, err := strconv.ParseUint(f[flags], 16, 32)
		if ok && err == nil {
			out[a] = v
		}
	}
	return out
}
