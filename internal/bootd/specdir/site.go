package specdir

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// Names of what is kept.
const (
	// RecordFolder, in the folder of the specs, holds its half of the records.
	RecordFolder = ".bootd"
	recordFile   = "granted"
	// siteFile, in the state folder, says that the folder of the specs can't be written and that a person has agreed to one record.
	siteFile = "new-site"
)

// Reasons why nothing is installed, for people.
const (
	fenceNoInstall = "this bootd was started with --no-install"
	fenceNewSite   = "--new-site is for the first start of a site alone, and this one has begun: take it out of the command line, lest a lost state folder install every machine anew"
	fenceReadOnly  = "the folder of specs can't be written, so that its half of the record of grants can't be kept; " +
		"make it writable, or start once with --new-site and an empty state folder"
	// fenceAway: a record was there, and isn't now.
	fenceAway  = "a record of grants isn't there any more, as where its folder is moved or its disk isn't mounted: installs go on once it's there as it was; where it's lost for good, start bootd anew, which compares both"
	fenceNoted = "it's noted that this site is new and keeps one record of grants; take --new-site out of the command line and start bootd again, which installs"
	// fenceTwoLives: the state folder is of a site with one record, and the folder of specs holds another one.
	fenceTwoLives = "the state folder is of a site that keeps no record beside its specs, and this folder of specs holds one: which machines were installed by it isn't known here; " +
		"remove .bootd if it means no machine that must be kept, or the file new-site of the state folder to have both records compared"
	// fenceCluster: grants were used by this state folder, and none was given from a folder of specs.
	fenceCluster = "the state folder is of a bootd of a cluster, or of another folder of specs: it knows of used grants, and of none that was given from this folder, so that which machines " +
		"are installed isn't known; give this bootd an empty --state-dir, and machines that must be kept install.generation 0"
	fenceNotNew = "--new-site is for a site without machines, and the folder of specs holds a record of grants already; take it out of the command line"
)

// A site is one folder of specs with one state folder: where grants are remembered, and whether any may be issued.
type site struct {
	dir string
	log *slog.Logger

	mu sync.Mutex
	// state and spec are the two records. spec is nil on a site that keeps one alone.
	state, spec *journal
	// fence says why nothing is installed; "": nothing stands in the way.
	fence  string
	unlock func()
}

// Fresh says whether a state folder holds nothing of an earlier life. It must be asked before anything is written there.
func Fresh(stateDir string) bool {
	for _, name := range []string{recordFile, "consumed.log", siteFile, "sessions"} {
		if _, err := os.Lstat(filepath.Join(stateDir, name)); !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return true
}

func openSite(o Options) (*site, error) {
	s := &site{dir: o.Dir, log: o.Logger, unlock: func() {}}
	if info, err := os.Stat(o.Dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("the folder of specs %q can't be read, or is no folder; give --source dir:PATH", o.Dir)
	}
	if !o.NoInstall {
		unlock, err := lockFolder(o.Dir)
		if err != nil {
			return nil, err
		}
		s.unlock = unlock
	}
	if err := s.openRecords(o); err != nil {
		s.close()
		return nil, err
	}
	if s.fence != "" {
		s.log.Warn("nothing will be installed; addresses and boots from disk are served", "why", s.fence)
	}
	return s, nil
}

// openRecords opens both records. What is damaged, or can't be told, is a fence, not an error: known machines boot on.
func (s *site) openRecords(o Options) error {
	var err error
	if s.state, err = readJournal(filepath.Join(o.StateDir, recordFile)); err == nil {
		err = s.state.open()
	}
	if err != nil {
		s.blocked(err)
	}
	spec, err := readJournal(filepath.Join(o.Dir, RecordFolder, recordFile))
	if err != nil {
		s.blocked(err)
		return nil
	}
	s.spec = spec
	if o.NoInstall {
		s.fence = fenceNoInstall
		return nil
	}
	cluster := s.state != nil && s.state.lines == 0 && spec.lines == 0 && foreign(filepath.Join(o.StateDir, "consumed.log"))
	err = s.openSpec(o, spec.open)
	switch {
	case o.Blocked != "":
		s.fence = o.Blocked
	case cluster && s.fence == "":
		s.fence = fenceCluster
	}
	return err
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func readOnly(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EROFS)
}

func (s *site) blocked(err error) { s.fence = err.Error() }

// lockFolder takes a folder of specs for this bootd's installs alone. Its folder itself is locked, which takes no right to write.
func lockFolder(dir string) (unlock func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot lock the folder of specs: %w", err)
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		return nil, errors.Join(fmt.Errorf("another running bootd installs from the folder of specs %q; start this one with --no-install", dir), f.Close())
	case err != nil:
		return nil, errors.Join(fmt.Errorf("cannot lock the folder of specs %q: %w; it must be on a local file system (NFS can't lock it); --no-install needs no lock", dir, err), f.Close())
	}
	return func() { _ = f.Close() }, nil
}

