package proc

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strings"
)

// tailWindow is how much of a log's end is looked at.
const tailWindow = 64 << 10

// Tail returns the last n lines of a file, each indented by two spaces for an error message. Of a file that can't be read it
// says so.
func Tail(path string, n int) string { return TailOf(path, n, func(string) bool { return true }) }

// TailOf returns the last n lines of a file's end that keep accepts, as Tail does.
func TailOf(path string, n int, keep func(string) bool) string {
	f, err := os.Open(path)
	if err != nil {
		return "  (no log: " + err.Error() + ")"
	}
	defer f.Close() // Only read.
	if size, err := f.Seek(0, io.SeekEnd); err == nil {
		_, _ = f.Seek(max(0, size-tailWindow), io.SeekStart) // Then more than needed is read.
	}
	b, err := io.ReadAll(io.LimitReader(f, tailWindow))
	if err != nil {
		return "  (no log: " + err.Error() + ")"
	}
	return lastLines(string(bytes.ToValidUTF8(b, []byte("?"))), n, keep)
}

func lastLines(s string, n int, keep func(string) bool) string {
	lines := slices.DeleteFunc(strings.Split(strings.TrimRight(s, "\n"), "\n"), func(l string) bool { return !keep(l) })
	lines = lines[max(0, len(lines)-n):]
	return "  " + strings.Join(lines, "\n  ")
}
