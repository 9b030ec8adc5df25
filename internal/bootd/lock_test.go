package bootd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestOneBootdAFolder(t *testing.T) {
	c := config(t)
	c.PlansDir = t.TempDir()
	running(t, c)
	second := config(t)
	second.PlansDir, second.StateDir = c.PlansDir, c.StateDir
	err := Run(t.Context(), second)
	if err == nil || !strings.Contains(err.Error(), c.StateDir) || !strings.Contains(err.Error(), "--state-dir of its own") {
		t.Errorf("two would forget what the other consumed: %v", err)
	}
}

func TestLockIsGivenBack(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		unlock, err := lock(dir)
		if err != nil {
			t.Fatal(err)
		}
		unlock()
	}
	if _, err := lock(filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that isn't there can't be locked")
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := lock(filepath.Join(dir, "file")); err == nil {
		t.Error("nor can a file")
	}
}

// TestAdvised: what keeps the state folder from being written is told with what to do, and what has nothing to do with it as it is.
func TestAdvised(t *testing.T) {
	failed := func(path string, err error) error {
		return fmt.Errorf("cannot do it: %w", &fs.PathError{Op: "write", Path: path, Err: err})
	}
	cases := map[string]struct {
		reason string
		err    error
		want   string
		advice bool
	}{
		"Full":      {"somebody has to make room", failed("/state/token.key.new", unix.ENOSPC), "make room on the disk", true},
		"Quota":     {"the same", failed("/state/lock", unix.EDQUOT), "make room on the disk", true},
		"ReadOnly":  {"an error of a disk", failed("/state/lock", unix.EROFS), "so that it can be written", true},
		"Forbidden": {"another user's", failed("/state", unix.EACCES), "let the user that bootd runs as", true},
		"Other":     {"it isn't known what helps", failed("/state/lock", unix.EIO), "input/output error", false},
		"Above":     {"the folder that it's to be made in", failed("/", unix.EACCES), "let the user that bootd runs as", true},
		"Beside":    {"a folder whose name begins so, too", failed("/state-specs/a.yaml", unix.EACCES), "permission denied", false},
		"Elsewhere": {"another folder", failed("/specs/a.yaml", unix.EACCES), "permission denied", false},
		"NoFile":    {"nothing of a file", unix.ENOSPC, "no space left on device", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := advised("/state/", tc.err)
			if !errors.Is(got, tc.err) || !strings.Contains(got.Error(), tc.want) || strings.Contains(got.Error(), ";") != tc.advice {
				t.Errorf("%s: %v", tc.reason, got)
			}
		})
	}
}
