package release

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Replace writes files into a folder that people edit. What was edited there since they were written the last time is kept: kept is the folder
// that has it all as it was, and empty where nothing was. What was written is remembered beside the folder, as DIR.sums.
func Replace(dir string, files map[string][]byte) (kept string, err error) {
	sums := dir + ".sums"
	if kept, err = Keep(dir, sums, files); err != nil {
		return kept, err
	}
	if err := Write(dir, files); err != nil {
		return kept, err
	}
	var lines strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		lines.WriteString(sum(files[name], filepath.Join(filepath.Base(dir), name)))
	}
	return kept, Write(filepath.Dir(dir), map[string][]byte{filepath.Base(sums): []byte(lines.String())})
}

// Keep copies a folder to one beside it where files would take the place of others that are neither what they were when they were written, by
// the sums of then, nor the same. It says where the copy is, and nothing where none was needed.
func Keep(dir, sums string, files map[string][]byte) (kept string, err error) {
	text, err := os.ReadFile(sums)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("cannot read what %q was when it was written: %w", dir, err)
	}
	written := map[string]string{}
	for line := range strings.Lines(string(text)) {
		hash, path, _ := strings.Cut(strings.TrimSpace(line), "  ")
		written[filepath.Base(path)] = hash
	}
	for name, data := range files {
		there, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("cannot tell whether somebody edited %s: %w", name, err)
		}
		if hash, _, _ := strings.Cut(sum(there, name), " "); hash != written[name] && !bytes.Equal(there, data) {
			return aside(dir)
		}
	}
	return "", nil
}

// aside copies a folder to the first free one of DIR.before, DIR.before-2, and so on: an older copy may have what nobody carried over yet.
func aside(dir string) (string, error) {
	to := dir + ".before"
	for n := 2; ; n++ {
		err := os.Mkdir(to, 0o755) //nolint:gosec // What is in it has its own modes.
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("cannot keep what was set in %q: %w", dir, err)
		}
		to = dir + ".before-" + strconv.Itoa(n)
	}
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		return "", fmt.Errorf("cannot keep what was set in %q: %w", dir, err)
	}
	return to, nil
}

// sum is a line as "sha256sum --check" reads it.
func sum(data []byte, path string) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:]) + "  " + path + "\n"
}
