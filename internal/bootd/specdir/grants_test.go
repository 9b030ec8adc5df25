package specdir

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootspec"
)

// put writes a record as an earlier life left it; generation 0: none.
func (r *rig) put(path string, generation int64, change ...func(*grantLine)) {
	r.t.Helper()
	if generation == 0 {
		return
	}
	e := &v1alpha1.BootEntry{}
	e.Namespace, e.Name = "lab", "m1"
	g := &grantLine{
		Entry: "lab/m1", EntryUID: UIDOf(e), HostUID: bootspec.RawHostUID([]string{mac1}), MACs: []boot.MAC{mac1}, Generation: generation,
		GrantID: fmt.Sprintf("%016x", generation), SessionUID: "s",
	}
	for _, c := range change {
		c(g)
	}
	b, err := json.Marshal(line{Granted: g}) //nolint:musttag // The domain's own names are the format.
	if err != nil {
		r.t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, append(b, '\n'), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// TestRecords is what becomes of an entry that asks for generation 2, by what each of the two records says and with the sessions lost:
// there's one new machine among sixteen, and one whose generation was raised.
func TestRecords(t *testing.T) {
	const grants = "grants"
	cases := []struct {
		state, spec int64 // Generations; 0: no record.
		want        string
		reason      string
	}{
		{0, 0, grants, "both missing is a new machine"},
		{0, 1, boot.IssueMissingRecord, "the state folder was lost"},
		{0, 2, boot.IssueMissingRecord, "the state folder was lost after this very install"},
		{0, 3, boot.IssueMissingRecord, "the state folder was lost, and the specs put back"},
		{1, 0, boot.IssueMissingRecord, "the folder of specs was made anew without its record"},
		{1, 1, grants, "both know the last install, and one more is asked for"},
		{1, 2, boot.IssueSessionLost, "the state folder was put back to before this install"},
		{1, 3, boot.IssueGenerationLowered, "the state folder was put back, and the generation lowered"},
		{2, 0, boot.IssueMissingRecord, "the folder of specs lost its record after this very install"},
		{2, 1, boot.IssueForeignRecord, "the folder of specs was put back to before this install"},
		{2, 2, boot.IssueSessionLost, "it was granted, and what came of it isn't known"},
		{2, 3, boot.IssueGenerationLowered, "the generation was lowered"},
		{3, 0, boot.IssueMissingRecord, "the folder of specs lost its record, and was put back"},
		{3, 1, boot.IssueForeignRecord, "the folder of specs was put back to long before"},
		{3, 2, boot.IssueSessionLost, "the folder of specs was put back"},
		{3, 3, boot.IssueGenerationLowered, "the generation was lowered below what both know"},
	}
	for _, tc := range cases {
		t.Run(fmt.Sprintf("State%dSpec%d", tc.state, tc.spec), func(t *testing.T) {
			r := newRig(t, all(2))
			r.put(filepath.Join(r.state, recordFile), tc.state)
			r.put(filepath.Join(r.dir, RecordFolder, recordFile), tc.spec)
			r.start()
			p := r.plan()
			if p == nil {
				t.Fatalf("%s: the machine isn't served:\n%s", tc.reason, r.said.String())
			}
			if got := r.grant() != nil; got != (tc.want == grants) {
				t.Errorf("%s: granted: %t\n%s", tc.reason, got, r.said.String())
			}
			if tc.want != grants && r.src.asked[p.EntryUID] != tc.want {
				t.Errorf("%s: reason %q, want %q", tc.reason, r.src.asked[p.EntryUID], tc.want)
			}
			if why := r.src.Why(p); (why == "") != (tc.want == grants) {
				t.Errorf("%s: who asks why nothing is installed is told %q", tc.reason, why)
			}
		})
	}
}

// TestRecordsOfOthers: records that name the machine or the entry in another way hold it, too.
func TestRecordsOfOthers(t *testing.T) {
	cases := map[string]struct {
		reason      string
		state, spec func(*grantLine)
		grants      bool
	}{
		"Renamed": {
			reason: "an entry under a new name is the same machine: its disk holds what the old name installed",
			state:  func(g *grantLine) { g.Entry, g.EntryUID = "lab/old", "old" }, spec: func(g *grantLine) { g.Entry, g.EntryUID = "lab/old", "old" },
		},
		"MoreNICs": {
			reason: "another set of MACs is another machine, until a person says that it's this one",
			state:  func(g *grantLine) { g.HostUID = "macs-other" }, spec: func(g *grantLine) { g.HostUID = "macs-other" },
		},
		"OtherGrant": {
			reason: "two records of one generation and different grants are of different lives",
			state:  func(g *grantLine) { g.GrantID = "00000000000000ff" },
		},
		"Issuing": {
			reason: "a grant that was on its way when bootd died doesn't go on where its session is lost",
			state:  func(g *grantLine) { g.Issuing = true },
		},
		"Another": {
			reason: "a machine of other MACs and another entry is none of this one's business",
			state:  func(g *grantLine) { g.EntryUID, g.HostUID, g.MACs = "x", "y", []boot.MAC{mac2} },
			spec:   func(g *grantLine) { g.EntryUID, g.HostUID, g.MACs = "x", "y", []boot.MAC{mac2} }, grants: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, all(1))
			some := func(f func(*grantLine)) func(*grantLine) {
				if f == nil {
					return func(*grantLine) {}
				}
				return f
			}
			r.put(filepath.Join(r.state, recordFile), 1, some(tc.state))
			r.put(filepath.Join(r.dir, RecordFolder, recordFile), 1, some(tc.spec))
			r.start()
			if got := r.grant() != nil; got != tc.grants {
				t.Errorf("%s: granted: %t\n%s", tc.reason, got, r.said.String())
			}
		})
	}
}

