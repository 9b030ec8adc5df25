package ipxe

import (
	"cmp"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// Words of the kernel command line that are ours. An installer reads them; its own system finds the same data by cloud-init.
const (
	// WordCallback is the base of a boot's endpoints: POST begin, progress, installed, booted, failed; GET user-data,
	// meta-data, vendor-data, image. Its last element is the token.
	WordCallback = "baremetal.callback"
	// WordImage is where the disk image is fetched; absent where the plan has none. WordImageDigest is sha256:… or
	// sha512:…, WordImageCompression None, Gzip, Zstd or Xz, WordImageFormat Raw.
	WordImage            = "baremetal.image"
	WordImageDigest      = "baremetal.image-digest"
	WordImageCompression = "baremetal.image-compression"
	WordImageFormat      = "baremetal.image-format"
	// WordUserData is where user data is fetched; absent where the plan has none.
	WordUserData = "baremetal.user-data"
	// WordAddress is the machine's address with its prefix length, WordGateway its router, WordDNS and WordNTP servers
	// joined by commas, WordMTU bytes. They're those of the family that the machine came over, where it has an address of each. Address and router are absent where another server gives them: then the installer asks for them.
	WordAddress = "baremetal.address"
	WordGateway = "baremetal.gateway"
	WordDNS     = "baremetal.dns"
	WordNTP     = "baremetal.ntp"
	WordMTU     = "baremetal.mtu"
	// WordMAC is the NIC that booted, WordHostname the machine's name.
	WordMAC      = "baremetal.mac"
	WordHostname = "baremetal.hostname"
)

// maxCommandLine is COMMAND_LINE_SIZE of Linux on x86 and ARM64, without its NUL.
const maxCommandLine = 2047

// manyWords are more than most command lines have.
const manyWords = 24

// commandLine gives the words of the kernel's command line: what loads it, the plan's own, then ours, so that a profile
// can't override them: of a repeated word the last counts.
func (s *script) commandLine(files boot.Artifacts) ([]string, error) {
	p := s.in.Plan
	words := make([]string, 0, manyWords)
	if s.in.Firmware.Kind != boot.FirmwareBIOS {
		for i := range files.Initrds { // An EFI stub finds its initrds by these names; on a BIOS iPXE hands them over.
			words = append(words, "initrd="+initrdName(i))
		}
	}
	given, err := planWords(p)
	if err != nil {
		return nil, err
	}
	given, kept := keptWords(p, given)
	words = append(words, given...)
	words = append(words, s.callbacks(files)...)
	words = append(words, s.userData(given)...)
	words = append(words, s.network()...)
	words = append(words, kept...)
	if n := length(words); n > maxCommandLine {
		return nil, fmt.Errorf("command line of %s is %d bytes long, kernels read %d", p.Entry, n, maxCommandLine)
	}
	return words, nil
}

// length of a command line.
func length(words []string) int {
	n := max(len(words)-1, 0) // Spaces.
	for _, w := range words {
		n += len(w)
	}
	return n
}

// planWords are the plan's own.
func planWords(p *boot.Plan) ([]string, error) {
	var words []string
	for _, part := range p.CommandLine {
		for w := range strings.FieldsSeq(part) {
			if err := boot.CarriedByIPXE(w); err != nil {
				return nil, fmt.Errorf("command line of %s: %w", p.Entry, err)
			}
			words = append(words, w)
		}
	}
	return words, nil
}

func (s *script) callbacks(files boot.Artifacts) []string {
	base := CallbackURL(cmp.Or(s.in.Installer, s.in.Base), s.in.Token)
	words := []string{WordCallback + "=" + base}
	if i := files.Image; i != nil {
		words = append(words, WordImage+"="+base+"/image", WordImageDigest+"="+safeWord(i.Digest))
		words = optional(words, WordImageCompression, safeWord(i.Compression))
		words = optional(words, WordImageFormat, safeWord(i.Format))
	}
	return words
}

func (s *script) network() []string {
	p := s.in.Plan
	n := p.Network.Told(s.in.Six)
	words := make([]string, 0, manyWords/2)
	if n.Address.IsValid() && !s.in.NoAddress {
		words = append(words, WordAddress+"="+n.Address.String())
	}
	if n.Gateway.IsValid() && !s.in.NoAddress {
		words = append(words, WordGateway+"="+n.Gateway.String())
	}
	words = optional(words, WordDNS, joined(n.DNS))
	words = optional(words, WordNTP, joined(n.NTP))
	if n.MTU > 0 {
		words = append(words, WordMTU+"="+strconv.Itoa(n.MTU))
	}
	words = append(words, WordMAC+"="+mac(p))
	return optional(words, WordHostname, safeWord(p.Hostname))
}

// mac is the NIC that boots: the only one, or else the one that iPXE has open.
func mac(p *boot.Plan) string {
	if len(p.MACs) == 1 {
		return string(p.MACs[0])
	}
	return loaderMAC
}

// loaderMAC is the NIC that iPXE has open, in its own words.
const loaderMAC = "${netX/mac}"

func joined(as []netip.Addr) string {
	var out []string
	for _, a := range as {
		out = append(out, a.String())
	}
	return strings.Join(out, ",")
}

// optional adds a word that may have no value, and then isn't there.
func optional(words []string, name, value string) []string {
	if value == "" {
		return words
	}
	return append(words, name+"="+value)
}

// safeWord lets through only what a name, a digest or a reason is made of.
func safeWord(s string) string {
	for i := range len(s) {
		if !safe(rune(s[i])) {
			return strings.Map(func(r rune) rune {
				if safe(r) {
					return r
				}
				return -1
			}, s)
		}
	}
	return s
}

func safe(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_' || r == ':'
}
