package boot

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// TokenKind says what a token is good for.
type TokenKind byte

// Values of TokenKind.
const (
	// TokenScript, in iPXE's own DHCP answer, asks for the boot script and nothing else.
	TokenScript TokenKind = 's'
	// TokenBoot, in the boot script, is one boot's own: callbacks, user data, image.
	TokenBoot TokenKind = 'b'
)

// An EntryKey stands for a BootEntry's UID in a token, at a fixed size.
type EntryKey [12]byte

// KeyOf an entry's UID.
func KeyOf(entryUID string) EntryKey {
	s := sha256.Sum256([]byte(entryUID))
	return EntryKey(s[:12])
}

// Claims are what a token says.
type Claims struct {
	Kind  TokenKind
	Entry EntryKey
	// GrantID as 16 hexadecimal digits; "" without a grant.
	GrantID string
	// Nonce of the boot, 16 hexadecimal digits.
	Nonce   string
	Expires time.Time
}

const (
	claimsSize = 1 + 12 + 8 + 8 + 4
	macSize    = 16
	tokenBytes = claimsSize + macSize
	// TokenLength is how many characters a token has: tokenBytes in base64url, without padding.
	TokenLength = (tokenBytes*8 + 5) / 6
)

// ErrToken says that a token isn't one of ours. It tells nothing else, lest it help a forger.
var ErrToken = errors.New("the boot token is not valid")

// ErrTokenExpired says that a token is ours, but too old.
var ErrTokenExpired = errors.New("the boot token has expired")

// Mint makes a token: base64url without padding, 66 characters, so that a URL with it fits into DHCP
// option 67's 255 octets.
func Mint(key []byte, c Claims) (string, error) {
	var b [tokenBytes]byte
	b[0] = byte(c.Kind)
	copy(b[1:13], c.Entry[:])
	if err := putHex(b[13:21], c.GrantID); err != nil {
		return "", fmt.Errorf("cannot put grant id into a token: %w", err)
	}
	if err := putHex(b[21:29], c.Nonce); err != nil {
		return "", fmt.Errorf("cannot put nonce into a token: %w", err)
	}
	binary.BigEndian.PutUint32(b[29:33], uint32(c.Expires.Unix())) //nolint:gosec // Good until 2106.
	mac := sign(key, b[:claimsSize])
	copy(b[claimsSize:], mac[:])
	var text [TokenLength]byte
	base64.RawURLEncoding.Encode(text[:], b[:])
	return string(text[:]), nil
}

// Verify reads a token made with any of the keys.
func Verify(keys [][]byte, token string, now time.Time) (Claims, error) {
	if len(token) != TokenLength {
		return Claims{}, ErrToken
	}
	var text, again [TokenLength]byte
	copy(text[:], token)
	var b [tokenBytes]byte
	if n, err := base64.RawURLEncoding.Decode(b[:], text[:]); err != nil || n != tokenBytes {
		return Claims{}, ErrToken
	}
	// Of the last character some bits mean nothing: one token is written in one way alone.
	base64.RawURLEncoding.Encode(again[:], b[:])
	if again != text {
		return Claims{}, ErrToken
	}
	ok := 0
	for _, k := range keys {
		mac := sign(k, b[:claimsSize])
		ok |= subtle.ConstantTimeCompare(mac[:], b[claimsSize:])
	}
	if ok != 1 {
		return Claims{}, ErrToken
	}
	c := Claims{
		Kind: TokenKind(b[0]), Entry: EntryKey(b[1:13]),
		GrantID: getHex(b[13:21]), Nonce: getHex(b[21:29]),
		Expires: time.Unix(int64(binary.BigEndian.Uint32(b[29:33])), 0),
	}
	if !now.Before(c.Expires) {
		return Claims{}, ErrTokenExpired
	}
	return c, nil
}

// DerivedNonce is the nonce of a script token. It depends on the DHCP exchange alone, so that every
// replica answers it with the same bytes.
func DerivedNonce(key []byte, parts ...string) string {
	text := derived(key, parts)
	return string(text[:])
}

// MarkedNonce is DerivedNonce with a last digit of one's own.
func MarkedNonce(mark byte, key []byte, parts ...string) string {
	text := derived(key, parts)
	text[len(text)-1] = mark
	return string(text[:])
}

func derived(key []byte, parts []string) (text [16]byte) {
	var room [256]byte
	b := room[:0]
	for _, p := range parts {
		b = append(strconv.AppendInt(b, int64(len(p)), 10), ':')
		b = append(b, p...)
	}
	sum := hmacSHA256(key, b)
	hex.Encode(text[:], sum[:8])
	return text
}

func sign(key, b []byte) [macSize]byte {
	sum := hmacSHA256(key, b)
	return [macSize]byte(sum[:])
}

func putHex(dst []byte, s string) error {
	if s == "" {
		return nil
	}
	if len(s) != 2*len(dst) {
		return fmt.Errorf("%q isn't %d hexadecimal digits", s, 2*len(dst))
	}
	_, err := hex.Decode(dst, []byte(s))
	return err
}

func getHex(b []byte) string {
	for _, x := range b {
		if x != 0 {
			return hexOf([8]byte(b))
		}
	}
	return ""
}

func hexOf(b [8]byte) string {
	var text [16]byte
	hex.Encode(text[:], b[:])
	return string(text[:])
}
