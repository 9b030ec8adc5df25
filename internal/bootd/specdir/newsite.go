package specdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/durable"
)

// openSpec opens the record beside the specs, by open, unless this site has begun with one record alone.
func (s *site) openSpec(o Options, open func() error) error {
	if exists(filepath.Join(o.StateDir, siteFile)) {
		s.openMarked(o)
		return nil
	}
	err := open()
	switch {
	case readOnly(err):
		return s.openReadOnly(o)
	case err != nil:
		s.blocked(err)
		return nil
	case o.NewSite:
		s.log.Warn("--new-site has no meaning where the folder of specs can be written; take it out of the command line")
	}
	ignored(filepath.Join(o.Dir, RecordFolder, ".gitignore"))
	return nil
}

// ignored tells git to leave the record beside the specs alone, lest a clean of a checkout take it away. Without it all is as well.
func ignored(path string) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	_, _ = f.WriteString("*\n")
	_ = f.Close()
}

// openMarked is for a site that began with one record. The other, which would lack what was granted then, isn't made any more. Where
// there is one, it's of another life: what that has installed isn't forgotten.
func (s *site) openMarked(o Options) {
	switch {
	case s.spec.lines > 0:
		s.fence = fenceTwoLives
		return // What it knows goes on being looked up.
	case o.NewSite:
		s.fence = fenceNewSite
	}
	s.spec = nil
}

// openReadOnly is for a folder of specs that can't be written: one record, if a person said so when there was nothing to lose. The start
// that notes it installs nothing: a flag that nobody has taken out would make a lost state folder a new site.
func (s *site) openReadOnly(o Options) error {
	switch {
	case !o.NewSite || !o.Fresh:
		s.fence = fenceReadOnly
		return nil
	case s.spec.lines > 0:
		s.fence = fenceNotNew
		return nil
	}
	if err := writeMark(filepath.Join(o.StateDir, siteFile)); err != nil {
		return err
	}
	s.fence = fenceNoted
	s.spec = nil
	return nil
}

func writeMark(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("cannot note that this is a new site: %w", err)
	}
	if err := errors.Join(f.Sync(), f.Close(), durable.Sync(filepath.Dir(path))); err != nil {
		return fmt.Errorf("cannot note that this is a new site: %w", err)
	}
	return nil
}

// foreign says whether there is, or may be, a record where this site keeps none. An empty one says nothing.
func foreign(path string) bool {
	i, err := os.Stat(path)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return i.Size() > 0
}
