package edge

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// built is bootd's program, once for all tests.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "edge-")
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "bootd")
	if out, err := exec.Command("go", "build", "-C", root, "-tags=bootd", "-o", bin, "./cmd/bootd").CombinedOutput(); err != nil { //nolint:gosec // Our own program.
		return bin, fmt.Errorf("cannot build bootd: %w\n%s", err, out)
	}
	return bin, nil
})

func program(t *testing.T) string {
	t.Helper()
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// TestMain leaves no program behind.
func TestMain(m *testing.M) {
	code := m.Run()
	if bin, _ := built(); bin != "" {
		_ = os.RemoveAll(filepath.Dir(bin))
	}
	os.Exit(code)
}
