package trace

import "github.com/crossplane-contrib/provider-baremetal/internal/boot"

// Mask blots out, in place, whatever may be a boot token: each run of so many characters that tokens are written in, or of more. What's
// around it stays where it was, so that the packet still reads.
func Mask(b []byte) {
	// Of so many octets in a row one stands at one of these places: looking there is enough.
	for i := boot.TokenLength - 1; i < len(b); i += boot.TokenLength {
		if !inToken(b[i]) {
			continue
		}
		from, to := i, i+1
		for from > 0 && inToken(b[from-1]) {
			from--
		}
		for to < len(b) && inToken(b[to]) {
			to++
		}
		if to-from < boot.TokenLength {
			continue
		}
		for j := from; j < to; j++ {
			b[j] = '*'
		}
	}
}

func inToken(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}
