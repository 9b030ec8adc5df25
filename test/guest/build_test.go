package guest_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/test/able"
	"github.com/crossplane-contrib/provider-baremetal/test/guest"
)

func TestBuild(t *testing.T) {
	if _, err := exec.LookPath("grub-mkimage"); err != nil {
		able.Need(t, errors.New("grub-mkimage is missing (Debian package grub-common)"))
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	b := guest.Builder{Cache: filepath.Join(cache, "provider-baremetal", "guest"), Out: t.TempDir()}
	first, err := b.Build(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	again, err := b.Build(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if first != again {
		t.Errorf("two builds differ, so a digest would change without a reason:\n%+v\n%+v", first, again)
	}
	t.Logf("%+v", first)
}
