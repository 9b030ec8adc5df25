package specdir

import (
	"cmp"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// A Prospect is a plan that nobody is served by, and the segment that it's for.
type Prospect struct {
	boot.Plan

	Segment boot.Segment
	// Idle says why nothing is installed by it, where its entry has it so; "": it doesn't.
	Idle string
}

// Preview gives the plans of a folder of specs as a bootd would have them, for nobody to be served by: those of the entries in one file, or
// of an entry by namespace/name or by its name alone. dir "" is the file's own folder. It also gives, one sentence each, what is wrong with
// the specs. Nothing is written.
func Preview(dir, file, name string) (plans []Prospect, wrong []string, err error) {
	if dir == "" {
		dir = filepath.Dir(file)
	}
	f := newFolder(dir, slog.New(slog.DiscardHandler))
	if _, err := f.look(); err != nil {
		return nil, nil, err
	}
	key := ""
	if file != "" {
		if key, err = f.include(file); err != nil {
			return nil, nil, err
		}
	}
	w := f.resolve(nil, served{
		data: map[string]map[string][]byte{}, since: func(string) time.Time { return time.Time{} },
		recorded: func(*boot.Plan) bool { return false },
	})
	for _, n := range f.sorted() {
		for _, x := range f.files[n].faults {
			wrong = append(wrong, x.String())
		}
	}
	for what, why := range w.problems {
		if what != "installs" && !strings.HasPrefix(what, idling) && !strings.HasPrefix(what, "BootNetwork ") { // Which node serves a network is another question.
			wrong = append(wrong, why)
		}
	}
	slices.SortFunc(wrong, byLine)
	there := f.entriesOf(key)
	for _, p := range w.all() {
		if file != "" && there[p.Entry] || file == "" && (p.Entry.String() == name || p.Entry.Name == name) {
			i := slices.IndexFunc(w.segments, func(g boot.Segment) bool { return g.Name == p.Network.Name })
			x := Prospect{Plan: *p, Idle: w.idle[p.EntryUID]}
			if i >= 0 {
				x.Segment = w.segments[i]
			}
			plans = append(plans, x)
		}
	}
	slices.SortFunc(plans, func(a, b Prospect) int { return compare(a.Entry, b.Entry) })
	if len(plans) == 0 && len(wrong) == 0 {
		return nil, nil, fmt.Errorf("there's no BootEntry %s in %s", or(name, "of file "+file), dir)
	}
	return plans, wrong, nil
}

// byLine orders sentences by the file and the line that they begin with: what is wrong first is often why the rest is.
func byLine(a, b string) int {
	file := func(s string) (name string, line int, rest string) {
		at, rest, _ := strings.Cut(s, ": ")
		i := strings.LastIndexByte(at, ':')
		line, err := strconv.Atoi(at[i+1:])
		if err != nil {
			return "", 0, s
		}
		return at[:max(0, i)], line, rest
	}
	fa, la, ra := file(a)
	fb, lb, rb := file(b)
	return cmp.Or(strings.Compare(fa, fb), la-lb, strings.Compare(ra, rb))
}

// include reads a file too, unless it's one of the folder's, and gives the name that it has among these.
func (f *folder) include(file string) (string, error) {
	base := filepath.Base(file)
	if _, ok := f.files[base]; ok && sameFile(file, filepath.Join(f.dir, base)) {
		return base, nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("cannot read the entry: %w", err)
	}
	if !strings.Contains(file, "/") {
		file = "./" + file // The folder may have one of that name.
	}
	objects, faults := parse(file, b)
	f.files[file] = content{objects: objects, faults: faults}
	return file, nil
}

// sameFile says whether two paths lead to one file.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// entriesOf are the entries in one of the files.
func (f *folder) entriesOf(file string) map[boot.Name]bool {
	there := map[boot.Name]bool{}
	for _, o := range f.files[file].objects {
		if o.isEntry() {
			there[o.name] = true
		}
	}
	return there
}
