package bootd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
