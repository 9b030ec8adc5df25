// Package pieces writes texts and numbers one behind the other, and reads them again: what a machine's row is made of, in memory and in a
// snapshot.
package pieces

import (
	"encoding/binary"
	"errors"
)

// ErrShort says that a text ends too early.
var ErrShort = errors.New("it ends too early")

// AppendText appends a text behind its length.
func AppendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// A Reader takes a text apart. Once it has failed it gives nothing more.
type Reader struct {
	rest string
	err  error
}

// Of gives a reader of a text. All that it gives are parts of that.
func Of(text string) Reader { return Reader{rest: text} }

// Rest is what wasn't read yet.
func (r *Reader) Rest() string { return r.rest }

// Err says why it gives nothing more; nil: it does.
func (r *Reader) Err() error { return r.err }

// Fail ends it. The first error counts.
func (r *Reader) Fail(err error) {
	r.rest = ""
	if r.err == nil {
		r.err = err
	}
}

// Number reads what binary.AppendUvarint wrote.
func (r *Reader) Number() uint64 {
	n := uint64(0)
	for shift, i := uint(0), 0; i < len(r.rest) && i < binary.MaxVarintLen64; shift, i = shift+7, i+1 {
		c := r.rest[i]
		n |= uint64(c&0x7f) << shift
		if c < 0x80 {
			r.rest = r.rest[i+1:]
			return n
		}
	}
	r.Fail(ErrShort)
	return 0
}

// Signed reads what binary.AppendVarint wrote.
func (r *Reader) Signed() int64 {
	n := r.Number()
	return int64(n>>1) ^ -int64(n&1) // Zigzag, as encoding/binary has it.
}

// Count of what follows, each of it at least so many bytes long.
func (r *Reader) Count(least int) int {
	n := r.Number()
	if n > uint64(len(r.rest)/least) { //nolint:gosec // A length.
		r.Fail(ErrShort)
		return 0
	}
	return int(n) //nolint:gosec // At most what is left.
}

// Text reads what AppendText wrote.
func (r *Reader) Text() string {
	if rest := r.rest; rest != "" && int(rest[0]) < min(0x80, len(rest)) { // Most are short.
		end := 1 + int(rest[0])
		r.rest = rest[end:]
		return rest[1:end]
	}
	return r.long()
}

func (r *Reader) long() string {
	n := r.Count(1)
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}
