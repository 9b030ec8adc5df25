package specdir

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestWatch says what a folder wakes for: files that are whole, come or go, and not those that are only just being written.
func TestWatch(t *testing.T) {
	r := newRig(t, all(1))
	r.start()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.src.watch(ctx)
	}()
	path := filepath.Join(r.dir, "b.yaml")
	woken := func(within time.Duration) bool {
		select {
		case <-r.src.poke:
			return true
		case <-time.After(within):
			return false
		}
	}
	calm := func() {
		for woken(50 * time.Millisecond) {
		}
	}
	calm()
	end := time.Now().Add(10 * time.Second)
	for r.write("b.yaml", givenYAML); !woken(10 * time.Millisecond); r.write("b.yaml", givenYAML) { // Until it watches.
		if time.Now().After(end) {
			t.Fatal("a file that was written wakes nobody")
		}
	}
	calm()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("x"); err != nil || woken(50*time.Millisecond) {
		t.Errorf("a file that is being written wakes somebody: %v", err)
	}
	if err := f.Close(); err != nil || !woken(10*time.Second) {
		t.Errorf("a file that is whole wakes nobody: %v", err)
	}
	beside := filepath.Join(r.dir, ".b.yaml")
	if err := os.WriteFile(beside, []byte(givenYAML), 0o600); err != nil || woken(50*time.Millisecond) {
		t.Errorf("a file that isn't one of specs wakes somebody: %v", err)
	}
	if err := os.Rename(beside, path); err != nil || !woken(10*time.Second) {
		t.Errorf("a file that comes into its place wakes nobody: %v", err)
	}
	if err := os.Rename(path, path+".gone"); err != nil || !woken(10*time.Second) {
		t.Errorf("a file that goes wakes nobody: %v", err)
	}
	cancel()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Error("it watches on")
	}
}

// TestConcerns: what an inotify says wakes who reads specs, or doesn't.
func TestConcerns(t *testing.T) {
	event := func(name string) []byte {
		padded := make([]byte, (len(name)+16)/16*16)
		copy(padded, name)
		if name == "" {
			padded = nil
		}
		return append(binary.NativeEndian.AppendUint32(make([]byte, 12, 64), uint32(len(padded))), padded...) //nolint:gosec // It's short.
	}
	cases := map[string]struct {
		reason string
		events [][]byte
		want   bool
	}{
		"Specs":    {"a file of specs", [][]byte{event("a.yaml")}, true},
		"Beside":   {"a file that is being made", [][]byte{event(".a.yaml")}, false},
		"Text":     {"a file of no specs", [][]byte{event("README.md"), event("4913")}, false},
		"Second":   {"one of several is enough", [][]byte{event(".a.yaml"), event("a.json")}, true},
		"Kubelet":  {"a ConfigMap's files are links", [][]byte{event("..data")}, true},
		"Overflow": {"there were too many to tell", [][]byte{event("")}, true},
		"None":     {"nothing", nil, false},
		"Half":     {"which no kernel says", [][]byte{event("a.yaml")[:14]}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := concerns(bytes.Join(tc.events, nil)); got != tc.want {
				t.Errorf("%s: %t", tc.reason, got)
			}
		})
	}
}

// TestRunServesSoon adds a machine to a folder that a source runs on, and waits for it.
func TestRunServesSoon(t *testing.T) {
	r := newRig(t, all(1))
	r.start()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.src.Run(ctx) }()
	r.write("b.yaml", entryYAML("m2", mac2, "10.77.0.12", 0))
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, ok := r.src.State().ByMAC(mac2); ok {
			break
		}
		if time.Now().After(end) {
			t.Fatal("it isn't served")
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// turning are keys that say when they're kept.
type turning struct {
	oneKey

	kept chan context.Context
}

func (k turning) Run(ctx context.Context) { k.kept <- ctx }

// TestRunTurnsKeys: while a source runs its keys are renewed, and no longer.
func TestRunTurnsKeys(t *testing.T) {
	r := newRig(t, all(1))
	keys := turning{"key", make(chan context.Context, 1)}
	r.start(func(o *Options) { o.Keys = keys })
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.src.Run(ctx) }()
	kept := <-keys.kept
	cancel()
	<-kept.Done()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
