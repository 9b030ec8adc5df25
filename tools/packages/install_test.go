package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInstallIsKept holds that what people set in the manifests isn't lost by a push that fails, nor by one that doesn't.
func TestInstallIsKept(t *testing.T) {
	bare(t)
	f := flags(t, "v0.1.0-mine.1")
	f.Arch = []string{"amd64"}
	install := filepath.Join(f.Dist, "install")
	file := func(dir string) string {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(dir, "install.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	first, second := serve(t)+"/first", serve(t)+"/second"
	if err := (&pushCmd{common: f, Registry: first}).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	edited := "# set\n" + file(install)
	if err := os.WriteFile(filepath.Join(install, "install.yaml"), []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	closed := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	t.Cleanup(closed.Close)
	if err := (&pushCmd{common: f, Registry: strings.TrimPrefix(closed.URL, "http://") + "/path"}).Run(t.Context()); err == nil {
		t.Fatal("this registry takes nothing")
	}
	if _, err := os.Stat(install + ".before"); file(install) != edited || err == nil {
		t.Errorf("a push that failed left other manifests:\n%s", file(install))
	}
	if err := (&pushCmd{common: f, Registry: second}).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := file(install); strings.HasPrefix(got, "# set") || !strings.Contains(got, second+"/function-baremetal:v0.1.0-mine.1") {
		t.Errorf("these aren't the manifests of what was pushed:\n%s", got)
	}
	if got := file(install + ".before"); got != edited {
		t.Errorf("this isn't what was set:\n%s", got)
	}
}
