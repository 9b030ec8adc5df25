package stage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	// OlderCommit is the version before: the first commit that had packages. Once there are releases, it's the last one's.
	OlderCommit = "f102fb8e405133b78538b2e5acd65fb68f9c1aef"
	// OlderVersion is what its packages are called.
	OlderVersion = "v0.1.0-e2e.0"
)

// Reaches says in one line why a commit can't be had from this checkout; nil where it can.
func Reaches(ctx context.Context, commit string) error {
	s, err := blank(Options{})
	if err != nil {
		return err
	}
	if _, err := s.git(ctx, "merge-base", "--is-ancestor", commit, "HEAD"); err == nil {
		return nil
	}
	if shallow, err := s.git(ctx, "rev-parse", "--is-shallow-repository"); err == nil && shallow == "true" {
		return fmt.Errorf("commit %.12s isn't to be had: this clone is shallow; run git fetch --unshallow", commit)
	}
	return fmt.Errorf("commit %.12s isn't to be had: it's not in the history of this checkout, or this is none of git", commit)
}

// Older is a commit of this checkout's history, in a folder of its own. A second time it's there already: a commit never changes.
func (s *Stage) Older(ctx context.Context, commit, version string) (Source, error) {
	from := Source{Root: filepath.Join(s.cache, "checkouts", commit), Version: version}
	if _, err := os.Stat(from.Root); err == nil {
		return from, nil
	}
	if err := os.MkdirAll(filepath.Dir(from.Root), 0o750); err != nil {
		return Source{}, fmt.Errorf("cannot make a folder for commit %s: %w", commit, err)
	}
	dir, err := os.MkdirTemp(filepath.Dir(from.Root), "new-")
	if err != nil {
		return Source{}, fmt.Errorf("cannot make a folder for commit %s: %w", commit, err)
	}
	tar := dir + ".tar"
	defer func() { _ = errors.Join(os.RemoveAll(dir), os.Remove(tar)) }() // What is left is in nobody's way.
	if _, err := s.git(ctx, "archive", "--output="+tar, commit); err != nil {
		return Source{}, err
	}
	if out, err := exec.CommandContext(ctx, "tar", "-x", "-f", tar, "-C", dir).CombinedOutput(); err != nil { //nolint:gosec // Our own files.
		return Source{}, fmt.Errorf("cannot unpack commit %s: %w\n%s", commit, err, out)
	}
	if err := os.Rename(dir, from.Root); err != nil && !errors.Is(err, os.ErrExist) {
		return Source{}, fmt.Errorf("cannot keep commit %s: %w", commit, err)
	}
	return from, nil
}

// git asks about this checkout.
func (s *Stage) git(ctx context.Context, args ...string) (string, error) {
	// Root may look at another user's checkout.
	out, err := exec.CommandContext(ctx, "git", append([]string{"-c", "safe.directory=*", "-C", s.root}, args...)...).CombinedOutput() //nolint:gosec // git.
	if err != nil {
		return "", fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return strings.TrimSpace(string(out)), nil
}
