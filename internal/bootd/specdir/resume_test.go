package specdir

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/snapshot"
)

const liveYAML = `apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootProfile
metadata: {namespace: lab, name: live}
spec:
  mode: Live
  method: Kernel
  artifacts: [{arch: amd64, kernel: {url: "http://x.example/k", digest: "` + kernel + `"}}]
`

// liveEntry is an entry of a machine that is never installed, and is given nothing.
func liveEntry(name, mac, address string) string {
	return fmt.Sprintf(`apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootEntry
metadata: {namespace: lab, name: %s}
spec:
  forProvider:
    machine: {macs: ["%s"]}
    profileRef: {name: live}
    networks: [{name: boot, networkRef: {name: rack}, addresses: [{address: %s/24}]}]
`, name, mac, address)
}

// hallYAML is a folder of two machines that install nothing.
func hallYAML() string {
	return strings.Join([]string{networkYAML, liveYAML, liveEntry("m1", mac1, "10.77.0.11"), liveEntry("m2", mac2, "10.77.0.12")}, "---\n")
}

// live is a bootd that starts with what lies in its state folder, as bootd does.
func (r *rig) live(change ...func(*Options)) {
	r.t.Helper()
	s := snapshot.In(r.state)
	before, _, err := s.Load()
	if err != nil {
		r.t.Log(err) // It starts without.
	}
	r.snap = s
	r.onNew = func(st *boot.State) {
		if st != before {
			s.Offer(st, [][]byte{[]byte("key")})
		}
	}
	r.start(append([]func(*Options){func(o *Options) {
		o.Before, o.Kept, o.Keep, o.Program = before, s.Beside, s.OfferBeside, "this one"
	}}, change...)...)
}

// ends is a bootd that is told to end.
func (r *rig) ends() {
	r.t.Helper()
	r.src.keep(0)
	r.stop()
	ctx, cancel := context.WithCancel(r.t.Context())
	cancel()
	if err := r.snap.Run(ctx, slog.New(slog.DiscardHandler)); err != nil {
		r.t.Fatal(err)
	}
}

// like says how a source differs from one that has read its folder anew.
func (r *rig) like() string {
	r.t.Helper()
	if diff := differs(r.src); diff != "" {
		return diff
	}
	anew := newFolder(r.dir, slog.New(slog.DiscardHandler))
	if _, err := anew.look(); err != nil {
		r.t.Fatal(err)
	}
	was := r.src.folder
	r.src.folder = anew
	defer func() { r.src.folder = was }()
	return differs(r.src)
}

// must fails a test on an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// again writes a file in place, and sets its times back to what they were.
func again(t *testing.T, path, text string) {
	t.Helper()
	i, err := os.Stat(path)
	must(t, err)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteAt([]byte(text), 0)
	must(t, err)
	must(t, f.Close())
	must(t, os.Chtimes(path, i.ModTime(), i.ModTime()))
	if now, err := os.Stat(path); err != nil || now.Size() != i.Size() || !now.ModTime().Equal(i.ModTime()) {
		t.Fatalf("%v, %v", now, err)
	}
}

// swap makes the folder a link to another one, which holds this.
func (r *rig) swap(text string) {
	r.t.Helper()
	was, other := r.dir, r.t.TempDir()
	must(r.t, os.WriteFile(filepath.Join(other, "a.yaml"), []byte(text), 0o600))
	must(r.t, os.Rename(was, was+".was"))
	must(r.t, os.Symlink(other, was))
}

// otherText is the folder with another address, which has as many letters.
func otherText() string { return strings.Replace(hallYAML(), "10.77.0.11", "10.77.0.99", 1) }

