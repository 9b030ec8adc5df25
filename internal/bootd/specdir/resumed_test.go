package specdir

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestResumedGoesOn changes a folder that wasn't read: what came alone is taken in alone, all else as if the folder had been read.
func TestResumedGoesOn(t *testing.T) {
	const mac3, at3 = "52:54:00:00:00:03", "10.77.0.13"
	install := profileYAML + "---\n" + givenYAML
	cases := map[string]struct {
		reason, file, text string
		alone              bool
		told               map[boot.MAC]boot.Answer
	}{
		"Entry":      {reason: "a new machine", text: liveEntry("m3", mac3, at3), alone: true, told: map[boot.MAC]boot.Answer{mac1: boot.AnswerLive, mac3: boot.AnswerLive}},
		"Longer":     {reason: "behind what stood in a file", file: "a.yaml", text: hallYAML() + "---\n" + liveEntry("m3", mac3, at3), alone: true, told: map[boot.MAC]boot.Answer{mac3: boot.AnswerLive}},
		"Name":       {reason: "there already", text: liveEntry("m1", mac3, at3), told: map[boot.MAC]boot.Answer{mac1: boot.AnswerLive, mac3: ""}},
		"MAC":        {reason: "another's", text: liveEntry("m3", mac1, at3), told: map[boot.MAC]boot.Answer{mac1: boot.AnswerLive}},
		"Address":    {reason: "another's", text: liveEntry("m3", mac3, "10.77.0.11"), told: map[boot.MAC]boot.Answer{mac1: boot.AnswerLive, mac3: ""}},
		"Unserved":   {reason: "its profile isn't there", text: strings.Replace(liveEntry("m3", mac3, at3), "name: live", "name: none", 1), told: map[boot.MAC]boot.Answer{mac3: ""}},
		"Install":    {reason: "what an install rests on comes, too", text: install + "---\n" + entryYAML("m3", mac3, at3, 1), told: map[boot.MAC]boot.Answer{mac1: boot.AnswerLive, mac3: boot.AnswerInstall}},
		"MACInstall": {reason: "an install of another's machine", text: install + "---\n" + entryYAML("m3", mac1, at3, 1), told: map[boot.MAC]boot.Answer{mac1: boot.AnswerLive}},
		"Changed": {
			reason: "a machine of before is to be installed", file: "a.yaml", text: strings.Replace(hallYAML(), liveEntry("m1", mac1, "10.77.0.11"), entryYAML("m1", mac1, "10.77.0.11", 1)+"---\n"+install, 1),
			told: map[boot.MAC]boot.Answer{mac1: boot.AnswerInstall, mac2: boot.AnswerLive},
		},
		"Wrong": {reason: "a file becomes wrong", file: "a.yaml", text: strings.Replace(hallYAML(), "name: m1", "nane: m1", 1), told: map[boot.MAC]boot.Answer{mac1: boot.AnswerLive, mac2: boot.AnswerLive}},
		"Less":  {reason: "a machine is taken out", file: "a.yaml", text: networkYAML + "---\n" + liveYAML + "---\n" + liveEntry("m2", mac2, "10.77.0.12"), told: map[boot.MAC]boot.Answer{mac1: "", mac2: boot.AnswerLive}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, hallYAML())
			r.live()
			r.ends()
			r.live()
			if !r.src.taken {
				t.Fatal(r.said.String())
			}
			file := tc.file
			if file == "" {
				file = "z.yaml"
			}
			r.write(file, tc.text)
			r.src.read()
			if r.src.stale == tc.alone {
				t.Errorf("%s: taken in alone: %t, want %t", tc.reason, !r.src.stale, tc.alone)
			}
			for range 3 {
				r.turn()
			}
			if diff := differs(r.src); diff != "" {
				t.Error(diff)
			}
			for mac, want := range tc.told {
				if got := r.told(mac); got != want {
					t.Errorf("%s: %s is told %q, want %q\n%s", tc.reason, mac, got, want, r.said.String())
				}
			}
		})
	}
}

