package docs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A checkout is a reader's, with the manifests of a version in dist/install and what the reader set in them.
type checkout struct {
	dir     string
	shell   Shell
	version int
}

// sit makes one whose kubectl notes what is applied.
func sit(t *testing.T) *checkout {
	t.Helper()
	c := &checkout{dir: t.TempDir()}
	c.write(t, "bin/kubectl", "#!/bin/bash\nfor a in \"$@\"; do case $a in *.yaml) cat \"$a\" >>applied ;; esac; done\n")
	must(t, os.Chmod(filepath.Join(c.dir, "bin", "kubectl"), 0o700)) //nolint:gosec // A program is to be run.
	c.shell = Shell{Dir: c.dir, Env: []string{"PATH=" + filepath.Join(c.dir, "bin") + ":/usr/bin:/bin", "LANG=C"}, Limit: time.Minute}
	return c
}

func (c *checkout) write(t *testing.T, name, text string) {
	t.Helper()
	must(t, c.put(name, text))
}

func (c *checkout) put(name, text string) error {
	path := filepath.Join(c.dir, filepath.FromSlash(name))
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o750), os.WriteFile(path, []byte(text), 0o600)) //nolint:gosec // The test's own folder.
}

func (c *checkout) read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(c.dir, filepath.FromSlash(name)))
	must(t, err)
	return string(b)
}

// next writes the manifests of the next version, as "make push" does: without what the reader set.
func (c *checkout) next() error {
	c.version++
	mark := fmt.Sprintf("# version %d\n", c.version)
	for name, from := range map[string][]string{
		"install.yaml": {"examples/install/runtime.yaml", "examples/install/packages.yaml"},
		"bootd.yaml":   {"package/bootd/bootd.yaml"}, "policies.yaml": {"LICENSE"},
	} {
		text := mark
		for _, f := range from {
			b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(f)))
			if err != nil {
				return fmt.Errorf("cannot read a manifest: %w", err)
			}
			text += string(b)
		}
		if err := c.put("dist/install/"+name, text); err != nil {
			return fmt.Errorf("cannot write the next manifests: %w", err)
		}
	}
	return nil
}

// set is what a reader sets with an editor.
func (c *checkout) set(t *testing.T, denied string, ranges ...string) {
	t.Helper()
	c.write(t, "dist/install/install.yaml", regexp.MustCompile(`--denied-targets=.*`).ReplaceAllString(c.read(t, "dist/install/install.yaml"), "--denied-targets="+denied))
	lines := ""
	for _, r := range ranges {
		lines += "            - --artifact-range=" + r + "\n"
	}
	c.write(t, "dist/install/bootd.yaml", regexp.MustCompile(`(?m)^ *(# )?- --artifact-range=.*\n`).ReplaceAllString(c.read(t, "dist/install/bootd.yaml"), lines))
}

// settings are what files of a folder, or what was applied, say: their versions, and what the reader had set.
func (c *checkout) settings(t *testing.T, files ...string) []string {
	t.Helper()
	var out []string
	for _, f := range files {
		out = append(out, regexp.MustCompile(`(?m)^# version \d+|^ +- --denied-targets=.*|^ +- --artifact-range=.*|^ +# - --artifact-range`).FindAllString(c.read(t, f), -1)...)
	}
	for i := range out {
		out[i] = strings.TrimLeft(out[i], "# -")
	}
	return out
}

// types what a section of upgrade.md says of files; of a cluster there's nothing but what is applied.
func (c *checkout) types(t *testing.T, section string) {
	t.Helper()
	acts := map[string]func(context.Context) error{"the next version": func(context.Context) error { return c.next() }}
	found := 0
	for _, st := range pages(t)["upgrade.md"].Steps {
		switch {
		case st.Act != "" && section != "2. The next manifests", st.Run != nil && (st.Run.Section != section || st.Run.Fails() != ""),
			st.Run != nil && !strings.Contains(st.Run.Text, "previous"), st.Act != "" && acts[st.Act] == nil:
			continue
		}
		found++
		if what, err := c.shell.Do(t.Context(), st, acts); err != nil {
			t.Fatalf("upgrade.md:%d %s\n%v", st.Line, what, err)
		}
	}
	if found == 0 {
		t.Fatalf("upgrade.md says nothing of files under %q any more", section)
	}
}

