package specdir

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/snapshot"
)

const (
	kernel = "sha256:a4052e51598b257621edc75bc019c759bc478338f99aa7e230bfc6e7862988e2"

	networkYAML = `apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootNetwork
metadata: {namespace: lab, name: rack}
spec:
  subnets: [{cidr: 10.77.0.0/24, gateway: 10.77.0.1}]
`
	profileYAML = `apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootProfile
metadata: {namespace: lab, name: debian}
spec:
  mode: Install
  method: DiskImage
  userDataFormat: CloudInit
  artifacts:
    - arch: amd64
      kernel: {url: "http://x.example/k", digest: "` + kernel + `"}
      image: {url: "http://x.example/i", digest: "` + kernel + `"}
`
	givenYAML = `apiVersion: v1
kind: Secret
metadata: {namespace: lab, name: m1}
stringData: {userData: "#cloud-config\n"}
`
	// sharedYAML is what a machine's entry needs.
	sharedYAML = networkYAML + "---\n" + profileYAML + "---\n" + givenYAML
)

// entryYAML is an entry of a machine that is to be installed.
func entryYAML(name, mac, address string, generation int) string {
	return fmt.Sprintf(`apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootEntry
metadata: {namespace: lab, name: %s}
spec:
  forProvider:
    machine: {macs: ["%s"]}
    profileRef: {name: debian}
    networks: [{name: boot, networkRef: {name: rack}, addresses: [{address: %s/24}]}]
    userDataSecretRef: {name: m1, key: userData}
    install: {generation: %d}
`, name, mac, address, generation)
}

const (
	mac1 = "52:54:00:00:00:01"
	mac2 = "52:54:00:00:00:02"
)

// all is a folder of one machine.
func all(generation int) string {
	return strings.Join([]string{networkYAML, profileYAML, givenYAML, entryYAML("m1", mac1, "10.77.0.11", generation)}, "---\n")
}

// logs are what a source says.
type logs struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logs) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// oneKey is a key of tokens that's never turned.
type oneKey string

func (k oneKey) Keys() [][]byte { return [][]byte{[]byte(k)} }

func (oneKey) Run(context.Context) {}

// rig is a folder with its state folder, and the source that a bootd has of them.
type rig struct {
	t          *testing.T
	dir, state string
	// clock is read by a source that runs, too: now, in nanoseconds.
	clock atomic.Int64
	said  logs

	onNew func(*boot.State)
	snap  *snapshot.Snapshot // Of live.
	src   *Source
	m     *session.Manager
	log   *session.Log
	ended func()
}

func newRig(t *testing.T, text string) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir(), state: t.TempDir()}
	r.clock.Store(time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC).UnixNano())
	if text != "" {
		r.write("a.yaml", text)
	}
	return r
}

func (r *rig) now() time.Time { return time.Unix(0, r.clock.Load()).UTC() }

func (r *rig) pass(d time.Duration) { r.clock.Add(int64(d)) }

func (r *rig) write(name, text string) {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
	// Two writes within the file system's clock would look like one.
	r.pass(time.Second)
	if err := os.Chtimes(path, r.now(), r.now()); err != nil {
		r.t.Fatal(err)
	}
}

// start is a bootd that starts: it reads what is there, and takes every step that is due.
func (r *rig) start(change ...func(*Options)) {
	r.t.Helper()
	if err := r.tryStart(change...); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) tryStart(change ...func(*Options)) error {
	r.t.Helper()
	o := Options{
		Dir: r.dir, StateDir: r.state, Fresh: Fresh(r.state), Keys: oneKey("key"), Still: time.Nanosecond,
		Now: r.now, Logger: slog.New(slog.NewTextHandler(&r.said, nil)),
	}
	for _, c := range change {
		c(&o)
	}
	l, damaged := session.OpenLog(filepath.Join(r.state, "consumed.log"))
	if damaged != nil {
		l, o.Blocked = session.Unreadable(damaged), damaged.Error() // As bootd with a folder.
	}
	src, err := Open(o)
	if err != nil {
		_ = l.Close()
		return err
	}
	for _, c := range src.Consumed() {
		if err := l.Add(c); err != nil && damaged == nil {
			r.t.Fatal(err)
		}
	}
	r.src, r.log = src, l
	r.m = session.New(session.Options{Store: src.Store(), Log: l, Name: "b", Now: o.Now, Logger: o.Logger})
	src.Use(r.m, r.onNew)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = r.m.Run(ctx)
	}()
	r.ended = sync.OnceFunc(func() {
		cancel()
		<-done
		src.site.close()
		_ = l.Close()
	})
	r.t.Cleanup(r.ended)
	src.resume(r.t.Context())
	r.turn()
	return nil
}

// stop is a bootd that ends, in whatever way.
func (r *rig) stop() { r.ended() }

// restart is another bootd, which begins with the snapshot of the one before. meanwhile is what happens while there's none; nil: nothing.
func (r *rig) restart(meanwhile func(), change ...func(*Options)) {
	r.t.Helper()
	before := r.src.State()
	r.stop()
	if meanwhile != nil {
		meanwhile()
	}
	r.start(append([]func(*Options){func(o *Options) { o.Before = before }}, change...)...)
}

func (r *rig) turn() {
	r.src.look()
	time.Sleep(time.Microsecond)
	r.src.turn()
	r.src.turn()
	r.src.folder.shed()
}

// plan of the first machine; nil where it isn't served.
func (r *rig) plan() *boot.Plan {
	p, _ := r.src.State().ByMAC(mac1)
	return p
}

// grant that may be used for the first machine now; nil: none.
func (r *rig) grant() *boot.Grant {
	p := r.plan()
	if p == nil {
		return nil
	}
	s, ok := r.src.State().Sessions[p.EntryUID]
	if !ok {
		return nil
	}
	d := boot.Decide(boot.Facts{Now: r.now(), Plan: p, Session: &s, Log: r.m.Logged(p.EntryUID, p.HostUID), Synced: r.src.Synced(p), Arch: boot.AMD64})
	if d.Answer != boot.AnswerInstall {
		return nil
	}
	return s.Grant
}

// granted waits for a grant: what the log knows is written into a session that lacks it first.
func (r *rig) granted() *boot.Grant {
	for range 1000 {
		r.turn()
		if g := r.grant(); g != nil {
			return g
		}
		time.Sleep(5 * time.Millisecond)
	}
	return nil
}

// install uses the grant of the first machine, as its installer does.
func (r *rig) install(report bool) {
	r.t.Helper()
	g, p := r.grant(), r.plan()
	if g == nil {
		r.t.Fatalf("nothing is granted\n%s", r.said.String())
	}
	t := boot.Claims{Kind: boot.TokenBoot, Entry: boot.KeyOf(p.EntryUID), GrantID: g.ID, Nonce: "00000000000000b1"}
	if err := r.m.Open(r.t.Context(), p, t, boot.Exchange{Began: r.now(), GrantID: g.ID}); err != nil {
		r.t.Fatal(err)
	}
	if err := r.m.Consume(r.t.Context(), p, t); err != nil {
		r.t.Fatal(err)
	}
	if report {
		if _, err := r.m.Report(r.t.Context(), p, t, true, ""); err != nil {
			r.t.Fatal(err)
		}
	}
	r.turn()
}

func (r *rig) says(words ...string) {
	r.t.Helper()
	for _, w := range words {
		if !strings.Contains(r.said.String(), w) {
			r.t.Errorf("%q isn't said:\n%s", w, r.said.String())
		}
	}
}
