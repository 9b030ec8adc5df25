package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A repository is a checkout of git's.
type repository struct {
	*testing.T

	dir string
}

// begin makes a folder a checkout, with all that's in it.
func (r repository) begin() {
	r.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		r.Skip("there's no git here")
	}
	r.git("init", "-q")
	r.git("add", ".")
	r.git("commit", "-qm", "first")
}

func (r repository) git(args ...string) string {
	r.Helper()
	cmd := exec.Command("git", append([]string{"-C", r.dir, "-c", "user.name=nobody", "-c", "user.email=nobody@example.org"}, args...)...) //nolint:gosec // Our own arguments.
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.Output()
	if err != nil {
		r.Fatalf("git %v: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

func (r repository) write(name, text string) {
	r.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600); err != nil {
		r.Fatal(err)
	}
}

func (r repository) read(name string) string {
	r.Helper()
	b, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		r.Fatal(err)
	}
	return string(b)
}

const news = "# Changelog\n\n## Unreleased\n\n* News.\n"

// TestRevision makes commits, and changes after them.
func TestRevision(t *testing.T) {
	dir := t.TempDir()
	if got := revisionOf(t.Context(), dir); got != (revision{}) {
		t.Errorf("what isn't a checkout has no revision, got %+v", got)
	}
	r := repository{t, dir}
	r.write("main.go", "package main\n")
	r.write("CHANGELOG.md", news)
	r.begin()
	if err := os.MkdirAll(filepath.Join(dir, "unpacked"), 0o750); err != nil {
		t.Fatal(err)
	}
	if got := revisionOf(t.Context(), filepath.Join(dir, "unpacked")); got != (revision{}) {
		t.Errorf("a folder in somebody's checkout isn't of its commit, got %+v", got)
	}
	head := r.git("rev-parse", "HEAD")
	all := func(message string) func() {
		return func() { r.git("commit", "-qam", message) }
	}
	cases := []struct {
		reason, file string
		then         func()
		want         revision
	}{
		{reason: "it's what was committed", want: revision{commit: head}},
		{reason: "the changelog is in no package, and a release that is tried again has written it", file: "CHANGELOG.md", want: revision{commit: head}},
		{reason: "what is built at a release's tag is what was released", then: all("changelog"), want: revision{commit: head}},
		{reason: "a file that nobody committed is compiled too", file: "more.go", want: revision{commit: head, dirty: "more.go"}},
		{reason: "an ignored one isn't one", then: func() { r.write(".git/info/exclude", "more.go\n") }, want: revision{commit: head}},
	}
	for _, tc := range cases {
		if tc.file != "" {
			r.write(tc.file, "package main // changed\n")
		}
		if tc.then != nil {
			tc.then()
		}
		if diff := cmp.Diff(tc.want, revisionOf(t.Context(), dir), cmp.AllowUnexported(revision{})); diff != "" {
			t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
		}
	}
	r.write("main.go", "package main // next\n")
	r.write("CHANGELOG.md", news)
	r.git("commit", "-qam", "both")
	if got := revisionOf(t.Context(), dir); got.commit != r.git("rev-parse", "HEAD") {
		t.Errorf("a commit that changes the changelog and more counts, got %+v", got)
	}
}

// TestRevisionShallow asks a clone that has the last commit alone.
func TestRevisionShallow(t *testing.T) {
	r := repository{t, t.TempDir()}
	r.write("main.go", "package main\n")
	r.begin()
	r.write("main.go", "package main // changed\n")
	r.git("commit", "-qam", "second")
	head := r.git("rev-parse", "HEAD")
	r.write("CHANGELOG.md", news)
	r.git("add", ".")
	r.git("commit", "-qm", "changelog")
	for _, tc := range []struct {
		reason, depth string
		cut           bool
	}{
		{"the commit of the changelog looks as if it had brought all files", "1", true},
		{"so does the one before", "2", true},
		{"one more, and it's seen what the second one changed", "3", false},
	} {
		clone := filepath.Join(t.TempDir(), "clone")
		r.git("clone", "-q", "--depth="+tc.depth, "file://"+r.dir, clone)
		got := revisionOf(t.Context(), clone)
		if got.cut != tc.cut || !tc.cut && got.commit != head {
			t.Errorf("%s: got %+v", tc.reason, got)
		}
		if err := got.releasable(clone); (err != nil) != tc.cut {
			t.Errorf("%s: a release of it: %v", tc.reason, err)
		}
	}
}

// TestRevisionUnknown asks git of what it can't read: whether there are changes nobody knows, so there are none is no answer.
func TestRevisionUnknown(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o750); err != nil {
		t.Fatal(err)
	}
	got := revisionOf(t.Context(), dir)
	if err := got.releasable(dir); err == nil || !strings.Contains(err.Error(), "cannot tell which commit") || got.label() != "" || got.warning() == "" {
		t.Errorf("a release of it: %v; its label is %q, and it's said: %q", err, got.label(), got.warning())
	}
}

