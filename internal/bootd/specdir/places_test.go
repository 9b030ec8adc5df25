package specdir

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestOnePlaceIsFull: where one of the two records can't be written, the other isn't written again and again meanwhile.
func TestOnePlaceIsFull(t *testing.T) {
	r := newRig(t, all(1))
	r.start()
	g, p := r.grant(), r.plan()
	if g == nil {
		t.Fatal("nothing is granted")
	}
	c := boot.Claims{Kind: boot.TokenBoot, Entry: boot.KeyOf(p.EntryUID), GrantID: g.ID, Nonce: "00000000000000b1"}
	if err := errors.Join(r.m.Open(t.Context(), p, c, boot.Exchange{Began: r.now(), GrantID: g.ID}), r.m.Consume(t.Context(), p, c)); err != nil {
		t.Fatal(err)
	}
	before := r.src.site.state.count()
	r.src.site.spec.close()
	if _, err := r.m.Report(t.Context(), p, c, true, ""); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		r.src.turned = time.Time{}
		r.turn()
	}
	if n := r.src.site.state.count() - before; n != 1 {
		t.Errorf("%d lines were written about one install", n)
	}
}

// TestReplacedRecord: a copy of a record in its place, of the same size and time, isn't the one that is written.
func TestReplacedRecord(t *testing.T) {
	r := newRig(t, all(1))
	r.start()
	path := filepath.Join(r.dir, RecordFolder, recordFile)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	i, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(
		os.WriteFile(path+".copy", b, 0o600), //nolint:gosec // A test's own folder.
		os.Chtimes(path+".copy", i.ModTime(), i.ModTime()), os.Rename(path+".copy", path),
	)
	if err != nil {
		t.Fatal(err)
	}
	r.turn()
	if r.grant() != nil {
		t.Error("what is written goes to a file that nobody will read again, and installs go on")
	}
	r.says("was changed by somebody else")
}

// TestStateOfACluster: a state folder that knows of used grants and of none that was given here is of another life. Each machine would
// look new.
func TestStateOfACluster(t *testing.T) {
	r := newRig(t, all(1))
	if err := os.WriteFile(filepath.Join(r.state, "consumed.log"), []byte(`{"consumption":{"GrantID":"00000000000000aa","EntryUID":"x"}}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r.start()
		if r.plan() == nil || r.grant() != nil {
			t.Errorf("served %+v, granted %+v", r.plan(), r.grant())
		}
		r.stop()
	}
	r.says("the state folder is of a bootd of a cluster")
}

// TestGitLeavesTheRecordAlone: a clean of a checkout doesn't take it away.
func TestGitLeavesTheRecordAlone(t *testing.T) {
	r := newRig(t, all(1))
	r.start()
	b, err := os.ReadFile(filepath.Join(r.dir, RecordFolder, ".gitignore"))
	if err != nil || string(b) != "*\n" {
		t.Errorf("%q, %v", b, err)
	}
}

// TestConfirmIsRefused: a bootd that installs nothing says so to the one who confirms.
func TestConfirmIsRefused(t *testing.T) {
	r := newRig(t, all(1))
	r.start(func(o *Options) { o.NoInstall = true })
	got := make(chan error, 1)
	go func() {
		_, err := Confirm(r.state, "lab/m1", mac1, 10*time.Second)
		got <- err
	}()
	for {
		select {
		case err := <-got:
			if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), fenceNoInstall) {
				t.Error(err)
			}
			return
		default:
			r.turn()
		}
	}
}

// TestRenamedBootsItsDisk: an entry under a new name asks, and its machine boots the disk that a record knows of meanwhile.
func TestRenamedBootsItsDisk(t *testing.T) {
	for name, text := range map[string]string{
		"Renamed":  entryYAML("m9", mac1, "10.77.0.11", 1),
		"OneMore":  strings.Replace(entryYAML("m1", mac1, "10.77.0.11", 1), `"]}`, `", "`+mac2+`"]}`, 1),
		"RaisedTo": entryYAML("m9", mac1, "10.77.0.11", 2),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, all(1))
			r.start()
			r.install(true)
			r.write("a.yaml", strings.Join([]string{networkYAML, profileYAML, givenYAML, text}, "---\n"))
			r.turn()
			if got := r.told(mac1); got != boot.AnswerLocalDisk || r.grant() != nil {
				t.Errorf("it's told %q\n%s", got, r.said.String())
			}
			r.says("NeedsConfirmation")
		})
	}
}

// TestBlocked: what bootd must remember can't be read.
func TestBlocked(t *testing.T) {
	r := newRig(t, all(1))
	r.start(func(o *Options) { o.Blocked = "line 1 is damaged" })
	if r.plan() == nil || r.grant() != nil {
		t.Errorf("served %+v, granted %+v", r.plan(), r.grant())
	}
	r.says("line 1 is damaged")
}