// TestResume stops bootd, changes something, and says whether the next start reads the folder.
func TestResume(t *testing.T) {
	a := func(r *rig) string { return filepath.Join(r.dir, "a.yaml") }
	cases := map[string]struct {
		reason  string
		change  func(t *testing.T, r *rig)
		start   func(o *Options)
		resumed bool
	}{
		"Same":     {reason: "nothing has changed", resumed: true},
		"Touched":  {reason: "its time isn't what a file says", change: func(t *testing.T, r *rig) { t.Helper(); r.write("a.yaml", hallYAML()) }, resumed: true},
		"Edited":   {reason: "another size and time", change: func(t *testing.T, r *rig) { t.Helper(); r.write("a.yaml", hallYAML()+"\n") }},
		"SameTime": {reason: "as long as it was, and its time was set back", change: func(t *testing.T, r *rig) { t.Helper(); again(t, a(r), otherText()) }},
		"Added": {reason: "a machine came", change: func(t *testing.T, r *rig) {
			t.Helper()
			r.write("b.yaml", liveEntry("m3", "52:54:00:00:00:03", "10.77.0.13"))
		}},
		"AddedWrong": {reason: "a wrong file came", change: func(t *testing.T, r *rig) { t.Helper(); r.write("b.yaml", "kind: [") }},
		"AddedOther": {reason: "what is no file of specs doesn't count", change: func(t *testing.T, r *rig) { t.Helper(); r.write("b.txt", "kind: [") }, resumed: true},
		"Removed":    {reason: "all is gone", change: func(t *testing.T, r *rig) { t.Helper(); remove(t, a(r)) }},
		"Renamed":    {reason: "the same in a file of another name", change: func(t *testing.T, r *rig) { t.Helper(); must(t, os.Rename(a(r), filepath.Join(r.dir, "z.yaml"))) }},
		"Pipe": {reason: "no file any more", change: func(t *testing.T, r *rig) {
			t.Helper()
			remove(t, a(r))
			must(t, unix.Mkfifo(a(r), 0o600))
		}},
		"Replaced": {reason: "another file in its place, of its size and time", change: func(t *testing.T, r *rig) {
			t.Helper()
			i, err := os.Stat(a(r))
			must(t, err)
			must(t, os.WriteFile(a(r)+".new", []byte(otherText()), 0o600))
			must(t, os.Chtimes(a(r)+".new", i.ModTime(), i.ModTime()))
			must(t, os.Rename(a(r)+".new", a(r)))
		}},
		"ReplacedBySame": {reason: "another file that says the same", change: func(t *testing.T, r *rig) {
			t.Helper()
			must(t, os.WriteFile(a(r)+".new", []byte(hallYAML()), 0o600))
			must(t, os.Rename(a(r)+".new", a(r)))
		}, resumed: true},
		"Swapped":       {reason: "the folder is another one", change: func(t *testing.T, r *rig) { t.Helper(); r.swap(otherText()) }},
		"SwappedBySame": {reason: "the folder is another one that says the same", change: func(t *testing.T, r *rig) { t.Helper(); r.swap(hallYAML()) }, resumed: true},
		"Moved": {reason: "bootd is given another folder", change: func(t *testing.T, r *rig) {
			t.Helper()
			r.dir = t.TempDir()
			r.write("a.yaml", hallYAML())
		}},
		"Program":      {reason: "another program may make other plans", start: func(o *Options) { o.Program = "another" }},
		"Labels":       {reason: "networks are served by them", start: func(o *Options) { o.Node = map[string]string{"a": "b"} }},
		"NoInstall":    {reason: "another way to serve", start: func(o *Options) { o.NoInstall = true }},
		"ClockForward": {reason: "a day later", change: func(t *testing.T, r *rig) { t.Helper(); r.pass(24 * time.Hour) }, resumed: true},
		"ClockBack":    {reason: "who came first isn't known", change: func(t *testing.T, r *rig) { t.Helper(); r.pass(-24 * time.Hour) }},
		"ClockBackEdited": {reason: "a file is edited in the same second once more", change: func(t *testing.T, r *rig) {
			t.Helper()
			r.pass(-24 * time.Hour)
			again(t, a(r), otherText())
			r.pass(24 * time.Hour)
		}},
		"Session": {reason: "an install is under way", change: func(t *testing.T, r *rig) {
			t.Helper()
			_, err := r.src.store.Create(boot.Name{Namespace: "lab", Name: "m1"}, uidOf(boot.Name{Namespace: "lab", Name: "m1"}), "s")
			must(t, err)
		}},
		"DamagedSession": {reason: "one may be", change: func(t *testing.T, r *rig) {
			t.Helper()
			must(t, os.WriteFile(filepath.Join(r.state, "sessions", "x.json"), []byte("{"), 0o600))
		}},
		"Record": {reason: "a machine was installed", change: func(t *testing.T, r *rig) {
			t.Helper()
			must(t, os.WriteFile(filepath.Join(r.state, recordFile), []byte(`{"installed":{"entry":"lab/m1","entryUID":"u","hostUID":"h","macs":["`+mac1+`"],"generation":1}}`+"\n"), 0o600))
		}},
		"DamagedRecord": {reason: "one may have been", change: func(t *testing.T, r *rig) {
			t.Helper()
			must(t, os.WriteFile(filepath.Join(r.dir, RecordFolder, recordFile), []byte("{\n"), 0o600))
		}},
		"List": {reason: "what was kept is damaged", change: func(t *testing.T, r *rig) {
			t.Helper()
			path := filepath.Join(r.state, "snapshot.source")
			b, err := os.ReadFile(path)
			must(t, err)
			b[len(b)/2] ^= 1
			must(t, os.WriteFile(path, b, 0o600)) //nolint:gosec // In a folder of this test's.
		}},
		"NoList":     {reason: "it's gone", change: func(t *testing.T, r *rig) { t.Helper(); remove(t, filepath.Join(r.state, "snapshot.source")) }},
		"NoSnapshot": {reason: "what was served is", change: func(t *testing.T, r *rig) { t.Helper(); remove(t, filepath.Join(r.state, "snapshot")) }},
		"Killed": {reason: "the list is that of the snapshot before", change: func(t *testing.T, r *rig) {
			t.Helper()
			r.snap.Offer(r.src.State(), nil)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			must(t, r.snap.Run(ctx, slog.New(slog.DiscardHandler)))
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, hallYAML())
			r.live()
			r.ends()
			if tc.change != nil {
				tc.change(t, r)
			}
			if tc.start == nil {
				tc.start = func(*Options) {}
			}
			said := len(r.said.String())
			r.live(tc.start)
			if r.src.taken != tc.resumed {
				t.Errorf("%s: resumed: %t, want %t\n%s", tc.reason, r.src.taken, tc.resumed, r.said.String()[said:])
			}
			if _, err := os.Stat(a(r)); err != nil || name == "Pipe" {
				return
			}
			if diff := r.like(); diff != "" {
				t.Errorf("%s: %s", tc.reason, diff)
			}
			if p := r.plan(); !r.src.Ready() || p == nil || r.src.Synced(p) {
				t.Errorf("%s: it's the folder's state, and grants nothing: %+v", tc.reason, p)
			}
		})
	}
}

