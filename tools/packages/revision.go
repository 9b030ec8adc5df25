package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// changelogFile is in no package, and a release writes it.
const changelogFile = "CHANGELOG.md"

// A revision is what a checkout is of.
type revision struct {
	// commit is the last one that changed more than the changelog: the tag of a release is on one that writes it, and what is built at that
	// tag must be what was released. It's empty where the folder is no checkout.
	commit string
	// dirty is one of the files with changes that nobody committed.
	dirty string
	// unknown is why git doesn't tell, such as a checkout that belongs to somebody else. It's empty where it does, and where there's no checkout.
	unknown error
	// cut says that the clone is a shallow one, which has no history to find the commit in: its oldest ones look as if they changed everything.
	cut bool
}

// warning says why what is built may have other digests than elsewhere, and nothing where it has the same.
func (r revision) warning() string {
	switch {
	case r.unknown != nil:
		return "no label names a commit, so that digests are others than elsewhere: " + r.unknown.Error()
	case r.cut:
		return "this clone is a shallow one: labels may name another commit than those of a whole one, and digests be others"
	default:
		return ""
	}
}

// label is what images are told.
func (r revision) label() string {
	if r.dirty != "" && r.commit != "" {
		return r.commit + "-dirty"
	}
	return r.commit
}

// revisionOf a checkout. A folder in somebody's other checkout isn't one.
func revisionOf(ctx context.Context, root string) revision {
	if _, err := os.Lstat(filepath.Join(root, ".git")); errors.Is(err, fs.ErrNotExist) {
		return revision{}
	}
	git := func(args ...string) (string, error) {
		out, err := exec.CommandContext(ctx, "git", append([]string{"-C", root}, args...)...).Output() //nolint:gosec // The user's own folder.
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(string(exit.Stderr)))
		}
		return strings.TrimRight(string(out), "\n"), err
	}
	but := []string{"--", ".", ":(exclude)" + changelogFile}
	commit, err := git(append([]string{"rev-list", "-1", "HEAD"}, but...)...)
	changes, err2 := git(append([]string{"status", "--porcelain"}, but...)...)
	shallow, err3 := git("rev-parse", "--is-shallow-repository")
	if err := errors.Join(err, err2, err3); err != nil {
		return revision{unknown: err}
	}
	r := revision{commit: commit}
	if first, _, _ := strings.Cut(changes, "\n"); len(first) > 3 {
		r.dirty = first[3:]
	}
	if shallow == "true" {
		// Before it there's another one, or it's where the clone ends.
		_, err := git("rev-parse", "--verify", "--quiet", commit+"^")
		r.cut = err != nil
	}
	return r
}

// releasable says why nobody could make a release of this again.
func (r revision) releasable(root string) error {
	if r.unknown != nil {
		return fmt.Errorf("cannot tell which commit %q is of, and whether it has changes of its own: %w", root, r.unknown)
	}
	if r.dirty != "" {
		return fmt.Errorf("%q has changes that aren't committed, such as %s: nobody could make such a release again; commit them, or say --dirty (make: DIRTY=1)",
			root, r.dirty)
	}
	if r.cut {
		return errors.New("this clone is a shallow one, which doesn't tell the commit that packages are of: run git fetch --unshallow first")
	}
	return nil
}
