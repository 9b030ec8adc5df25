package lab

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTold(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"provider.log": "a login\nPassword " + BMCPassword + "\n", "bootd.log": "nothing", "machines/a.log": "token " + BMCPassword + "-0a"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Told(dir)
	if diff := cmp.Diff([]string{"machines/a.log", "provider.log"}, got); diff != "" || err != nil {
		t.Errorf("Told(...): %v, -want, +got:\n%s", err, diff)
	}
}
