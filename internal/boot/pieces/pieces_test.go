package pieces

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"
)

func TestReader(t *testing.T) {
	b := AppendText(nil, "a text")
	b = binary.AppendUvarint(b, math.MaxUint64)
	b = binary.AppendVarint(binary.AppendVarint(b, math.MinInt64), -1)
	b = AppendText(binary.AppendUvarint(b, 2), "")
	r := Of(string(b) + "x")
	if s := r.Text(); s != "a text" {
		t.Errorf("%q", s)
	}
	if n := r.Number(); n != math.MaxUint64 {
		t.Error(n)
	}
	if a, b := r.Signed(), r.Signed(); a != math.MinInt64 || b != -1 {
		t.Error(a, b)
	}
	if n := r.Count(1); n != 2 || r.Text() != "" || r.Rest() != "x" || r.Err() != nil {
		t.Errorf("%d, %q, %v", n, r.Rest(), r.Err())
	}
}

// FuzzReader: whatever it's given, it gives parts of that or fails, and nothing after that.
func FuzzReader(f *testing.F) {
	f.Add("\x05a text", byte(0))
	f.Add("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", byte(1))
	f.Fuzz(func(t *testing.T, s string, how byte) {
		r := Of(s)
		for range 10 {
			before := len(r.Rest())
			switch how % 4 {
			case 0:
				r.Text()
			case 1:
				r.Number()
			case 2:
				if n := r.Count(3); n > len(s)/3 {
					t.Error(n)
				}
			case 3:
				r.Signed()
			}
			if r.Err() == nil && len(r.Rest()) >= before || r.Err() != nil && r.Rest() != "" {
				t.Fatalf("%d are left of %d, %v", len(r.Rest()), before, r.Err())
			}
		}
		r.Fail(errors.New("later"))
		if r.Err() == nil || r.Rest() != "" {
			t.Error("it goes on")
		}
	})
}
