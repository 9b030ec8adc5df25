package session

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

func consumption(entry, grant string, generation int64) boot.Consumption {
	return boot.Consumption{GrantID: grant, EntryUID: entry, HostUID: "host", Generation: generation, Nonce: nonceA, At: start()}
}

func openLog(t *testing.T, path string) *Log {
	t.Helper()
	l, err := OpenLog(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func TestLogSurvives(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l := openLog(t, path)
	one, two := consumption("e", "1", 1), consumption("e", "2", 2)
	for _, c := range []boot.Consumption{one, one, two} {
		if err := l.Add(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Withdraw(two); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]boot.Consumption{one}, openLog(t, path).For("e")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if b, _ := os.ReadFile(path); strings.Count(string(b), "\n") != 3 {
		t.Errorf("what is known isn't written again:\n%s", b)
	}
}

func TestTornLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l := openLog(t, path)
	if err := errors.Join(l.Add(consumption("e", "1", 1)), l.Add(consumption("e", "2", 2))); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first := bytes.IndexByte(whole, '\n') + 1
	for cut := first; cut < len(whole); cut++ {
		if err := os.WriteFile(path, whole[:cut], 0o600); err != nil { //nolint:gosec // A path of the test's own.
			t.Fatal(err)
		}
		l := openLog(t, path)
		if got := len(l.For("e")); got != 1 {
			t.Fatalf("cut at %d: %d consumptions", cut, got)
		}
		if err := l.Add(consumption("e", "3", 3)); err != nil {
			t.Fatal(err)
		}
		if got := len(openLog(t, path).For("e")); got != 2 {
			t.Fatalf("cut at %d: what is added after a torn line must be readable, got %d", cut, got)
		}
	}
}

// TestFullDisk: /dev/full is a disk that is full, and can't be truncated either.
func TestFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l := openLog(t, path)
	if err := l.Add(consumption("e", "1", 1)); err != nil {
		t.Fatal(err)
	}
	good := l.file
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Skip("this machine has no /dev/full")
	}
	l.file = full
	const tries = 2
	refused := 0
	for range tries {
		if err := l.Add(consumption("e", "2", 2)); err == nil {
			t.Fatal("a consumption that isn't on the disk is called logged")
		}
		refused++
	}
	if got := len(l.For("e")); got != 1 || !l.torn {
		t.Errorf("%d consumptions; torn: %t", got, l.torn)
	}
	_ = full.Close()
	l.file = good
	if _, err := good.WriteString("{\"consumption\":{\"Gra"); err != nil { // What a disk that fills up keeps of a line.
		t.Fatal(err)
	}
	if err := l.Add(consumption("e", "2", 2)); err != nil {
		t.Fatalf("when there is room again it's logged: %v", err)
	}
	if got := len(openLog(t, path).For("e")); got != 2 {
		t.Errorf("what was logged after a half-written line must be readable: %d", got)
	}
	t.Logf("\n| bootd: the disk is full when a grant is to be used | %d | %d |", tries, refused)
}

func TestDamagedLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, []byte("{\"consumption\":{\"Gra\n{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenLog(path); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("a damaged line must not be forgotten silently: %v", err)
	}
}

func TestCompact(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l := openLog(t, path)
	for i := range int64(compactAt + 10) {
		if err := l.Add(consumption("e", fmt.Sprint(i), i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Add(consumption("other", "x", 1)); err != nil {
		t.Fatal(err)
	}
	again := openLog(t, path)
	if got := again.For("e"); len(got) != 1 || got[0].Generation != compactAt+9 {
		t.Errorf("the highest generation stands for all below it, got %d", len(got))
	}
	if err := again.Add(consumption("e", "y", 9999)); err != nil {
		t.Fatal(err)
	}
	last := openLog(t, path)
	if len(last.For("e")) != 2 || len(last.For("other")) != 1 {
		t.Errorf("after compaction the log goes on: %v, %v", last.For("e"), last.For("other"))
	}
	g := &boot.Grant{ID: "3", HostUID: "host", EntryUID: "e", Generation: 3}
	if !covers(last.For("e")[0], g) {
		t.Error("a grant that was compacted away must still be refused")
	}
}

func FuzzLog(f *testing.F) {
	f.Add([]byte("{\"consumption\":{\"GrantID\":\"a\"}}\n{"))
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := OpenLog(path)
		if err != nil {
			return
		}
		defer func() { _ = l.Close() }()
		if err := l.Add(consumption("e", "1", 1)); err != nil {
			t.Fatal(err)
		}
		again, err := OpenLog(path)
		if err != nil {
			t.Fatalf("what was opened once must open again: %v", err)
		}
		_ = again.Close()
	})
}
