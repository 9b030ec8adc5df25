package boot

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// KeyPullSecret is the key, in a Secret of type kubernetes.io/dockerconfigjson, of the passwords of the servers that files come from.
const KeyPullSecret = ".dockerconfigjson" //nolint:gosec // A key's name.

const (
	pullPrefix = "pull-"
	// pullDigits of a hash stand in the name of a copy.
	pullDigits = 40
)

// PullSecretName is the name, in bootd's namespace, of the copy of a Secret with such passwords. It follows from where the Secret is, so that
// a profile of another namespace can't name it.
func PullSecretName(namespace, name string) string {
	s := sha256.Sum256([]byte(namespace + "/" + name))
	return pullPrefix + hex.EncodeToString(s[:])[:pullDigits]
}

// IsPullSecret says whether something may be the name of such a copy. bootd reads nothing else for a server's password.
func IsPullSecret(name string) bool {
	digits, ok := strings.CutPrefix(name, pullPrefix)
	return ok && len(digits) == pullDigits && strings.Trim(digits, "0123456789abcdef") == ""
}