func (s *site) close() {
	s.unlock()
	for _, j := range []*journal{s.state, s.spec} {
		if j != nil {
			j.close()
		}
	}
}

// installs says whether grants may be issued and opened, and if not, why.
func (s *site) installs() (why string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fence, s.fence == ""
}

// look finds out whether somebody else changed a record: then nothing is installed until bootd is started anew, which compares both. Who
// installs nothing just hears of it.
func (s *site) look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fence == fenceNoInstall && s.spec != nil {
		if err := s.spec.follow(); err != nil {
			s.log.Warn("what the other bootd has installed since isn't known", "error", err.Error())
		}
	}
	if s.fence == fenceAway && !s.away() {
		s.fence = "" // Unless it isn't as it was.
		s.log.Info("a record of grants that wasn't there is there again")
	}
	if s.fence != "" {
		return
	}
	if s.away() {
		s.fence = fenceAway
		s.log.Error("nothing will be installed", "why", s.fence)
		return
	}
	if s.spec == nil && foreign(filepath.Join(s.dir, RecordFolder, recordFile)) {
		s.fence = fenceTwoLives
		s.log.Error("nothing will be installed", "why", s.fence)
		return
	}
	for _, j := range []*journal{s.state, s.spec} {
		if j != nil && j.edited() {
			s.fence = fmt.Sprintf("the record of grants %q was changed by somebody else; start bootd anew, which compares it with the other one", j.path)
			s.log.Error("nothing will be installed", "why", s.fence)
			return
		}
	}
}

// away says that a record isn't there, which was.
func (s *site) away() bool {
	return slices.ContainsFunc([]*journal{s.state, s.spec}, func(j *journal) bool { return j != nil && j.away() })
}

// lines counts what both records hold.
func (s *site) lines() (n int) {
	for _, j := range []*journal{s.state, s.spec} {
		if j != nil {
			n += j.count()
		}
	}
	return n
}

// remembered is what one place knows of a machine; nil where it knows nothing.
type remembered struct {
	granted   *grantLine
	installed *installLine
}

// both are what the two places know of a machine.
type both struct{ state, spec remembered }

// records are what both places remember of a machine. A site with one place has it twice.
func (s *site) records(p *boot.Plan) (b both) {
	if s.state != nil {
		b.state = remembered{s.state.grantOf(p), s.state.installOf(p)}
	}
	if s.spec == nil {
		b.spec = b.state
		return b
	}
	b.spec = remembered{s.spec.grantOf(p), s.spec.installOf(p)}
	return b
}

// grants are those that either record knows of.
func (b both) grants() []*grantLine {
	return slices.DeleteFunc([]*grantLine{b.state.granted, b.spec.granted}, func(g *grantLine) bool { return g == nil })
}

// isOf says whether a grant was for a plan's entry and machine.
func (g *grantLine) isOf(p *boot.Plan) bool {
	return g.EntryUID == p.EntryUID && g.HostUID == p.HostUID
}

// used says whether the record beside the specs knows of a grant that a machine used.
func (s *site) used(p *boot.Plan) bool {
	if s.spec == nil {
		return false
	}
	s.spec.mu.Lock()
	defer s.spec.mu.Unlock()
	return s.spec.used[usedBy{p.EntryUID, p.HostUID}]
}

// write puts a line into the state folder's record and then into the other. One that knows of the install already isn't told again: where
// the other can't be written, that's tried for as long as it takes.
func (s *site) write(l line) error {
	for _, j := range []*journal{s.state, s.spec} {
		if j == nil || l.Installed != nil && j.installedAs(l.Installed) {
			continue
		}
		if err := j.append(l); err != nil {
			return err
		}
	}
	return nil
}

func (s *site) writeSpec(l line) error {
	if s.spec == nil {
		return nil
	}
	return s.spec.append(l)
}

// consumed remembers a consumption beside the specs, before its session does. The state folder's own is the log of consumed grants.
func (s *site) consumed(c boot.Consumption) error {
	if s.spec != nil && s.spec.knows(c) {
		return nil // It's written into a session that lacks it.
	}
	if why, ok := s.installs(); !ok {
		return fmt.Errorf("nothing is installed: %s", why)
	}
	return s.writeSpec(line{Consumed: &c})
}
