package regular

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestRead: nobody waits for a pipe, nor reads what has no end.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.WriteFile(at("four"), []byte("four"), 0o600), syscall.Mkfifo(at("pipe"), 0o600)); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		path   string
		most   int64
		want   error
	}{
		"Whole":  {"as large as it may be", at("four"), 4, nil},
		"Large":  {"larger", at("four"), 3, ErrLarge},
		"Pipe":   {"nobody may ever write to it", at("pipe"), 4, ErrIrregular},
		"Device": {"it has no end", "/dev/zero", 4, ErrIrregular},
		"Folder": {"it holds files", dir, 4, ErrIrregular},
		"Absent": {"it isn't there", at("none"), 4, fs.ErrNotExist},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b, err := Read(tc.path, tc.most)
			if !errors.Is(err, tc.want) || err == nil && string(b) != "four" {
				t.Errorf("%s: %q, %v, want %v", tc.reason, b, err, tc.want)
			}
		})
	}
}
