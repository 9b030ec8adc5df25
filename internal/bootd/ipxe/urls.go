package ipxe

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// Paths under a bootd's base URL (http://address:port, without a slash at its end). DHCP advertises by these functions and
// HTTP serves by them, so that both mean the same.
const (
	// PathBoot is followed by a token, and that by script.ipxe, files/DIGEST or one of the machine's endpoints.
	PathBoot = "/v1/boot/"
	// PathFirmware is followed by the name of a first stage, for UEFI HTTP Boot.
	PathFirmware = "/v1/firmware/"
	// ScriptName is the last element of a script's path.
	ScriptName = "script.ipxe"
)

// archParameter names the query parameter of a script that holds DHCP option 93 of the iPXE that asks. A token says
// nothing of the firmware, and one machine may come by several.
const archParameter = "arch"

// ScriptURL is where iPXE fetches its script; arch is its option 93. With any IPv4 base it's at most 122 characters long,
// so that it fits into the 127 of DHCP's file field.
func ScriptURL(base, token string, arch uint16) string {
	return base + PathBoot + token + "/" + ScriptName + "?" + archParameter + "=" + strconv.Itoa(int(arch))
}

// FirmwareOf reads a script request's query. Without a readable one the firmware is unknown.
func FirmwareOf(q url.Values) boot.Firmware {
	n, err := strconv.ParseUint(q.Get(archParameter), 10, 16)
	if err != nil {
		return boot.Firmware{}
	}
	return boot.FirmwareOf(uint16(n))
}

// AskedBy reads the query of a script request as FirmwareOf and IsHeld do. Those that bootd writes are read as they stand; in others there
// may be anything.
func AskedBy(query string) (fw boot.Firmware, held bool) {
	rest, ok := strings.CutPrefix(query, archParameter+"=")
	digits, held := strings.CutSuffix(rest, "&"+heldParameter)
	if n, err := strconv.ParseUint(digits, 10, 16); ok && err == nil {
		return boot.FirmwareOf(uint16(n)), held
	}
	q, _ := url.ParseQuery(query) // As Request.URL.Query does: what can be read of it.
	return FirmwareOf(q), IsHeld(q)
}

// heldParameter marks a script request of a script that waits, or that failed. It can't be told that there's no script: it would take that for a server
// that is away, and wait for ever.
const heldParameter = "held"

// Held is the path of a script, with its query, for a script that asks for it.
func Held(uri string) string {
	switch _, query, ok := strings.Cut(uri, "?"); {
	case !ok:
		return uri + "?" + heldParameter
	case slices.Contains(strings.Split(query, "&"), heldParameter):
		return uri
	}
	return uri + "&" + heldParameter
}

// IsHeld says whether a script request comes from a script.
func IsHeld(q url.Values) bool { return q.Has(heldParameter) }

// NotFoundText is what a person is shown for the answer of a script that isn't found.
const NotFoundText = "404 Not Found\n"

// FirmwareURL is where UEFI HTTP Boot fetches a first stage.
func FirmwareURL(base, name string) string { return base + PathFirmware + url.PathEscape(name) }

// LoaderPath is where a shim lies for TFTP, with the script token of its machine. Both loaders look for what comes next beside it: the shim
// for grub, grub for its grub.cfg. The slash in front is for grub, which puts nothing between its server and the folder.
func LoaderPath(token string, arch boot.Arch, name string) string {
	return "/" + token + "/" + folders()[arch] + "/" + name
}

// LoaderOf reads a LoaderPath, whose slash in front may be missing, as its folder's architecture, its token and the name behind.
func LoaderOf(path string) (token string, arch boot.Arch, name string, ok bool) {
	token, rest, ok := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	folder, name, more := strings.Cut(rest, "/")
	name = strings.TrimPrefix(name, "/") // A shim that puts one between its folder and what comes next, which ends with one.
	if !ok || !more || strings.Contains(name, "/") {
		return "", "", "", false
	}
	for arch, f := range folders() {
		if f == folder {
			return token, arch, name, true
		}
	}
	return "", "", "", false
}

// folders by architecture. A token says nothing of the firmware, and one machine may come by several.
func folders() map[boot.Arch]string {
	return map[boot.Arch]string{boot.AMD64: "x64", boot.ARM64: "aa64"}
}

// LoaderFilePath is where grub loads a kernel or an initrd by TFTP, with the token of its boot.
func LoaderFilePath(token, digest string) string {
	return "/" + token + "/files/" + strings.ReplaceAll(digest, ":", "-")
}

// LoaderFileOf reads a LoaderFilePath, whose slash in front may be missing.
func LoaderFileOf(path string) (token, digest string, ok bool) {
	token, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	element, ok := strings.CutPrefix(rest, "files/")
	if !ok || strings.Contains(element, "/") {
		return "", "", false
	}
	return token, DigestOf(element), true
}

// CallbackURL is the base of a boot's endpoints, without a slash at its end; its last element is the token.
func CallbackURL(base, token string) string { return base + PathBoot + token }

// ISOName is the last element of an ISO's path.
const ISOName = "iso"

// ISOURL is where iPXE reads an ISO, by ranges.
func ISOURL(base, token string) string { return CallbackURL(base, token) + "/" + ISOName }

// FileURL is where iPXE fetches a kernel or initrd.
func FileURL(base, token, digest string) string {
	return CallbackURL(base, token) + "/files/" + strings.ReplaceAll(digest, ":", "-")
}

// DigestOf reads the last element of a FileURL.
func DigestOf(element string) string { return strings.Replace(element, "-", ":", 1) }
