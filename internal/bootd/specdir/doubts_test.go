package specdir

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"
)

// TestContestKept: what a file said of a machine's MAC goes on to contest it while that file is wrong or empty, also where another file has
// that machine with another MAC: a third one's entry would be installed on a machine that runs.
func TestContestKept(t *testing.T) {
	for name, tc := range map[string]struct{ copied, becomes string }{
		"EmptyBehind":   {"n.yaml", ""},
		"WrongBehind":   {"n.yaml", "a: b\n c: d\n"},
		"EmptyBefore":   {"a.yaml", ""},
		"WrongBefore":   {"a.yaml", "a: b\n c: d\n"},
		"OnlyDocuments": {"n.yaml", "\ufeff---\n---\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "")
			r.write("net.yaml", sharedYAML)
			r.write("m.yaml", entryYAML("m1", mac1, "10.77.0.11", 0)) // It runs, and was never installed by us.
			r.start()
			r.write(tc.copied, entryYAML("m1", mac2, "10.77.0.12", 0))
			r.write("p.yaml", entryYAML("m3", mac1, "10.77.0.13", 1))
			r.turn()
			r.write("m.yaml", tc.becomes)
			for range 20 {
				r.turn()
				if g := r.grant(); g != nil {
					t.Fatalf("%s's MAC is %s's now, and granted %+v\n%s", mac1, r.plan().Entry, g, r.said.String())
				}
			}
			r.says("as it stood at " + r.dir + "/m.yaml:1 before that file was wrong or empty, wanted MAC " + mac1 + ", too; nothing is installed on that machine until that file is right again, or removed")
			remove(t, r.dir+"/m.yaml")
			if g := r.granted(); g == nil {
				t.Errorf("it's gone on purpose, and nothing is granted\n%s", r.said.String())
			}
		})
	}
}

// TestEmptyUnknown: what an empty file said before isn't known at a start without a snapshot either: nothing is installed by a copy.
func TestEmptyUnknown(t *testing.T) {
	r := newRig(t, "")
	r.write("net.yaml", sharedYAML)
	r.write("m.yaml", entryYAML("m1", mac1, "10.77.0.11", 0))
	r.start()
	r.stop() // Its snapshot is lost.
	r.write("m.yaml", "")
	r.write("z.yaml", entryYAML("m1", mac1, "10.77.0.11", 1))
	r.start()
	for range 20 {
		r.turn()
	}
	if g := r.grant(); g != nil {
		t.Errorf("granted %+v\n%s", g, r.said.String())
	}
	r.says("m.yaml is empty, as one that is being written; nothing is installed by this folder until")
	r.write("m.yaml", "# moved to z.yaml\n")
	if g := r.granted(); g == nil {
		t.Errorf("it's right again, and nothing is granted\n%s", r.said.String())
	}
}

// TestWrittenForLong: a folder in which a file is being written isn't still, be it for longer than that takes: its end may say what nobody knows yet.
func TestWrittenForLong(t *testing.T) {
	for name, first := range map[string]string{
		"Empty": "", "Comment": "# x\n", "Another": entryYAML("m2", mac2, "10.77.0.12", 0),
	} {
		t.Run(name, func(t *testing.T) {
			const still = 200 * time.Millisecond
			r := newRig(t, "")
			r.write("net.yaml", sharedYAML)
			r.write("m.yaml", entryYAML("m1", mac1, "10.77.0.11", 0))
			r.start(func(o *Options) { o.Still = still })
			r.write("z.yaml", first)
			r.turn()
			f, err := os.OpenFile(r.dir+"/z.yaml", os.O_WRONLY|os.O_APPEND, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = f.Close() }()
			end := writing(t, f)
			r.write("m.yaml", entryYAML("m1", mac1, "10.77.0.11", 1))
			for began := time.Now(); time.Since(began) < 4*still; time.Sleep(5 * time.Millisecond) {
				r.turn()
				if g := r.grant(); g != nil && end() < still/2 {
					t.Fatalf("granted after %s, while z.yaml is being written\n%s", time.Since(began), r.said.String())
				}
			}
			end()
			if _, err := f.WriteString("---\n" + entryYAML("m3", mac1, "10.77.0.13", 0)); err != nil {
				t.Fatal(err)
			}
			for began := time.Now(); time.Since(began) < 3*still; time.Sleep(5 * time.Millisecond) {
				r.turn()
			}
			if g := r.grant(); g != nil {
				t.Errorf("another one wants its MAC, and it's granted %+v\n%s", g, r.said.String())
			}
		})
	}
}

// writing has comments be written to a file without a pause, after some megabytes, so that it's another one whenever it was read. end ends that, and says
// how long the longest pause was nevertheless.
func writing(t *testing.T, f *os.File) (end func() time.Duration) {
	t.Helper()
	row := []byte("# " + strings.Repeat("x", 61) + "\n")
	if _, err := f.Write(bytes.Repeat(row, 1<<17)); err != nil {
		t.Fatal(err)
	}
	stop, longest := make(chan struct{}), make(chan time.Duration, 1)
	go func() {
		most, last := time.Duration(0), time.Now()
		for {
			select {
			case <-stop:
				longest <- max(most, time.Since(last))
				return
			default:
			}
			_, _ = f.Write(row)
			time.Sleep(50 * time.Microsecond)
			most, last = max(most, time.Since(last)), time.Now()
		}
	}()
	ended, took := false, time.Duration(0)
	return func() time.Duration {
		if !ended {
			close(stop)
			ended, took = true, <-longest
		}
		return took
	}
}
