package boot

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestToken(t *testing.T) {
	current, previous, stranger := []byte("current-key"), []byte("previous-key"), []byte("stranger-key")
	whole := Claims{Kind: TokenBoot, Entry: KeyOf("entry"), GrantID: "00000000000000a1", Nonce: "00000000000000b2", Expires: time.Unix(noon.Unix()+60, 0)}
	bare := Claims{Kind: TokenScript, Entry: KeyOf("entry"), Nonce: "00000000000000b2", Expires: time.Unix(noon.Unix()+60, 0)}
	cases := map[string]struct {
		reason string
		key    []byte
		claims Claims
		now    time.Time
		err    error
	}{
		"Current":    {reason: "What we mint we know.", key: current, claims: whole, now: noon},
		"NoGrant":    {reason: "A token without a grant stays without one.", key: current, claims: bare, now: noon},
		"Previous":   {reason: "A token of before the rotation still counts.", key: previous, claims: whole, now: noon},
		"Stranger":   {reason: "Somebody else's key isn't ours.", key: stranger, claims: whole, now: noon, err: ErrToken},
		"Expired":    {reason: "An old token is old.", key: current, claims: whole, now: noon.Add(time.Minute), err: ErrTokenExpired},
		"JustBefore": {reason: "A second before, it isn't.", key: current, claims: whole, now: noon.Add(59 * time.Second)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			token, err := Mint(tc.key, tc.claims)
			if err != nil {
				t.Fatal(err)
			}
			if len(token) != 66 {
				t.Errorf("%s\nMint(...): %d characters, want 66", tc.reason, len(token))
			}
			got, err := Verify([][]byte{current, previous}, token, tc.now)
			if !errors.Is(err, tc.err) {
				t.Fatalf("%s\nVerify(...): error %v, want %v", tc.reason, err, tc.err)
			}
			if err != nil {
				return
			}
			if diff := cmp.Diff(tc.claims, got); diff != "" {
				t.Errorf("%s\nVerify(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestMintRefuses(t *testing.T) {
	cases := map[string]struct {
		reason string
		claims Claims
	}{
		"LongGrant": {reason: "An id that doesn't fit would be cut.", claims: Claims{GrantID: "00000000000000a1ff"}},
		"WordNonce": {reason: "A nonce that isn't hexadecimal can't be put in.", claims: Claims{Nonce: "not hexadecimal!"}},
	}
	for name, tc := range cases {
		if token, err := Mint([]byte("k"), tc.claims); err == nil {
			t.Errorf("%s: %s\nMint(...) = %q", name, tc.reason, token)
		}
	}
}

// TestTokenBits changes each bit of a token: none may be left to an attacker.
func TestTokenBits(t *testing.T) {
	key := []byte("key")
	token, err := Mint(key, claimsOf("00000000000000b2"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range token {
		for _, c := range []byte("AZaz09-_") {
			if token[i] == c {
				continue
			}
			forged := token[:i] + string(c) + token[i+1:]
			if got, err := Verify([][]byte{key}, forged, noon); err == nil {
				t.Fatalf("character %d changed to %q still verifies as %+v", i, c, got)
			}
		}
	}
}

func TestDerivedNonce(t *testing.T) {
	a := DerivedNonce([]byte("k"), "ab", "c")
	if len(a) != 16 || a != DerivedNonce([]byte("k"), "ab", "c") {
		t.Errorf("DerivedNonce isn't 16 digits, or not the same twice: %q", a)
	}
	if a == DerivedNonce([]byte("k"), "a", "bc") || a == DerivedNonce([]byte("l"), "ab", "c") {
		t.Error("DerivedNonce is the same for other parts or another key")
	}
}

// TestHMAC compares ours with the library's, where keys and messages are cut at the blocks of SHA-256, and beyond.
func TestHMAC(t *testing.T) {
	for _, key := range []int{0, 1, 32, 63, 64, 65, 200} {
		for _, message := range []int{0, 1, 33, 55, 56, 64, 447, 448, 449, 2000} {
			k, m := bytes.Repeat([]byte{'k'}, key), bytes.Repeat([]byte{'m'}, message)
			want := hmac.New(sha256.New, k)
			_, _ = want.Write(m)
			if got := hmacSHA256(k, m); !hmac.Equal(got[:], want.Sum(nil)) {
				t.Errorf("hmacSHA256 of a key of %d bytes and a message of %d isn't crypto/hmac's", key, message)
			}
		}
	}
}

// TestTokensAreCheap holds that a token is read without taking memory but for the two ids in it.
func TestTokensAreCheap(t *testing.T) {
	if raced {
		t.Skip("a sync.Pool forgets things on purpose under the race detector")
	}
	keys := [][]byte{[]byte("key"), []byte("previous")}
	c := claimsOf("00000000000000b2")
	c.Expires = noon.Add(time.Hour)
	token, err := Mint(keys[0], c)
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { _, err = Verify(keys, token, noon) }); n > 2 || err != nil {
		t.Errorf("Verify takes memory %v times, %v", n, err)
	}
	if n := testing.AllocsPerRun(100, func() { _, err = Mint(keys[0], c) }); n > 1 || err != nil {
		t.Errorf("Mint takes memory %v times, %v", n, err)
	}
	if n := testing.AllocsPerRun(100, func() { _ = DerivedNonce(keys[0], "boot", c.Nonce, c.GrantID) }); n > 1 {
		t.Errorf("DerivedNonce takes memory %v times", n)
	}
}

func FuzzVerify(f *testing.F) {
	key := []byte("key")
	good, err := Mint(key, claimsOf("00000000000000b2"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add("")
	f.Add("AAAA")
	f.Fuzz(func(t *testing.T, s string) {
		c, err := Verify([][]byte{key}, s, noon)
		if err == nil && s != good {
			t.Errorf("Verify(%q) = %+v", s, c)
		}
	})
}
