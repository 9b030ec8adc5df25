package specdir

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/regular"
)

// A folder keeps what the files of a folder hold. A file is read again when it changes. What was right in one that has become wrong is
// kept, and so is all of it when the folder can't be listed, or is suddenly empty, as one whose disk isn't mounted is. What is kept is
// served, and nothing is installed by it: it may have been taken out to stop that.
type folder struct {
	dir string
	log *slog.Logger

	files map[string]content
	// lost says that the folder is suddenly empty, or can't be listed.
	lost bool
	// expects says that machines were served from it before bootd started: then it isn't empty on purpose.
	expects bool
	// settling says that bootd has just started, and the folder goes on changing: it may be half copied.
	settling bool
	// began says that it was looked through once: what was there at the start is known.
	began bool
	// asked says that somebody is about to use a grant by what stands here: nothing is taken for what it was by its times alone.
	asked bool
	// moving says that a file was another one after it was read than before, at the last look: somebody is writing it.
	moving bool
	// breath is taken between the pieces of files that are looked at once more.
	breath breath
	// said is what was last told of each file, and of the folder itself under "".
	said map[string]string
	// news is what the last look has found.
	news news
}

// news is what a look has found: objects that came, and whether anything else has changed.
type news struct {
	came []found
	// more says that it isn't all.
	more bool
}

// content is what one file holds.
type content struct {
	stamp stamp
	// since is when it was first read with this stamp. sure says that it was still so when another write would have had another time.
	since time.Time
	sure  bool
	// sum is the digest (SHA-256) of the file as it was read.
	sum     [sha256.Size]byte
	objects []object
	// old says that the file can't be read as it is now.
	old bool
	// blind says that the file was never right since bootd started, or since it's there: what was in it before isn't known.
	blind  bool
	faults []fault
	// packed are the texts of its entries, one behind the other; nil: they're at hand. shed says that what isn't needed is gone.
	packed []byte
	shed   bool
	// kept is what an earlier life kept of its objects, of a file that is packed, until they're needed; then it's "".
	kept string
}

func newFolder(dir string, log *slog.Logger) *folder {
	return &folder{dir: dir, log: log, files: map[string]content{}, said: map[string]string{}}
}

// look reads what has changed, and says whether anything did. An error says that nothing is known at all.
func (f *folder) look() (changed bool, err error) {
	f.news, f.moving = news{}, false
	names, err := f.list()
	if err != nil && len(f.files) == 0 {
		return false, err
	}
	switch {
	case err != nil:
		f.say("", err.Error()+"; what was read before is served, and nothing is installed by it")
		return f.lose(), nil //nolint:nilerr // It's said, and what is known still is.
	case len(names) == 0 && (len(f.files) > 0 || f.expects):
		f.say("", fmt.Sprintf("the folder of specs %q is suddenly empty; what was read before is served until a file stands in it, and nothing is installed by it", f.dir))
		return f.lose(), nil
	}
	f.say("", "")
	changed, f.lost = f.lost, false
	f.news.more = changed
	there := map[string]bool{}
	for _, name := range names {
		there[name] = true
	}
	for name := range f.files {
		if !there[name] {
			delete(f.files, name)
			f.say(name, "")
			changed, f.news.more = true, true
		}
	}
	for _, name := range names {
		changed = f.read(name) || changed
	}
	f.began = true
	return changed, nil
}

// lose says whether the folder was there before.
func (f *folder) lose() (changed bool) {
	changed, f.lost = !f.lost, true
	f.news.more = true
	return changed
}

func (f *folder) list() (names []string, err error) {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return nil, fmt.Errorf("the folder of specs can't be listed: %w", err)
	}
	for _, e := range entries {
		if !e.IsDir() && isSpecs(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// path of one of the files. One that isn't the folder's (include) has a path for a name.
func (f *folder) path(name string) string {
	if strings.Contains(name, "/") {
		return name
	}
	return filepath.Join(f.dir, name)
}

// isSpecs says whether a file of that name is one of specs. What begins with a dot is somebody's who moves it into its place when it's whole.
func isSpecs(name string) bool {
	return !strings.HasPrefix(name, ".") && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name))
}