// TestResumedStill: nothing is granted by a folder that wasn't read until it has been still, and what is missing shortly after is as after any start.
func TestResumedStill(t *testing.T) {
	r := newRig(t, hallYAML())
	r.live()
	r.ends()
	r.live(func(o *Options) { o.Still = time.Hour })
	r.write("a.yaml", strings.Join([]string{networkYAML, liveYAML, liveEntry("m1", mac1, "10.77.0.11")}, "---\n"))
	r.turn()
	if _, ok := r.src.State().ByMAC(mac2); ok || r.plan() == nil {
		t.Errorf("all machines were there at the start, and one that's taken out now is still served: %t", ok)
	}
	r.write("z.yaml", profileYAML+"---\n"+givenYAML+"---\n"+entryYAML("m3", "52:54:00:00:00:03", "10.77.0.13", 1))
	for range 3 {
		r.turn()
	}
	if got := r.told("52:54:00:00:00:03"); got != boot.AnswerHold || len(r.src.store.All()) != 0 {
		t.Errorf("it's told %q", got)
	}
	remove(t, filepath.Join(r.dir, "a.yaml"))
	remove(t, filepath.Join(r.dir, "z.yaml"))
	r.turn()
	if r.plan() == nil || r.told(mac1) == boot.AnswerInstall {
		t.Error("a folder that's suddenly empty takes addresses away")
	}
	r.says("is suddenly empty")
}

// TestResumedPacked goes on with a file of so many machines that their texts are packed.
func TestResumedPacked(t *testing.T) {
	const machines = 200
	docs := []string{networkYAML, liveYAML}
	for n := range machines {
		docs = append(docs, strings.Replace(liveEntry(fmt.Sprintf("m%d", n), fmt.Sprintf("52:54:00:00:01:%02x", n), fmt.Sprintf("10.77.0.%d", 10+n)),
			"{namespace", "{annotations: {a: "+strings.Repeat("x", 200)+"}, namespace", 1))
	}
	text := strings.Join(docs, "---\n")
	r := newRig(t, text)
	r.live()
	r.ends()
	r.live()
	r.write("0.yaml", liveEntry("early", mac2, "10.77.0.248"))
	r.turn()
	r.ends()
	r.live()
	if c := r.src.folder.files["a.yaml"]; !r.src.taken || len(c.packed) == 0 || c.objects != nil || r.src.State().Len() != machines+1 {
		t.Fatalf("%d bytes are packed, %d objects are made\n%s", len(c.packed), len(c.objects), r.said.String())
	}
	steps := []struct{ reason, file, text string }{
		{"one more", "b.yaml", liveEntry("late", mac1, "10.77.0.250")},
		{"one more behind the others", "a.yaml", text + "---\n" + liveEntry("later", "52:54:00:00:00:03", "10.77.0.251")},
		{"one that is there twice, and another", "c.yaml", strings.Replace(docs[3], "10.77.0.11", "10.77.0.249", 1)},
		{"one of many is wrong: it's kept", "a.yaml", strings.Replace(text, "name: m7}", "name: [m7]}", 1)},
		{"all is right again", "a.yaml", text},
	}
	for _, s := range steps {
		r.write(s.file, s.text)
		r.turn()
		if diff := differs(r.src); diff != "" {
			t.Fatalf("%s: %s", s.reason, diff)
		}
	}
	if n := r.src.State().Len(); n < machines {
		t.Errorf("%d machines", n)
	}
	remove(t, filepath.Join(r.dir, "c.yaml"))
	r.turn()
	r.ends()
	r.live()
	if diff := r.like(); !r.src.taken || diff != "" {
		t.Errorf("the next life: %t %s", r.src.taken, diff)
	}
}

// plainly gives documents of a file: mostly machines that install nothing, and few names, MACs and addresses.
func plainly(r *rand.Rand, n int) string {
	const some = 200
	docs := make([]string, 0, 4)
	for range 1 + r.IntN(3) {
		m := n*10 + r.IntN(10)
		name, mac, at := fmt.Sprintf("m%d", m), fmt.Sprintf("52:54:00:00:00:%02x", m%some), fmt.Sprintf("10.77.0.%d", 10+m%some)
		switch r.IntN(120) {
		case 0:
			docs = append(docs, profileYAML, givenYAML, entryYAML(name, mac, at, r.IntN(2)))
		case 1:
			docs = append(docs, strings.Replace(liveEntry(name, mac, at), "name: live", "name: none", 1))
		case 2:
			docs = append(docs, strings.Replace(networkYAML, "rack", "other", 1))
		case 3:
			docs = append(docs, liveEntry(name, fmt.Sprintf("52:54:00:00:00:%02x", r.IntN(some)), at))
		case 4:
			docs = append(docs, liveEntry(name, mac, fmt.Sprintf("10.77.0.%d", 10+r.IntN(some))))
		case 5:
			docs = append(docs, "kind: [\n")
		default:
			docs = append(docs, liveEntry(name, mac, at))
		}
	}
	return strings.Join(docs, "---\n")
}