// TestInstallsOnce follows a machine: it's installed once, and never again by a restart, whatever was lost.
func TestInstallsOnce(t *testing.T) {
	spec := func(r *rig) string { return filepath.Join(r.dir, RecordFolder) }
	cases := map[string]struct {
		reason string
		report bool
		// loses happens between two lives of bootd.
		loses func(r *rig)
		asks  bool
		hold  bool
	}{
		"Restart":      {reason: "a restart changes nothing", report: true, loses: func(*rig) {}},
		"BeforeReport": {reason: "nor does one in the middle of the install", loses: func(*rig) {}},
		"State":        {reason: "a lost state folder asks", report: true, loses: func(r *rig) { r.state = t.TempDir() }, asks: true},
		"StateEarly":   {reason: "also in the middle of an install", loses: func(r *rig) { r.state = t.TempDir() }, asks: true},
		"Spec":         {reason: "a lost record beside the specs is made good by the session of a finished install", report: true, loses: func(r *rig) { remove(t, spec(r)) }},
		"SpecEarly":    {reason: "but not by one of an install that goes on", loses: func(r *rig) { remove(t, spec(r)) }, asks: true},
		"Both": {reason: "without sessions one record of what is installed isn't enough", report: true, loses: func(r *rig) {
			remove(t, spec(r))
			remove(t, filepath.Join(r.state, "sessions"))
		}, asks: true},
		"StateHeld":     {reason: "and an entry that sends nobody to its disk keeps its machine from it", hold: true, loses: func(r *rig) { r.state = t.TempDir() }, asks: true},
		"Sessions":      {reason: "lost sessions alone leave two records that say installed", report: true, loses: func(r *rig) { remove(t, filepath.Join(r.state, "sessions")) }},
		"SessionsEarly": {reason: "but not whether it was, in the middle of an install", loses: func(r *rig) { remove(t, filepath.Join(r.state, "sessions")) }, asks: true},
		"Log": {reason: "a lost log is made good by the record beside the specs", loses: func(r *rig) {
			remove(t, filepath.Join(r.state, "consumed.log"))
		}},
		"LogDamagedEarly": {reason: "with a damaged log no install starts, and a used grant is used all the same", loses: func(r *rig) {
			if err := os.WriteFile(filepath.Join(r.state, "consumed.log"), []byte("no line of a log\n"), 0o600); err != nil {
				r.t.Fatal(err)
			}
		}},
		"Renamed": {reason: "an entry of a new name asks", report: true, loses: func(r *rig) {
			r.write("a.yaml", strings.ReplaceAll(all(1), "name: m1}\nspec", "name: m2}\nspec"))
		}, asks: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			specs := all(1)
			if tc.hold {
				specs = strings.Replace(specs, "    install:", "    otherwise: Hold\n    install:", 1)
			}
			r := newRig(t, specs)
			r.start()
			r.install(tc.report)
			if g := r.grant(); g != nil {
				t.Fatalf("%s: granted again at once: %+v", tc.reason, g)
			}
			r.stop()
			tc.loses(r)
			r.start()
			if g := r.grant(); g != nil {
				t.Fatalf("%s: granted again: %+v\n%s", tc.reason, g, r.said.String())
			}
			if got := strings.Contains(r.said.String(), "NeedsConfirmation"); got != tc.asks {
				t.Errorf("%s: asks: %t\n%s", tc.reason, got, r.said.String())
			}
			if got := r.src.Asks(r.plan()); got != tc.asks {
				t.Errorf("%s: it's said that it asks: %t", tc.reason, got)
			}
			if tc.hold && r.told(mac1) != boot.AnswerHold {
				t.Errorf("%s: %s", tc.reason, r.told(mac1))
			}
			if name == "LogDamagedEarly" {
				r.turn()
				r.turn()
				if n := strings.Count(r.said.String(), "a session can't be compared with the log"); n != 1 {
					t.Errorf("%s: it's said %d times\n%s", tc.reason, n, r.said.String())
				}
			}
			if early := strings.HasSuffix(name, "Early"); early && r.told(mac1) != boot.AnswerLocalDisk {
				t.Errorf("%s: a machine whose used grant is known doesn't go on to its disk: %s", tc.reason, r.told(mac1))
			}
			if tc.report {
				if p := r.plan(); boot.Decide(boot.Facts{Now: r.now(), Plan: p, Session: nil, Synced: true, Arch: boot.AMD64}).Answer != boot.AnswerLocalDisk && name != "Renamed" {
					t.Errorf("%s: an installed machine doesn't boot its disk", tc.reason)
				}
			}
		})
	}
}