// read takes a file in, if it's another than before.
func (f *folder) read(name string) bool {
	path := filepath.Join(f.dir, name)
	before, known := f.files[name]
	now := seenAs(path)
	if known && !before.old && before.stamp.sameWrite(now) && f.unwritten(name, now) {
		return false
	}
	since := time.Now()
	b, err := regular.Read(path, maxFile)
	if err == nil && blank(b) && (before.blind || before.holds() || !known && !f.began) {
		err = errEmpty
	}
	moves := !seenAs(path).sameWrite(now)
	f.moving = f.moving || moves
	if err != nil || moves {
		switch {
		case errors.Is(err, fs.ErrNotExist) && known && !before.old: // It's being removed. Of a link to nowhere the next look tells.
		case errors.Is(err, errEmpty) && !before.holds():
			f.say(name, fmt.Sprintf("%s is empty, as one that is being written; nothing is installed by this folder until something stands in it, be it a comment, or it's removed", path))
		case errors.Is(err, errEmpty):
			f.say(name, fmt.Sprintf("%s is suddenly empty, as one that is being written; what was read before is served until something stands in it, or it's removed, and nothing is installed by it", path))
		case err != nil:
			f.say(name, fmt.Sprintf("%s: it can't be read: %v; what was read before is served, and nothing is installed by it", path, err))
		}
		changed := !known || !before.old
		f.news.more = f.news.more || changed
		before.old, before.blind = true, !known || before.blind || err != nil && !before.names()
		f.files[name] = before
		return changed // Where it's being written, it's read again in a moment.
	}
	sum := sha256.Sum256(b)
	if known && !before.old && sum == before.sum { // Its times alone are others.
		before.stamp, before.since, before.sure = now, since, false
		f.files[name] = before
		return false
	}
	objects, faults := parse(path, b)
	before.unpack()
	came, only := before.grown(objects)
	f.news.more = f.news.more || !only || len(faults) > 0
	for i := range came {
		f.news.came = append(f.news.came, found{&came[i], path, false})
	}
	if len(faults) > 0 {
		objects = keep(objects, before.objects)
	}
	f.files[name] = content{stamp: now, since: since, sum: sum, objects: objects, faults: faults, blind: hides(faults) && (!known || before.blind || !before.names())}
	f.say(name, sentence(faults))
	return true
}

// grown gives the objects that stand in a file behind those that stood there, and says whether nothing else has changed in it.
func (c *content) grown(now []object) (came []object, only bool) {
	n := len(c.objects)
	if c.old || c.blind || len(c.faults) > 0 || n > len(now) {
		return nil, false
	}
	for i := range c.objects {
		if a, b := &c.objects[i], &now[i]; a.old || a.line != b.line || a.kind != b.kind || a.name != b.name || !a.same(b) {
			return nil, false
		}
	}
	return now[n:], true
}

// blank says whether nothing stands in a text, not even a comment: who writes documents begins with what parts them, and some programs write
// null where they have found nothing.
func blank(b []byte) bool {
	if wide(b) { // What's blank in it is ASCII.
		b = bytes.ReplaceAll(b[2:], []byte{0}, nil)
	}
	for row := range bytes.Lines(bytes.TrimPrefix(b, []byte("\ufeff"))) {
		row = bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(row), []byte("---")))
		if len(row) > 0 && !slices.Contains([]string{"...", "null", "~"}, strings.ToLower(string(row))) {
			return false
		}
	}
	return true
}

// holds says whether there's anything in a file, and names whether there's anything of ours that was right.
func (c *content) holds() bool { return c.names() || len(c.faults) > 0 }

func (c *content) names() bool { return len(c.objects) > 0 || c.kept != "" }

// incomplete says that machines may stand in the folder that nobody can read now, and could before bootd started.
func (f *folder) incomplete() bool { return f.lost || f.settling || len(f.blind()) > 0 }

// blind names the files that were never right since bootd started.
func (f *folder) blind() (names []string) {
	for _, name := range f.sorted() {
		if f.files[name].blind {
			names = append(names, filepath.Join(f.dir, name))
		}
	}
	return names
}

// maxFile is how many bytes of one file are read: a hundred thousand machines are some eighty million.
const maxFile = 256 << 20

var errEmpty = errors.New("it's suddenly empty")

// keep adds to what is right in a file what was right in it before: what has become wrong can't be told from what was taken out.
func keep(now, before []object) []object {
	there := map[string]bool{}
	for _, o := range now {
		there[o.key()] = true
	}
	for _, o := range before {
		if !there[o.key()] {
			o.old = true
			now = append(now, o)
		}
	}
	return now
}

// hides says whether what is wrong may be a machine, or something that one rests on.
func hides(faults []fault) bool {
	return slices.ContainsFunc(faults, func(f fault) bool { return !f.foreign })
}

// sentence of what is wrong in a file; "" of nothing.
func sentence(faults []fault) string {
	switch len(faults) {
	case 0:
		return ""
	case 1:
		return faults[0].String()
	}
	return fmt.Sprintf("%s (and %d more)", faults[0], len(faults)-1)
}

// say tells what is wrong, once, and once when it's right again.
func (f *folder) say(name, what string) {
	before := f.said[name]
	if before == what {
		return
	}
	f.said[name] = what
	if what == "" {
		delete(f.said, name)
		f.log.Info("it's right again", "was", before)
		return
	}
	f.log.Error("the specs are wrong; what is right goes on being served", "problem", what)
}

// sorted are the names of the files, in order.
func (f *folder) sorted() []string { return slices.Sorted(maps.Keys(f.files)) }
