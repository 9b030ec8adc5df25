package ipxe

import (
	"slices"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// KernelWords are the words of the kernel's command line for a boot by another loader than iPXE: given, the plan's own, and those by which an
// installer finds bootd, its user data and its network. anyMAC stands where a machine has several NICs, and only its loader knows which of
// them boots.
func KernelWords(in Input, files boot.Artifacts, given []string, anyMAC string) []string {
	s := script{in: in}
	given, kept := keptWords(in.Plan, given)
	words := slices.Concat(given, s.callbacks(files), s.userData(given), s.network(), kept)
	words = slices.DeleteFunc(words, func(w string) bool { return w == loaderBootIF }) // Other loaders have no such form of it.
	for i, w := range words {
		if w == WordMAC+"="+loaderMAC {
			words[i] = WordMAC + "=" + anyMAC
		}
	}
	return words
}
