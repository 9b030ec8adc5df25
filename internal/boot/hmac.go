package boot

import (
	"crypto/hmac"
	"crypto/sha256"
	"hash"
	"sync"
	"sync/atomic"
)

// hmacSHA256 is HMAC (RFC 2104) by SHA-256. Each script request has three, by one key: half of the work is the key's, and is done once.
func hmacSHA256(key, message []byte) [sha256.Size]byte {
	k := keyed(key)
	m, _ := k.free.Get().(*hmacWork)
	defer k.free.Put(m)
	m.hash.Reset()
	m.in = append(m.in[:0], message...) // What is handed to a hash must lie on the heap: here it does already.
	_, _ = m.hash.Write(m.in)
	m.hash.Sum(m.out[:0])
	return m.out
}

// A hmacWork is what an HMAC is made in, and then others by the same key.
type hmacWork struct {
	hash hash.Hash
	in   []byte
	out  [sha256.Size]byte
}

// A hmacKey is one of the last, and what is free to make HMACs by it.
type hmacKey struct {
	bytes string
	free  sync.Pool
}

// maxKeys are at hand: a bootd has two, this week's and the one before.
const maxKeys = 4

var (
	hmacKeys atomic.Pointer[[]*hmacKey] //nolint:gochecknoglobals // What is made of keys once; those that callers have are nobody's else.
	hmacNew  sync.Mutex                 //nolint:gochecknoglobals // It's for who adds one.
)

// keyed is a key at hand.
func keyed(bytes []byte) *hmacKey {
	if k := atHand(bytes); k != nil {
		return k
	}
	hmacNew.Lock()
	defer hmacNew.Unlock()
	if k := atHand(bytes); k != nil {
		return k
	}
	k := &hmacKey{bytes: string(bytes)}
	k.free.New = func() any { return &hmacWork{hash: hmac.New(sha256.New, []byte(k.bytes))} }
	next := []*hmacKey{k}
	if last := hmacKeys.Load(); last != nil {
		next = append(next, (*last)[:min(len(*last), maxKeys-1)]...)
	}
	hmacKeys.Store(&next)
	return k
}

func atHand(bytes []byte) *hmacKey {
	last := hmacKeys.Load()
	if last == nil {
		return nil
	}
	for _, k := range *last {
		if k.bytes == string(bytes) {
			return k
		}
	}
	return nil
}
