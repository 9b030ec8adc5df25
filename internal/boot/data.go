package boot

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// DataDigest is that of what a machine is given beside its image, by name: sha256:…. A plan holds it as UserDataDigest.
func DataDigest(data map[string][]byte) string {
	b, err := json.Marshal(data)
	if err != nil {
		panic(err) // A map of octets always marshals.
	}
	s := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(s[:])
}