// TestKeptNot: what has to do with an install, a Secret, a doubt or a fault is read at each start.
func TestKeptNot(t *testing.T) {
	const mac3 = "52:54:00:00:00:03"
	cases := map[string]struct {
		reason, file, text string
	}{
		"Install":    {reason: "a machine is to be installed", text: entryYAML("m3", mac3, "10.77.0.13", 1) + "---\n" + profileYAML + "---\n" + givenYAML},
		"Generation": {reason: "and be it a Live one that says so", text: liveEntry("m3", mac3, "10.77.0.13") + "    install: {generation: 1}\n"},
		"Secret":     {reason: "nothing of it lies in the state folder, also where nobody asks for it", text: givenYAML},
		"Given":      {reason: "a machine is given something", text: strings.Replace(liveEntry("m3", mac3, "10.77.0.13")+"    userDataSecretRef: {name: m1, key: userData}\n---\n"+givenYAML, "---\n---", "---", 1)},
		"Wrong":      {reason: "a file is wrong", text: "kind: ["},
		"Foreign":    {reason: "and be it no machine", text: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"},
		"Unserved":   {reason: "an entry isn't served", text: strings.Replace(liveEntry("m3", mac3, "10.77.0.13"), "name: live", "name: none", 1)},
		"MAC":        {reason: "two want one MAC", text: liveEntry("m3", mac1, "10.77.0.13")},
		"Address":    {reason: "two want one address", text: liveEntry("m3", mac3, "10.77.0.11")},
		"Twice":      {reason: "one is there twice", text: liveEntry("m1", mac1, "10.77.0.11")},
		"Network":    {reason: "a network is wrong", text: strings.Replace(networkYAML, "10.77.0.0/24", "10.77.0.0/33", 1)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, hallYAML())
			r.write("b.yaml", tc.text)
			r.live()
			r.ends()
			b, err := os.ReadFile(filepath.Join(r.state, "snapshot.source"))
			if err == nil || len(b) > 0 {
				t.Errorf("%s: it's kept", tc.reason)
			}
			r.live()
			if r.src.taken {
				t.Errorf("%s: it isn't read", tc.reason)
			}
		})
	}
}
