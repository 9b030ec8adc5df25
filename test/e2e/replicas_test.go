package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/machine"
)

// at is an address of one bootd's web server, at another bootd.
func (e *env) at(address string, b *lab.Bootd) string {
	e.t.Helper()
	u, err := url.Parse(address)
	e.must(err)
	u.Host = netip.AddrPortFrom(b.Address, netip.MustParseAddrPort(u.Host).Port()).String()
	return u.String()
}

// ask makes one HTTP request and returns status and body.
func ask(ctx context.Context, method, address string) (status int, body string, err error) {
	req, err := http.NewRequestWithContext(ctx, method, address, http.NoBody)
	if err != nil {
		return 0, "", fmt.Errorf("cannot ask %q: %w", address, err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", fmt.Errorf("no answer: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	return res.StatusCode, string(b), err
}

// scripts are what all bootds answer to one script request, with their own addresses taken out.
func (e *env) scripts(address string) []string {
	e.t.Helper()
	out := make([]string, 0, len(e.Bootds))
	for _, b := range e.Bootds {
		status, text, err := ask(e.t.Context(), http.MethodGet, e.at(address, b))
		e.must(err)
		out = append(out, strconv.Itoa(status)+"\n"+strings.ReplaceAll(text, b.Address.String()+":", "bootd:"))
	}
	return out
}

// sameScripts waits until all bootds give a script that says what, and fails the case where they aren't the same.
func (e *env) sameScripts(address, what string) {
	e.t.Helper()
	var all []string
	e.until("scripts that say "+what, func(context.Context) error {
		all = e.scripts(address)
		for _, s := range all {
			if !strings.Contains(s, what) {
				return fmt.Errorf("a script says something else:\n%s", s)
			}
		}
		return nil
	})
	for _, s := range all[1:] {
		if diff := cmp.Diff(all[0], s); diff != "" {
			e.t.Errorf("the bootds give different scripts:\n%s", diff)
		}
	}
}

var consumptions = regexp.MustCompile(`(?m)^bootd_consumptions_total (\d+)$`)

// consumed is how many grants the bootds consumed since they were started.
func (e *env) consumed() int {
	e.t.Helper()
	sum := 0
	for _, b := range e.Bootds {
		_, text, err := ask(e.t.Context(), http.MethodGet, b.Health+"/metrics")
		e.must(err)
		m := consumptions.FindStringSubmatch(text)
		if m == nil {
			e.must(fmt.Errorf("%s doesn't count consumptions", b.Name))
		}
		n, err := strconv.Atoi(m[1])
		e.must(err)
		sum += n
	}
	return sum
}

var callback = regexp.MustCompile(`baremetal\.callback=(\S+)`)

// callbackOf is where the installer of a machine reports to.
func (e *env) callbackOf(h *lab.Host) string {
	e.t.Helper()
	m := callback.FindStringSubmatch(h.Machine.Status().Command)
	if m == nil {
		e.must(fmt.Errorf("no callback in %q", h.Machine.Status().Command))
	}
	return m[1]
}

// testReplicasGiveOneAnswer: whichever bootd a machine hears, it's told the same, and both asked at once use a grant once.
func testReplicasGiveOneAnswer(t *testing.T) {
	t.Helper()
	e := newEnv(t)
	var servers []netip.AddrPort
	h := e.newHost(func(s *lab.HostSpec) {
		s.Change = func(c *machine.Config) { servers = c.Relay.Servers }
	})
	script, begin := make(chan struct{}), make(chan struct{})
	h.Machine.Inject(machine.Fault{Stage: machine.StageScript, Action: machine.Hang, Until: script, Times: 1})
	h.Machine.Inject(machine.Fault{Stage: machine.StageBegin, Action: machine.Hang, Until: begin, Times: 1})
	node := e.newNode("web", h)

	e.machineAt(h, machine.StageScript)
	address := h.Machine.Status().Lease.BootFile
	e.sameScripts(address, "install: Granted")
	e.sameReplies(h, servers)
	close(script)

	e.machineAt(h, machine.StageBegin)
	before := e.consumed()
	e.beginsEverywhere(h)
	if n := e.consumed() - before; n != 1 {
		t.Errorf("want one consumption by all bootds together, got %d", n)
	}
	close(begin)
	e.ready(node)
	e.installs(h, 1)
	if n := e.openedScripts(); n != 1 {
		t.Errorf("want one script opened, whoever asked for it how often, got %d", n)
	}
	e.sameScripts(address, "local disk")
	e.sameReplies(h, servers)
}

// beginsEverywhere reports begin to all bootds at once, by the machine's own token.
func (e *env) beginsEverywhere(h *lab.Host) {
	e.t.Helper()
	g, ctx := errgroup.WithContext(e.t.Context())
	for _, b := range e.Bootds {
		address := e.at(e.callbackOf(h), b) + "/begin"
		g.Go(func() error {
			status, text, err := ask(ctx, http.MethodPost, address)
			if err == nil && status != http.StatusNoContent {
				err = fmt.Errorf("%s answers %d to the boot's own token: %s", b.Name, status, text)
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		e.t.Error(err)
	}
}

// liveFor is how long a bootd counts as live after its last heartbeat.
const liveFor = 15 * time.Second

// testInstallWhileReplicaLags: a bootd that is silent may know of a consumption that nobody else does. So installs wait for it
// until it's held to be gone, and when it wakes with what it knew then, it installs nothing.
func testInstallWhileReplicaLags(t *testing.T) {
	t.Helper()
	e := newEnv(t)
	h := e.newHost(persistent)
	e.healsBootds()
	b := e.Bootds[1]
	e.pauses(b)
	seen := e.timeOf(e.server(b), "status", "lastSeen")
	node := e.newNode("web", h)
	e.ready(node)
	e.installs(h, 1)
	if after := e.openedAt().Sub(seen); after < liveFor {
		t.Errorf("an install began %s after the last sign of a bootd that might have known better; want %s", after, liveFor)
	}
	b.Resume()
	e.synced()

	// It knows of a grant and not of its use: it's asleep in between.
	begin := make(chan struct{})
	h.Machine.Inject(machine.Fault{Stage: machine.StageBegin, Action: machine.Hang, Until: begin, Times: 1})
	e.patch(node, `{"spec":{"installGeneration":2}}`)
	e.machineAt(h, machine.StageBegin)
	address, serving := h.Machine.Status().Lease.BootFile, e.serverOf(h)
	asleep := e.Bootds[0]
	if asleep == serving {
		asleep = e.Bootds[1]
	}
	e.synced()
	e.pauses(asleep)
	close(begin)
	e.machineIs(h, "a second install", func(s machine.Status) bool { return s.Installs == 2 && s.DiskBoots == 2 })
	text := e.wakes(asleep, e.at(address, asleep))
	if strings.Contains(text, "kernel ") {
		t.Errorf("a bootd that overslept a consumption serves the install again:\n%s", text)
	}
	e.readyLate(node)
	e.installs(h, 2)
}

// pauses freezes a bootd, as a machine that lags does.
func (e *env) pauses(b *lab.Bootd) {
	e.t.Helper()
	b.Pause()
	e.until("it to stand still", func(context.Context) error { return stopped(b.PID()) })
}

// wakes asks a paused bootd for a script, lets it go on, and returns what it answers first.
func (e *env) wakes(b *lab.Bootd, address string) string {
	e.t.Helper()
	u, err := url.Parse(address)
	e.must(err)
	var text string
	g, ctx := errgroup.WithContext(e.t.Context())
	g.Go(func() (err error) {
		_, text, err = ask(ctx, http.MethodGet, address)
		return err
	})
	e.until("the request to wait", func(context.Context) error { return unread(netip.MustParseAddrPort(u.Host)) })
	b.Resume()
	e.must(g.Wait())
	return text
}

// server is a bootd's own record.
func (e *env) server(b *lab.Bootd) *unstructured.Unstructured {
	e.t.Helper()
	u, err := e.Get(e.t.Context(), lab.Kind("BootServer", lab.BootNamespace, b.Name))
	e.must(err)
	return u
}

// synced waits until every bootd has seen the tenant's sessions as they are now.
func (e *env) synced() {
	e.t.Helper()
	var want uint64
	for _, s := range e.listOf("BootSession") {
		at, err := strconv.ParseUint(s.GetResourceVersion(), 10, 64)
		e.must(err)
		want = max(want, at)
	}
	e.until("all bootds to have seen the sessions", func(context.Context) error {
		for _, b := range e.Bootds {
			got, err := strconv.ParseUint(lab.StringOf(e.server(b), "status", "syncedRevision"), 10, 64)
			if err != nil || got < want {
				return fmt.Errorf("%s has come to %d of %d: %w", b.Name, got, want, err)
			}
		}
		return nil
	})
}

// openedAt is when the session's last script was served.
func (e *env) openedAt() time.Time {
	e.t.Helper()
	opened, _, err := unstructured.NestedSlice(e.only("BootSession").Object, "status", "opened")
	e.must(err)
	if len(opened) == 0 {
		e.must(fmt.Errorf("no script was opened"))
	}
	last, _ := opened[len(opened)-1].(map[string]any)
	return e.timeOf(&unstructured.Unstructured{Object: last}, "at")
}

func (e *env) timeOf(u *unstructured.Unstructured, path ...string) time.Time {
	e.t.Helper()
	at, err := time.Parse(time.RFC3339Nano, lab.StringOf(u, path...))
	e.must(err)
	return at
}