// TestReleaseUnclean makes no release of what nobody has.
func TestReleaseUnclean(t *testing.T) {
	r := repository{t, t.TempDir()}
	r.write("CHANGELOG.md", "# Changelog\n")
	r.write("main.go", "package main\n")
	r.begin()
	r.write("more.go", "package main\n")
	c := releaseCmd{
		common:   common{Root: r.dir, Dist: t.TempDir(), Cache: t.TempDir(), Version: "v0.1.0", Arch: []string{"amd64"}, Bare: true},
		Registry: nowhere, Changelog: filepath.Join(r.dir, "CHANGELOG.md"),
	}
	if err := c.Run(context.Background()); err == nil || !strings.Contains(err.Error(), "such as more.go") {
		t.Errorf("a release of what isn't committed: want it refused, got %v", err)
	}
	c.Dirty = true
	if err := c.Run(context.Background()); err == nil || strings.Contains(err.Error(), "more.go") {
		t.Errorf("it was asked for; want another error, of a changelog without a section, got %v", err)
	}
}

// TestReleaseAgain does what a release says is to be done after it, commits the changelog and tags that, and makes the release again: there, and
// as somebody else does who has a clone. All files are what they were, and the registry has them already.
func TestReleaseAgain(t *testing.T) {
	bare(t)
	r := repository{t, checkout(t, "../..")}
	r.write("CHANGELOG.md", news)
	r.write(".gitignore", "/dist/\n")
	r.begin()
	built := r.git("rev-parse", "HEAD")
	registry := serve(t) + "/path"
	release := func(root string) string {
		t.Helper()
		err := (&releaseCmd{
			common:   common{Root: root, Dist: filepath.Join(root, "dist"), Cache: t.TempDir(), Version: "v0.1.0", Arch: []string{"amd64"}, Bare: true},
			Registry: registry, Push: true, Changelog: filepath.Join(root, "CHANGELOG.md"),
		}).Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return repository{t, root}.read("dist/release/v0.1.0/SHA256SUMS")
	}
	first := release(r.dir)
	r.git("commit", "-qam", "changelog")
	r.git("tag", "v0.1.0")
	if diff := cmp.Diff(first, release(r.dir)); diff != "" {
		t.Errorf("at its tag the release is another one, -first +second:\n%s", diff)
	}
	clone := filepath.Join(t.TempDir(), "clone")
	r.git("clone", "-q", "--branch=v0.1.0", r.dir, clone)
	if diff := cmp.Diff(first, release(clone)); diff != "" {
		t.Errorf("in a clone the release is another one, -first +second:\n%s", diff)
	}
	if notes := r.read("dist/release/v0.1.0/NOTES.md"); !strings.Contains(notes, " from commit "+built+".") {
		t.Errorf("the notes don't name %s:\n%s", built, notes)
	}
}
