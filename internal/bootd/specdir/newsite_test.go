package specdir

import (
	"log/slog"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// readOnlySite is one whose record beside the specs can't be written, also by root.
func readOnlySite(r *rig, o Options) (*site, error) {
	s := &site{dir: o.Dir, log: o.Logger, unlock: func() {}}
	var err error
	if s.state, err = readJournal(filepath.Join(o.StateDir, recordFile)); err != nil {
		return nil, err
	}
	if err := s.state.open(); err != nil {
		return nil, err
	}
	if s.spec, err = readJournal(filepath.Join(o.Dir, RecordFolder, recordFile)); err != nil {
		return nil, err
	}
	r.t.Cleanup(s.close)
	err = s.openSpec(o, func() error { return unix.EROFS })
	return s, err
}

// TestReadOnlyFolder: where one record alone can be kept, nothing is installed unless a person said so when there was nothing to lose.
func TestReadOnlyFolder(t *testing.T) {
	cases := map[string]struct {
		reason  string
		newSite bool
		fresh   bool
		marked  bool // By an earlier start with --new-site.
		records bool // Beside the specs.
		fence   string
	}{
		"Plain":       {reason: "nobody said anything", fresh: true, fence: fenceReadOnly},
		"NewSite":     {reason: "a person said that it's new: that's noted, and the flag is to go", newSite: true, fresh: true, fence: fenceNoted},
		"NotEmpty":    {reason: "a state folder of another life is no new site", newSite: true, fence: fenceReadOnly},
		"Records":     {reason: "nor is a folder that knows of grants", newSite: true, fresh: true, records: true, fence: fenceNotNew},
		"Restart":     {reason: "a site that began so goes on", marked: true},
		"LeftInUnit":  {reason: "the flag isn't left where a lost state folder would make it true again", marked: true, newSite: true, fence: fenceNewSite},
		"LostState":   {reason: "a lost state folder isn't a new site by itself", fresh: true, fence: fenceReadOnly},
		"OtherLife":   {reason: "a record beside the specs is of another life, and isn't ignored", marked: true, records: true, fence: fenceTwoLives},
		"BothLives":   {reason: "nor with the flag", marked: true, records: true, newSite: true, fence: fenceTwoLives},
		"LostRecords": {reason: "nor where the specs know better", fresh: true, records: true, fence: fenceReadOnly},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, all(1))
			if tc.marked {
				if err := writeMark(filepath.Join(r.state, siteFile)); err != nil {
					t.Fatal(err)
				}
			}
			if tc.records {
				r.put(filepath.Join(r.dir, RecordFolder, recordFile), 1)
			}
			s, err := readOnlySite(r, Options{Dir: r.dir, StateDir: r.state, NewSite: tc.newSite, Fresh: tc.fresh})
			if err != nil {
				t.Fatal(err)
			}
			if s.fence != tc.fence {
				t.Errorf("%s: %q, want %q", tc.reason, s.fence, tc.fence)
			}
			if tc.fence == "" && s.spec != nil {
				t.Errorf("%s: there's one record alone", tc.reason)
			}
			if tc.records && s.spec == nil {
				t.Errorf("%s: what it knows is looked up", tc.reason)
			}
		})
	}
}

// TestNewSiteLeftBehind: a flag that stays in a unit file never installs anything, not even once its state folder is lost.
func TestNewSiteLeftBehind(t *testing.T) {
	r := newRig(t, all(1))
	for range 3 {
		o := Options{Dir: r.dir, StateDir: r.state, NewSite: true, Fresh: Fresh(r.state), Logger: slog.New(slog.DiscardHandler)}
		for range 3 { // Starts of one life.
			s, err := readOnlySite(r, o)
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := s.installs(); ok {
				t.Fatal("a start with --new-site installs")
			}
			o.Fresh = Fresh(r.state)
		}
		r.state = t.TempDir()
	}
}

// TestRecordOfAnotherLife: a site with one record doesn't install what a record beside its specs may know better, whether that is there
// at its start or comes with a later deploy; and makes none there.
func TestRecordOfAnotherLife(t *testing.T) {
	path := func(r *rig) string { return filepath.Join(r.dir, RecordFolder, recordFile) }
	for name, late := range map[string]bool{"AtStart": false, "Later": true} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, all(2))
			if err := writeMark(filepath.Join(r.state, siteFile)); err != nil {
				t.Fatal(err)
			}
			if late {
				r.start()
				if r.grant() == nil {
					t.Fatalf("nothing is granted:\n%s", r.said.String())
				}
				if exists(path(r)) {
					t.Error("a record is made beside the specs")
				}
			}
			r.put(path(r), 1)
			if late {
				r.turn()
			} else {
				r.start()
			}
			if r.plan() == nil || r.grant() != nil {
				t.Errorf("served %v, granted %v", r.plan(), r.grant())
			}
			r.says("remove .bootd if it means no machine", "new-site")
		})
	}
}
