package durable

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestJSON: what was written is read again; a file that isn't there is none, and one that's damaged or can't be read is an error.
func TestJSON(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	var got map[string]int
	if found, err := ReadJSON(path, &got); found || err != nil {
		t.Errorf("of no file: %t, %v", found, err)
	}
	want := map[string]int{"a": 1}
	if err := WriteJSON(path, want); err != nil {
		t.Fatal(err)
	}
	if found, err := ReadJSON(path, &got); !found || err != nil || !cmp.Equal(want, got) {
		t.Errorf("%t, %v, %v", found, err, got)
	}
	if err := WriteJSON(path, func() {}); err == nil {
		t.Error("what can't be encoded was written")
	}
	if err := os.WriteFile(path, []byte(`{"a"`), 0o600); err != nil {
		t.Fatal(err)
	}
	if found, err := ReadJSON(path, &got); !found || err == nil {
		t.Errorf("of a damaged one: %t, %v", found, err)
	}
	if found, err := ReadJSON(filepath.Dir(path), &got); !found || err == nil {
		t.Errorf("of a folder: %t, %v", found, err)
	}
}