// TestBackupOfTheState: a state folder that is put back to a moment between grant and use has everything that an install takes, but
// for what the record beside the specs knows.
func TestBackupOfTheState(t *testing.T) {
	r := newRig(t, all(1))
	r.start()
	if r.grant() == nil {
		t.Fatal("nothing is granted")
	}
	backup := filepath.Join(t.TempDir(), "state")
	if err := os.CopyFS(backup, os.DirFS(r.state)); err != nil {
		t.Fatal(err)
	}
	r.install(false)
	r.stop()
	r.state = backup
	r.start()
	if g := r.grant(); g != nil {
		t.Errorf("what was used is granted again by an old state folder: %+v", g)
	}
	if s := r.src.session(r.plan().Entry); s == nil || len(r.m.Logged(r.plan().EntryUID, r.plan().HostUID)) != 1 {
		t.Errorf("the log doesn't know what was used: %+v", s)
	}
}

func TestRaisedIsInstalledAgain(t *testing.T) {
	r := newRig(t, all(1))
	r.start()
	r.install(true)
	r.write("a.yaml", all(2))
	r.turn()
	g := r.grant()
	if g == nil || g.Generation != 2 {
		t.Fatalf("%+v\n%s", g, r.said.String())
	}
	r.write("a.yaml", all(1))
	r.turn()
	if g := r.grant(); g != nil {
		t.Errorf("a lowered generation grants nothing: %+v", g)
	}
	r.says("GenerationLowered")
}

// TestEditedPlan: a grant that isn't used is of the plan as it is now, under another id.
func TestEditedPlan(t *testing.T) {
	r := newRig(t, all(1))
	r.start()
	before := r.grant()
	r.write("a.yaml", strings.Replace(all(1), "method: DiskImage", "method: DiskImage\n  commandLine: [quiet]", 1))
	r.turn()
	after := r.grant()
	if before == nil || after == nil || before.ID == after.ID || after.PlanDigest != r.plan().Digest() {
		t.Errorf("before %+v, after %+v\n%s", before, after, r.said.String())
	}
}

// TestWhileItIsWritten: nothing is granted by a folder that is changing.
func TestWhileItIsWritten(t *testing.T) {
	r := newRig(t, all(1))
	r.start(func(o *Options) { o.Still = time.Hour })
	if r.plan() == nil || r.grant() != nil {
		t.Errorf("it's served at once, and installed once it's still: %+v", r.grant())
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}
