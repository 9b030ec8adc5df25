package session

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

var web = boot.Name{Namespace: "lab", Name: "web"}

func openFiles(t *testing.T, dir string, consumed func(boot.Consumption) error) *Files {
	t.Helper()
	if consumed == nil {
		consumed = func(boot.Consumption) error { return nil }
	}
	f, damaged, err := OpenFiles(dir, consumed, func() {})
	if err != nil || len(damaged) > 0 {
		t.Fatal(err, damaged)
	}
	return f
}

// TestFiles: a folder of files is a Store as the Kubernetes API is one.
func TestFiles(t *testing.T) {
	dir, ctx := filepath.Join(t.TempDir(), "sessions"), t.Context()
	f := openFiles(t, dir, nil)
	if _, err := f.Get(ctx, web); !errors.Is(err, ErrNotFound) {
		t.Errorf("a missing one: %v", err)
	}
	if _, err := f.Update(ctx, Record{Name: web}); !errors.Is(err, ErrConflict) {
		t.Errorf("a write of a missing one: %v", err)
	}
	first, err := f.Create(web, "entry", "uid")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := f.Create(web, "other", "other"); err != nil || again.Session.UID != "uid" {
		t.Errorf("what is there stays: %+v, %v", again, err)
	}
	granted, err := f.Grant(first, &boot.Grant{ID: "g", Expires: time.Unix(9, 0).UTC()})
	if err != nil {
		t.Fatal(err)
	}
	first.Session.OpenedGrantID = "g"
	if _, err := f.Update(ctx, first); !errors.Is(err, ErrConflict) {
		t.Errorf("a write that hasn't seen the grant: %v", err)
	}
	own := granted
	own.Session.Grant, own.Session.EntryUID, own.Session.OpenedGrantID, own.Progress.Boots = nil, "forged", "g", 7
	updated, err := f.Update(ctx, own)
	if err != nil || updated.Session.Grant == nil || updated.Session.EntryUID != "entry" || updated.Progress.Boots != 7 {
		t.Errorf("bootd's half alone is written: %+v, %v", updated, err)
	}
	if Revision(updated.Session.Revision) <= Revision(granted.Session.Revision) || f.Writes() != 3 {
		t.Errorf("revisions rise: %s, then %s", granted.Session.Revision, updated.Session.Revision)
	}
	reopened := openFiles(t, dir, nil)
	if diff := cmp.Diff([]Record{updated}, reopened.All()); diff != "" {
		t.Errorf("after a restart: -want, +got:\n%s", diff)
	}
	if next, err := reopened.Grant(updated, nil); err != nil || Revision(next.Session.Revision) <= Revision(updated.Session.Revision) {
		t.Errorf("revisions rise over a restart, too: %+v, %v", next, err)
	}
}

// TestFilesConsumption: a consumption that can't be remembered beside the session isn't written into it.
func TestFilesConsumption(t *testing.T) {
	boom := errors.New("boom")
	var told []string
	f := openFiles(t, t.TempDir(), func(c boot.Consumption) error {
		told = append(told, c.GrantID)
		if c.GrantID == "bad" {
			return boom
		}
		return nil
	})
	r, err := f.Create(web, "entry", "uid")
	if err != nil {
		t.Fatal(err)
	}
	r.Session.Consumed = &boot.Consumption{GrantID: "bad"}
	if _, err := f.Update(t.Context(), r); !errors.Is(err, boom) {
		t.Errorf("%v", err)
	}
	if now, _ := f.Get(t.Context(), web); now.Session.Consumed != nil {
		t.Error("it's written all the same")
	}
	r.Session.Consumed = &boot.Consumption{GrantID: "good"}
	r, err = f.Update(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	r.Progress.Boots++
	if _, err := f.Update(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"bad", "good"}, told); diff != "" {
		t.Errorf("each is told once: -want, +got:\n%s", diff)
	}
}

// TestFilesDamaged: a file that can't be read is set aside, so that its machine has no session, and the others go on.
func TestFilesDamaged(t *testing.T) {
	dir := t.TempDir()
	f := openFiles(t, dir, nil)
	other := boot.Name{Namespace: "lab", Name: "other"}
	for _, n := range []boot.Name{web, other} {
		if _, err := f.Create(n, n.Name, n.Name); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := os.ReadFile(filepath.Join(dir, f.file(web)))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"Cut": string(whole[:len(whole)/2]), "Empty": "", "Another's": strings.ReplaceAll(string(whole), "web", "xyz")} {
		if err := os.WriteFile(filepath.Join(dir, f.file(web)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		again, damaged, err := OpenFiles(dir, func(boot.Consumption) error { return nil }, func() {})
		if err != nil || len(damaged) != 1 || !strings.Contains(damaged[0].Error(), "set aside") {
			t.Fatalf("%s: %v, %v", name, damaged, err)
		}
		if _, err := again.Get(t.Context(), web); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := again.Get(t.Context(), other); err != nil {
			t.Errorf("%s: the other one: %v", name, err)
		}
		if _, err := os.Stat(filepath.Join(dir, f.file(web)) + ".damaged"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFilesReadWhileADiskIsSlow: a session is read, and another one written, while the disk takes its time with a write.
func TestFilesReadWhileADiskIsSlow(t *testing.T) {
	begun, goes := make(chan struct{}), make(chan struct{})
	f := openFiles(t, t.TempDir(), func(boot.Consumption) error {
		close(begun)
		<-goes
		return nil
	})
	other := boot.Name{Namespace: "lab", Name: "other"}
	r, err := f.Create(web, "entry", "uid")
	if err != nil {
		t.Fatal(err)
	}
	r.Session.Consumed = &boot.Consumption{GrantID: "g"}
	done := make(chan error, 1)
	go func() {
		_, err := f.Update(t.Context(), r)
		done <- err
	}()
	<-begun
	if now, ok := f.Find(web); !ok || now.Session.Consumed != nil {
		t.Errorf("what isn't on the disk yet is read: %+v", now)
	}
	if _, err := f.Create(other, "other", "other"); err != nil || len(f.All()) != 2 {
		t.Errorf("another one can't be written: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Update(ctx, r); !errors.Is(err, context.Canceled) {
		t.Errorf("who waits for the same one is as patient as it says: %v", err)
	}
	close(goes)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if now, _ := f.Find(web); now.Session.Consumed == nil {
		t.Error("it isn't written")
	}
}
