package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// captured are tests that read captures from beside the project, and skips the words of those that go without.
var (
	captured = regexp.MustCompile(`"[./]*shared/testdata`)
	skips    = regexp.MustCompile(`\.Skipf?\("[^"]*"`)
)

// TestExcused: who has the project alone skips the tests of captures, which is no failure only where the words name the folder.
func TestExcused(t *testing.T) {
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path) //nolint:gosec // Our own checkout.
		if err != nil || !captured.Match(b) || strings.HasSuffix(path, "verdict_test.go") || strings.HasSuffix(path, "excuses_test.go") {
			return err
		}
		for _, s := range skips.FindAll(b, -1) {
			if !bytes.Contains(s, []byte("../shared/")) && !bytes.Contains(s, []byte("%s")) {
				t.Errorf(`%s: %s… fails under CI=true where the captures aren't: name the folder, with "../shared/"`, path, s)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
