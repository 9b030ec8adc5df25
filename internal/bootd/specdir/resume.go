package specdir

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/regular"
)

// chunk is how much of a file is read at once, to see whether it's what it was.
const chunk = 128 << 10

// resume goes on with what an earlier life has kept of the folder, where no file has changed since: what that life served is what the folder
// holds, and no file is parsed. Where anything is in the way, or installs are asked for, the folder is read.
func (s *Source) resume(ctx context.Context) {
	kept, before := s.o.Kept, s.o.Before
	s.o.Kept = nil
	if kept == nil || before == nil || before.Len() == 0 {
		return
	}
	text, err := kept()
	if err == nil && text == "" {
		return
	}
	if err == nil {
		err = s.resumed(ctx, text, before)
	}
	if err != nil {
		s.o.Logger.Info("the folder of specs is read", "why", err.Error())
		return
	}
	s.o.Logger.Info("the folder of specs is as it was, and isn't read anew", "machines", before.Len())
}

// resumed goes on with a text that an earlier life kept beside what it served. An error says why it can't.
func (s *Source) resumed(ctx context.Context, text string, before *boot.State) error {
	if !s.untouched() || !servesAll(before) {
		return errors.New("something is remembered of a machine")
	}
	by := s.by()
	if by == "" {
		return errors.New("which program runs isn't known")
	}
	k, err := keptFiles(text, by)
	if err != nil {
		return err
	}
	if err := s.folder.unchanged(ctx, k.files); err != nil {
		return err
	}
	w, err := s.worldOf(k, before)
	if err != nil {
		return err
	}
	s.folder.files, s.world, s.taken = k.files, w, true
	s.segments, s.o.Before, s.kept = before.Segments, nil, before
	s.changed, s.turned = time.Now(), time.Now() // Nothing is granted until it has been still from now on.
	s.version++
	s.data.Store(s.world.given())
	s.known.Store(&compared{grants: map[string]granted{}, doubtful: map[string]string{}, held: map[string]bool{}, asked: map[string]string{}})
	s.marked = s.mark()
	s.state.Store(before)
	s.onNew(before)
	return nil
}

// unchanged says whether the folder holds these files and no others, by all that is in them: times may be set, and clocks be wrong. It notes
// what the files look like, by which later changes are noticed.
func (f *folder) unchanged(ctx context.Context, files map[string]content) error {
	names, err := f.list()
	if err != nil {
		return err
	}
	if len(names) != len(files) {
		return fmt.Errorf("it holds %d files, and held %d", len(names), len(files))
	}
	var b breath
	buf := make([]byte, chunk)
	for _, name := range names {
		c, known := files[name]
		if !known {
			return fmt.Errorf("file %q came", name)
		}
		path := filepath.Join(f.dir, name)
		c.stamp, c.since = seenAs(path), time.Now()
		sum, err := digest(path, buf, &b, ctx.Err)
		if err != nil {
			return err
		}
		if sum != c.sum || !seenAs(path).sameWrite(c.stamp) {
			return fmt.Errorf("file %q has changed", name)
		}
		files[name] = c
	}
	return nil
}

// digest of a file's bytes. ends says why it's read no further; nil: it is.
func digest(path string, buf []byte, b *breath, ends func() error) (sum [sha256.Size]byte, err error) {
	f, err := regular.Open(path, maxFile)
	if err != nil {
		return sum, err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	for {
		b.take()
		n, err := f.Read(buf)
		h.Write(buf[:n])
		switch {
		case errors.Is(err, io.EOF):
			return [sha256.Size]byte(h.Sum(nil)), nil
		case err == nil:
			err = ends()
		}
		if err != nil {
			return sum, err
		}
	}
}

// worldOf gives what a folder comes to whose entries were resolved to what an earlier life served. An error says that it can't be.
func (s *Source) worldOf(k *keptFolder, before *boot.State) (world, error) {
	w := world{
		plans: before.Packed(), kept: map[string]bool{}, data: map[string]map[string][]byte{}, problems: map[string]string{}, earlier: map[string]bool{},
	}
	p := newParts()
	for _, x := range k.shared {
		x.file = s.folder.path(x.file)
		p.add(x)
	}
	w.serve(p, s.o.Node)
	w.sortSegments()
	w.parts, w.known = p, k.known
	switch {
	case !before.Plain():
		return w, errors.New("a machine has to do with an install")
	case before.Newest().After(s.o.Now()): // A clock was set back, and who came first isn't known.
		return w, errors.New("a machine is there since a time to come")
	case len(w.problems) > 0 || !sameText(w.segments, before.Segments):
		return w, errors.New("its networks aren't what was served")
	case k.entries != before.Len():
		return w, errors.New("its entries aren't what was served")
	}
	return w, nil
}

// sameText says whether two lists of segments are written in the same words.
func sameText(a, b []boot.Segment) bool {
	x, err := json.Marshal(a)   //nolint:musttag // The domain's own names are the format.
	y, wrong := json.Marshal(b) //nolint:musttag // As above.
	return err == nil && wrong == nil && bytes.Equal(x, y)
}
