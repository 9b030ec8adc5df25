package specdir

import (
	"math/rand/v2"
	"testing"
)

// TestParseMutations cuts and bends a right file in ways that a fixed seed gives: none of them may end or stop bootd.
func TestParseMutations(_ *testing.T) {
	const bends = "{}[]:-\n \"'&*|>#\x00a0"
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // The same each time.
	text := []byte(all(1))
	for range 2000 {
		b := append([]byte(nil), text[:r.IntN(len(text))+1]...)
		for range r.IntN(8) {
			b[r.IntN(len(b))] = bends[r.IntN(len(bends))]
		}
		_, _ = parse("f", b)
	}
}
