package specdir

import (
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestOtherServer: a copy of the folder on another host knows nothing of what is installed here, nor this one of what is installed
// there. No restart forgets that, nor does one lost folder, nor another name of the entry; a person's word ends it.
func TestOtherServer(t *testing.T) {
	other := "10.77.0.9"
	cases := map[string]struct {
		reason string
		then   func(r *rig)
		grants bool
	}{
		"AtOnce":  {reason: "a machine that another server answers isn't installed", then: func(*rig) {}},
		"Restart": {reason: "nor after a restart", then: func(r *rig) { r.stop(); r.start() }},
		"Backup": {reason: "nor by a state folder of before", then: func(r *rig) {
			r.stop()
			without(r, filepath.Join(r.state, recordFile))
			r.start()
		}},
		"OldSpecs": {reason: "nor by a record beside the specs of before", then: func(r *rig) {
			r.stop()
			without(r, filepath.Join(r.dir, RecordFolder, recordFile))
			r.start()
		}},
		"Renamed": {reason: "nor by another name", then: func(r *rig) {
			r.write("a.yaml", strings.ReplaceAll(all(2), "name: m1}\nspec", "name: m2}\nspec"))
			r.stop()
			r.start()
		}},
		"Raised": {reason: "nor for a raised generation", then: func(r *rig) { r.write("a.yaml", all(2)); r.stop(); r.start() }},
		"Peer": {reason: "one that is meant to answer installs nothing", grants: true, then: func(r *rig) {
			r.stop()
			r.start(func(o *Options) { o.Peers = []string{other} })
		}},
		"PeerOfTwo": {reason: "which says nothing of the other one", then: func(r *rig) {
			r.src.OtherServer(r.plan(), "10.77.0.8")
			r.turn()
			r.stop()
			r.start(func(o *Options) { o.Peers = []string{"10.77.0.8"} })
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, all(1))
			r.start()
			if r.grant() == nil {
				t.Fatal("nothing is granted")
			}
			r.src.OtherServer(r.plan(), other)
			r.src.OtherServer(r.plan(), other)
			if r.grant() != nil {
				t.Error("it's granted before it's written down")
			}
			r.turn()
			tc.then(r)
			r.turn()
			if r.plan() == nil || (r.grant() != nil) != tc.grants {
				t.Errorf("%s: served %v, granted %v\n%s", tc.reason, r.plan(), r.grant(), r.said.String())
			}
			r.says("--peer 10.77.0.9", "bootd confirm lab/m1 --mac "+mac1)
			if why := r.src.Why(r.plan()); strings.Contains(why, "NeedsConfirmation: it took the address of another DHCP server") == tc.grants {
				t.Errorf("%s: who asks why is told %q", tc.reason, why)
			}
		})
	}
}

// TestOtherServerSix: of a server of DHCPv6 its DUID is known, and once that is given it's a peer. An earlier version wrote :: of each.
func TestOtherServerSix(t *testing.T) {
	for name, server := range map[string]string{"DUID": "duid:000400112233", "Earlier": "::"} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, all(1))
			r.start()
			r.src.OtherServer(r.plan(), server)
			r.turn()
			r.says(server, map[string]string{"DUID": "start bootd with --peer duid:000400112233 if that server is meant", "Earlier": "bootd confirm lab/m1 --mac " + mac1 + " keeps the machine as it runs; which server"}[name])
			if b, err := os.ReadFile(filepath.Join(r.state, recordFile)); err != nil || !strings.Contains(string(b), `"server":"::"`) {
				t.Errorf("an earlier version, which knows addresses alone, doesn't understand it: %s, %v", b, err)
			}
			r.stop()
			r.start(func(o *Options) { o.Peers = []string{"fd00:77::3", "duid:000400112233"} })
			r.turn()
			if granted := r.grant() != nil; granted != (name == "DUID") {
				t.Errorf("once its address is given: granted %t", granted)
			}
		})
	}
}

// without takes what is known of another server out of a record, as a copy of before has it.
func without(r *rig, path string) {
	r.t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		r.t.Fatal(err)
	}
	lines := strings.SplitAfter(string(b), "\n")
	fewer := slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return strings.Contains(l, "elsewhere") })
	if len(fewer) == len(lines) {
		r.t.Errorf("%s doesn't know of the other server", path)
	}
	if err := os.WriteFile(path, []byte(strings.Join(fewer, "")), 0o600); err != nil { //nolint:gosec // A test's own folder.
		r.t.Fatal(err)
	}
}

// TestOtherServerConfirmed: a person's word keeps the machine as it runs, for good; taking another's offer once more needs another word.
func TestOtherServerConfirmed(t *testing.T) {
	for _, generation := range []int{0, 1} {
		r := newRig(t, all(generation))
		r.start()
		r.src.OtherServer(r.plan(), "10.77.0.9")
		r.turn()
		if _, err := r.src.adopt(r.src.world.numbered(0)); err != nil {
			t.Fatalf("generation %d: %v", generation, err)
		}
		r.turn()
		if r.grant() != nil || r.src.answeredElsewhere(r.plan().EntryUID) {
			t.Errorf("generation %d: granted %v by a confirmation, or still asked about", generation, r.grant())
		}
		r.stop()
		r.start()
		if r.grant() != nil || r.src.answeredElsewhere(r.plan().EntryUID) {
			t.Errorf("generation %d: granted %v, or asked about again after a restart", generation, r.grant())
		}
		r.write("a.yaml", all(generation+1))
		if g := r.granted(); g == nil || g.Generation != int64(generation)+1 {
			t.Fatalf("generation %d: raising it installs: %+v\n%s", generation, g, r.said.String())
		}
		r.src.OtherServer(r.plan(), "10.77.0.9")
		r.turn()
		r.stop()
		r.start()
		if r.grant() != nil {
			t.Errorf("generation %d: it's installed though it took another's offer after the confirmation", generation)
		}
	}
}

// TestOtherServers: whoever forges requests doesn't fill the records.
func TestOtherServers(t *testing.T) {
	r := newRig(t, all(1))
	r.start()
	before := r.src.site.lines()
	a := netip.MustParseAddr("10.77.1.1")
	for range 1000 {
		r.src.OtherServer(r.plan(), a.String())
		a = a.Next()
	}
	r.turn()
	if n := r.src.site.lines() - before; n == 0 || n > 2*maxElsewhere {
		t.Errorf("%d lines", n)
	}
}

// TestOtherServerNoInstall: one that installs nothing remembers it in its state folder alone: the folder of specs isn't its own.
func TestOtherServerNoInstall(t *testing.T) {
	r := newRig(t, all(1))
	r.start(func(o *Options) { o.NoInstall = true })
	r.src.OtherServer(r.plan(), "10.77.0.9")
	r.turn()
	if exists(filepath.Join(r.dir, RecordFolder)) {
		t.Error("it writes beside the specs")
	}
	r.stop()
	r.start()
	if r.grant() != nil {
		t.Error("one that took its place forgot")
	}
}

// TestOtherServerBeforeTheEnd: what is heard just before bootd ends isn't lost, also where it never read its folder.
func TestOtherServerBeforeTheEnd(t *testing.T) {
	r := newRig(t, all(1))
	r.start()
	p := r.plan()
	r.stop()
	r.start(func(o *Options) { o.Dir = t.TempDir() }) // An empty one: an earlier life's plans are served.
	r.src.OtherServer(p, "10.77.0.9")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.src.Run(ctx); err != nil {
		t.Fatal(err)
	}
	r.stop()
	r.start()
	if r.grant() != nil {
		t.Error("it's forgotten")
	}
}
