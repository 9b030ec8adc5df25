package artifacts

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

const (
	// partial is the end of the name of a file that isn't whole yet: nothing serves it. remnants is that of what is known about it.
	partial  = ".partial"
	remnants = ".remnant"
	// sourceDigits of a URL's hash stand between the digest and that: what one server gives of a file is kept apart from what another does.
	sourceDigits = 16
)

// halfName is the name of what is written of a file while it comes from its URL, or of an image while it's unpacked.
func halfName(a boot.Artifact) string {
	if a.Unpack {
		return fileOf(a.Digest) + "." + sourceOf(a)[:sourceDigits] + raw + fresh
	}
	return fileOf(a.Digest) + "." + sourceOf(a)[:sourceDigits] + partial
}

// hasSource says whether the name of half a download says from where it came. Those of earlier versions don't.
func hasSource(name string) bool {
	const parts = 3 // The digest, its source, and partial or remnants.
	return strings.Count(name, ".") == parts-1
}

// A remnant says whose first bytes a partial holds. A later try goes on where an earlier one broke off, as long as the server says that
// it still has the same file; whether it had is seen by the digest of the whole.
type remnant struct {
	// Source is the sha256 of the URL, which may hold a secret itself, and of the name of the Secret with its server's passwords.
	Source string `json:"source"`
	// Validator is the file's strong ETag, else its Last-Modified.
	Validator string `json:"validator,omitempty"`
	// Fixed says that the URL holds a digest of the bytes: what it serves can't have changed.
	Fixed bool `json:"fixed,omitempty"`
}

func sourceOf(a boot.Artifact) string {
	s := sha256.Sum256([]byte(sourceKey(a)))
	return hex.EncodeToString(s[:])
}

// sourceKey tells apart by what a file is fetched: its URL, and whose passwords its server is told. A line end is in neither.
func sourceKey(a boot.Artifact) string {
	if a.PullSecret == "" {
		return a.URL
	}
	return a.URL + "\n" + a.PullSecret
}

// validator of an answer; "": it has none by which to go on.
func validator(h http.Header) string {
	if e := h.Get("ETag"); strings.HasPrefix(e, `"`) { // A weak one says nothing of bytes (RFC 9110 §13.1.5).
		return e
	}
	return h.Get("Last-Modified")
}

func (r remnant) resumable() bool { return r.Fixed || r.Validator != "" }

// goesOn says whether an answer holds all that follows the bytes that are there.
func (r remnant) goesOn(at int64, h http.Header) bool {
	var first, last, size int64
	part := h.Get("Content-Range")
	if n, err := fmt.Sscanf(part, "bytes %d-%d/%d", &first, &last, &size); (err != nil || n != 3 || last != size-1) && !strings.HasSuffix(part, "/*") {
		return false
	}
	if !strings.HasPrefix(part, fmt.Sprintf("bytes %d-", at)) {
		return false
	}
	e := h.Get("ETag")
	return r.Fixed || e == "" || !strings.HasPrefix(r.Validator, `"`) || e == r.Validator
}
