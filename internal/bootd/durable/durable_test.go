package durable

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var errFull = errors.New("no space left on device")

// TestReplace holds that a file is the old one or the new one, and that nothing else is left beside it.
func TestReplace(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		before map[string]string
		err    error
		want   map[string]string
	}{
		"First":   {reason: "there was none", want: map[string]string{"a": "new"}},
		"Another": {reason: "the one before goes", before: map[string]string{"a": "an older one"}, want: map[string]string{"a": "new"}},
		"Killed": {
			reason: "a kill left half of one", before: map[string]string{"a": "old", "a" + Unfinished: "half of a long one"},
			want: map[string]string{"a": "new"},
		},
		"Full": {reason: "the old one stays, and what was begun goes", before: map[string]string{"a": "old"}, err: errFull, want: map[string]string{"a": "old"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, text := range tc.before {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			err := Replace(filepath.Join(dir, "a"), func(f *os.File) error {
				_, err := f.WriteString("new")
				return errors.Join(err, tc.err)
			})
			if !errors.Is(err, tc.err) {
				t.Errorf("%s: %v, want %v", tc.reason, err, tc.err)
			}
			if diff := cmp.Diff(tc.want, texts(t, dir)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestBlocked holds that the old file stays where none can be begun.
func TestBlocked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := Write(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path+Unfinished, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, []byte("new")); err == nil {
		t.Error("a folder was written over")
	}
	if err := os.Remove(path + Unfinished); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(map[string]string{"a": "old"}, texts(t, dir)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestOpen holds that the file goes on behind what it was made with.
func TestOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"+Unfinished), nil, 0o644); err != nil { //nolint:gosec // Whatever lies there.
		t.Fatal(err)
	}
	f, err := Open(filepath.Join(dir, "a"), func(f *os.File) error {
		_, err := io.WriteString(f, "one ")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString("two")
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"a": "one two"}, texts(t, dir)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if i, err := os.Stat(filepath.Join(dir, "a")); err != nil || i.Mode().Perm() != 0o600 {
		t.Errorf("mode of it: %v, %v", i, err)
	}
}

func texts(t *testing.T, dir string) map[string]string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, e := range list {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got[e.Name()] = string(b)
	}
	return got
}