// TestUpgradeIsRepeated types what upgrade.md says of manifests more than once, with other settings each time: what the next version gets is
// what was set last, and what is kept is the version before, not the first one that there was.
func TestUpgradeIsRepeated(t *testing.T) {
	const upgrade, back = "2. The next manifests", "Going back"
	c := sit(t)
	is := func(reason string, want []string, files ...string) {
		t.Helper()
		if diff := cmp.Diff(want, c.settings(t, files...)); diff != "" {
			t.Errorf("%s\n-want +got:\n%s", reason, diff)
		}
	}
	one := func(version string) []string {
		return []string{version, "denied-targets=10.1.0.0/16", version, "artifact-range=10.0.7.0/24"}
	}
	two := func(version string) []string {
		return []string{version, "denied-targets=10.2.0.0/16", version, "artifact-range=10.0.8.0/24", "artifact-range=10.0.9.0/24"}
	}
	now, before := []string{"dist/install/install.yaml", "dist/install/bootd.yaml"}, []string{"previous/install.yaml", "previous/bootd.yaml"}

	must(t, c.next())
	c.set(t, "10.1.0.0/16", "10.0.7.0/24")
	c.types(t, upgrade)
	is("the first upgrade carries over what was set", one("version 2"), now...)
	is("the version before is kept", one("version 1"), before...)

	c.set(t, "10.2.0.0/16", "10.0.8.0/24", "10.0.9.0/24")
	c.types(t, upgrade)
	is("the second one carries over what was set since", two("version 3"), now...)
	is("what is kept is the version before, not the first one", two("version 2"), before...)

	c.types(t, back)
	is("going back, bootd, packages and policies are the version before", append(append(two("version 2")[2:], two("version 2")[:2]...), "version 2"), "applied")
	is("what is installed is in dist/install again", two("version 2"), now...)

	c.types(t, upgrade)
	is("and the next try carries over the same", two("version 4"), now...)
	is("and keeps the same", two("version 2"), before...)

	// Whoever has namespaced composites alone keeps them.
	v2 := sit(t)
	must(t, v2.next())
	const claims, composites = "configuration-baremetal:", "configuration-baremetal-v2:"
	v2.write(t, "dist/install/install.yaml", strings.ReplaceAll(v2.read(t, "dist/install/install.yaml"), claims, composites))
	v2.types(t, upgrade)
	if next := v2.read(t, "dist/install/install.yaml"); strings.Contains(next, claims) || !strings.Contains(next, composites) {
		t.Error("an upgrade installs claims where namespaced composites were chosen")
	}

	// Whoever has bootd serve HTTPS goes on with it, and gets nothing else that was commented out.
	https := sit(t)
	must(t, https.next())
	const served, trusted = "            - --https-listen=0.0.0.0:8483 # https\n", "            # - {name: SSL_CERT_DIR, value: /etc/bootd/ca} # ca\n"
	https.write(t, "dist/install/bootd.yaml", regexp.MustCompile(`(?m)# (- .* # https)$`).ReplaceAllString(https.read(t, "dist/install/bootd.yaml"), "$1"))
	https.types(t, upgrade)
	if next := https.read(t, "dist/install/bootd.yaml"); !strings.Contains(next, served) || !strings.Contains(next, trusted) || strings.Contains(next, "# - --tls-") {
		t.Error("an upgrade doesn't leave HTTPS, and HTTPS alone, as it was set")
	}

	// Whoever never had bootd look at a private address keeps what says how.
	fresh := sit(t)
	must(t, fresh.next())
	fresh.types(t, upgrade)
	if !strings.Contains(fresh.read(t, "dist/install/bootd.yaml"), "# - --artifact-range=") {
		t.Error("the line that says how to name a range is gone, and nobody had set one")
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
