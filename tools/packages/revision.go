package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
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
	// cut says that the clone is a shallow one, which has no history to find the commit in: its oldest ones look as if they changed everything.
	cut bool
}

// label is what images are told.
func (r revision) label() string {
	if r.dirty != "" {
		return r.commit + "-dirty"
	}
	return r.commit
}

// revisionOf a checkout.
func revisionOf(ctx context.Context, root string) revision {
	git := func(args ...string) (string, error) {
		out, err := exec.CommandContext(ctx, "git", append([]string{"-C", root}, args...)...).Output() //nolint:gosec // The user's own folder.
		return strings.TrimRight(string(out), "\n"), err
	}
	but := []string{"--", ".", ":(exclude)" + changelogFile}
	head, err := git("rev-parse", "HEAD")
	if err != nil {
		return revision{}
	}
	r := revision{commit: head}
	if last, err := git(append([]string{"rev-list", "-1", "HEAD"}, but...)...); err == nil && last != "" {
		r.commit = last
	}
	if shallow, err := git("rev-parse", "--is-shallow-repository"); err == nil && shallow == "true" {
		// Below it there's something, or it's where the clone ends.
		_, err := git("rev-parse", "--verify", "--quiet", r.commit+"^")
		r.cut = err != nil
	}
	changes, err := git(append([]string{"status", "--porcelain"}, but...)...)
	if err != nil {
		r.dirty = "what git status can't tell"
	} else if first, _, _ := strings.Cut(changes, "\n"); len(first) > 3 {
		r.dirty = first[3:]
	}
	return r
}

// releasable says why nobody could make a release of this again.
func (r revision) releasable(root string) error {
	if r.dirty != "" {
		return fmt.Errorf("%q has changes that aren't committed, such as %s: nobody could make such a release again; commit them, or say --dirty (make: DIRTY=1)",
			root, r.dirty)
	}
	if r.cut {
		return errors.New("this clone is a shallow one, which doesn't tell the commit that packages are of: run git fetch --unshallow first")
	}
	return nil
}
