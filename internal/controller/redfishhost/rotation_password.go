package redfishhost

import (
	"crypto/rand"
	"fmt"
	"io"
	"math/big"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// What a password is made of: nothing that people confuse, nor that shells, JSON
// or the keyboards of consoles have trouble with.
const (
	lowers = "abcdefghijkmnpqrstuvwxyz"
	uppers = "ABCDEFGHJKLMNPQRSTUVWXYZ"
	digits = "23456789"
	marks  = "-_"
)

const (
	// usualLength is all that IPMI 2.0 takes, which most BMCs speak with the same
	// password; leastLength is the shortest password worth the name.
	usualLength = 20
	leastLength = 8
)

// newPassword makes a password that a BMC's account may have: as long as IPMI
// takes where the BMC doesn't want it shorter or longer, of all four kinds of
// characters, none twice in a row, and without the user's name.
func newPassword(a redfish.Account, user string, random io.Reader) (string, error) {
	length := usualLength
	if a.MaxLength > 0 {
		length = min(length, a.MaxLength)
	}
	length = max(length, a.MinLength)
	if length < leastLength || a.MaxLength > 0 && length > a.MaxLength {
		return "", &rotationError{reason: v1alpha1.ReasonNotSupported, message: fmt.Sprintf("the BMC wants passwords of %d to %d characters, of which none is made: change it by hand", a.MinLength, a.MaxLength)}
	}
	for {
		p, err := anyPassword(length, random)
		if err != nil {
			return "", err
		}
		if strong(p) && (len(user) < 3 || !strings.Contains(strings.ToLower(p), strings.ToLower(user))) {
			return p, nil
		}
	}
}

// anyPassword is so many random characters, the first of which is a letter.
func anyPassword(length int, random io.Reader) (string, error) {
	out := make([]byte, 0, length)
	for len(out) < length {
		of := lowers + uppers + digits + marks
		if len(out) == 0 {
			of = lowers + uppers
		}
		n, err := rand.Int(random, big.NewInt(int64(len(of))))
		if err != nil {
			return "", fmt.Errorf("cannot make a password: %w", err)
		}
		out = append(out, of[n.Int64()])
	}

	return string(out), nil
}

// strong says whether all kinds of characters are there, and none twice in a row:
// one in three is, of the usual length.
func strong(p string) bool {
	for _, kind := range []string{lowers, uppers, digits, marks} {
		if !strings.ContainsAny(p, kind) {
			return false
		}
	}
	for i := 1; i < len(p); i++ {
		if p[i] == p[i-1] {
			return false
		}
	}

	return true
}
