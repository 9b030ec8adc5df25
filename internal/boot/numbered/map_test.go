package numbered

import (
	"encoding/binary"
	"math"
	"testing"
)

// compare compares a map with Go's.
func compare(t *testing.T, m *Map[uint32], want map[uint64]uint32) {
	t.Helper()
	if m.Len() != len(want) {
		t.Fatalf("it has %d, want %d", m.Len(), len(want))
	}
	for k, v := range want {
		if got := m.At(k); got == nil || *got != v {
			t.Fatalf("%d: %v, want %d", k, got, v)
		}
	}
	used := 0
	for i := range m.all {
		for _, p := range m.all[i].places {
			if p.key != 0 {
				used++
			}
		}
	}
	if used != len(want) {
		t.Fatalf("%d places are taken of %d values", used, len(want))
	}
}

// TestKinds: numbers as MACs have them, one behind the other or far apart, are found, and no others.
func TestKinds(t *testing.T) {
	cases := map[string]struct {
		reason string
		number func(i uint64) uint64
	}{
		"Following": {"one maker's", func(i uint64) uint64 { return 0x525400000000 + i }},
		"Apart":     {"every 256th", func(i uint64) uint64 { return 0x525400000000 + i<<8 }},
		"Makers":    {"the same end", func(i uint64) uint64 { return i<<24 | 1 }},
		"Hashes":    {"numbers by chance", func(i uint64) uint64 { return (i + 1) * 0xd6e8feb86659fd93 }},
		"Greatest":  {"as large as there are", func(i uint64) uint64 { return math.MaxUint64 - 1 - i }},
		"Zero":      {"from nought", func(i uint64) uint64 { return i }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			const many = 20_000
			var m Map[uint32]
			want := map[uint64]uint32{}
			for i := range uint64(many) {
				n := tc.number(i)
				if m.At(n) != nil {
					t.Fatalf("%s: %d is there before", tc.reason, n)
				}
				m.Set(n, uint32(i))
				want[n] = uint32(i)
			}
			compare(t, &m, want)
			if far := farthest(&m); far > 300 {
				t.Errorf("%s: one is %d places from its own", tc.reason, far)
			}
			for i := range uint64(many) {
				if n := tc.number(i + many); m.At(n) != nil {
					t.Fatalf("%s: %d isn't there", tc.reason, n)
				}
			}
		})
	}
}

// farthest is how far a value is from its own place at most.
func farthest(m *Map[uint32]) (most uint64) {
	for i := range m.all {
		mask := uint64(len(m.all[i].places) - 1) //nolint:gosec // A length.
		for at, p := range m.all[i].places {
			if _, h := spread(p.key); p.key != 0 {
				most = max(most, (uint64(at)-h)&mask)
			}
		}
	}
	return most
}

func TestChange(t *testing.T) {
	var m Map[uint32]
	if m.At(1) != nil || m.Near(1) != 0 {
		t.Error("an empty one has something")
	}
	m.Delete(1)
	m.Clear()
	m.DeleteFunc(func(*uint32) bool { return true })
	m.Set(1, 2)
	*m.At(1)++
	m.Set(math.MaxUint64, 7)
	compare(t, &m, map[uint64]uint32{1: 3, math.MaxUint64: 7})
	m.Clear()
	compare(t, &m, nil)
	if n := testing.AllocsPerRun(10, func() { m.Set(1, 1); m.Delete(1); _ = m.Near(1) }); n > 0 {
		t.Errorf("it makes something each time: %v", n)
	}
}

// FuzzMap does what it's told to a map and to Go's.
func FuzzMap(f *testing.F) {
	f.Add([]byte("\x00\x01\x00\x02\x01\x01\x02\x00\x03\x00"))
	long := []byte{}
	for i, x := 0, uint32(1); i < 3000; i++ {
		x = x*1664525 + 1013904223                    // Numerical Recipes' next number by chance.
		long = append(long, byte(x>>29), byte(x>>16)) //nolint:gosec // Any octets do.
	}
	f.Add(long)
	f.Fuzz(func(t *testing.T, script []byte) {
		var m Map[uint32]
		want := map[uint64]uint32{}
		for i := 0; i+1 < len(script); i += 2 {
			// All are of one shard, and most of a few places there, so that they're in each other's way.
			n := crowded(script[i+1])
			switch script[i] % 8 {
			case 0, 1, 2, 3:
				v := uint32(i) //nolint:gosec // A script is short.
				m.Set(n, v)
				want[n] = v
			case 4, 5, 6:
				m.Delete(n)
				delete(want, n)
			case 7:
				old := func(v uint32) bool { return v%3 == uint32(script[i+1])%3 }
				m.DeleteFunc(func(v *uint32) bool { return old(*v) })
				for k, v := range want {
					if old(v) {
						delete(want, k)
					}
				}
				compare(t, &m, want)
			}
		}
		compare(t, &m, want)
	})
}

// crowded are 256 numbers of one shard, of which each 32 would be at one place of 16.
var crowded = func() func(byte) uint64 {
	all := []uint64{}
	for n := uint64(0); len(all) < 256; n++ {
		var b [8]byte
		binary.BigEndian.PutUint64(b[:], n)
		if s, h := spread(keyOf(n)); s == 0 && h&1 == 0 && h>>3&1 == 1 {
			all = append(all, n)
		}
	}
	return func(i byte) uint64 { return all[i] }
}()