// twins are two bootds with folders that say the same: one ends now and then and goes on from what it kept, the other reads.
type twins struct {
	t             *testing.T
	ends, stays   *rig
	resumed, read int
}

func (w *twins) write(name, text string) {
	for _, r := range []*rig{w.ends, w.stays} {
		if text != "" {
			r.write(name, text)
		} else if err := os.Remove(filepath.Join(r.dir, name)); err != nil {
			w.t.Fatal(err)
		}
		r.turn()
	}
	w.ends.clock.Store(w.stays.clock.Load())
}

// restart ends the one, and starts it again. Where it has to read its folder the other one does, too.
func (w *twins) restart() {
	w.ends.ends()
	w.ends.live()
	if w.ends.src.taken {
		w.resumed++
		return
	}
	w.read++
	before := w.stays.src.State()
	w.stays.stop()
	w.stays.start(func(o *Options) { o.Before = before })
}

// said is what the one says, in words that don't name its folder.
func (r *rig) plainly(x any) string {
	b, err := json.MarshalIndent(x, "", " ")
	must(r.t, err)
	return strings.ReplaceAll(string(b), r.dir, "DIR")
}

// all that a source says and does of its machines.
func (r *rig) all() []string {
	k := r.src.known.Load()
	out := []string{
		r.plainly(r.src.world.problems), r.plainly(r.src.world.kept), r.plainly(r.src.world.earlier), r.plainly(r.src.world.segments), r.plainly(r.src.world.blind),
		r.plainly(r.src.world.ahead), r.plainly(k.doubtful), r.plainly(k.held), r.plainly(k.asked), r.plainly(r.src.State().Segments), r.plainly(r.src.State().Refused),
		r.plainly(slices.Sorted(maps.Keys(r.src.State().Sessions))), r.plainly(r.src.folder.said), r.plainly(r.src.said),
	}
	for _, p := range plansOf(&r.src.world) {
		p := *p
		p.Since = p.Since.Truncate(time.Second)
		out = append(out, r.plainly(p), p.Digest(), fmt.Sprint(p.MACs, r.src.Held(&p), r.src.Synced(&p), r.src.Why(&p)))
		for _, m := range p.MACs {
			out = append(out, string(m)+" "+string(r.told(m)))
		}
	}
	return out
}

// TestResumedAsRead changes folders, by fixed seeds, and restarts bootd in between: one that goes on from what it kept serves, grants and withholds
// what one does that never ended.
func TestResumedAsRead(t *testing.T) {
	resumed, read := 0, 0
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 11)) //nolint:gosec // The same each time.
		w := &twins{t: t, ends: newRig(t, hallYAML()), stays: newRig(t, hallYAML())}
		w.ends.live()
		w.stays.start()
		there := []string{"a.yaml"}
		for step := range 30 {
			name, text := fmt.Sprintf("f%d.yaml", step), plainly(r, step)
			switch r.IntN(8) {
			case 0:
				name = there[r.IntN(len(there))]
			case 1:
				i := r.IntN(len(there))
				name, text = there[i], ""
				there = slices.Delete(there, i, i+1)
			}
			if name == "a.yaml" || len(there) == 0 {
				text, there = hallYAML(), append(there, "a.yaml")
				name = "a.yaml"
			}
			w.write(name, text)
			if text != "" && !slices.Contains(there, name) {
				there = append(there, name)
			}
			if r.IntN(3) == 0 {
				w.restart()
			}
			if diff := cmp.Diff(w.stays.all(), w.ends.all(), cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("seed %d, step %d (%s): -read +resumed:\n%s", seed, step, name, diff)
			}
			if diff := differs(w.ends.src); diff != "" {
				t.Fatalf("seed %d, step %d (%s): %s", seed, step, name, diff)
			}
		}
		resumed, read = resumed+w.resumed, read+w.read
		w.ends.stop()
		w.stays.stop()
	}
	t.Logf("%d restarts without reading, %d with", resumed, read)
	if resumed < 10 || read < 10 {
		t.Errorf("%d restarts without reading, %d with: neither is tried", resumed, read)
	}
}
