package session

import (
	"context"
	"log/slog"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// api is a Store with compare-and-swap, as the Kubernetes API is.
type api struct {
	mu       sync.Mutex
	records  map[boot.Name]Record
	revision int
	writes   int
	// before and after an update; an error of before prevents it, one of after hides its success.
	before, after func(Record) error
}

func newAPI(rs ...Record) *api {
	a := &api{records: map[boot.Name]Record{}, revision: 100}
	for _, r := range rs {
		r.Session.Revision = "100"
		a.records[r.Name] = r
	}
	return a
}

func (a *api) Get(ctx context.Context, n boot.Name) (Record, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r, ok := a.records[n]
	if !ok {
		return Record{}, ErrNotFound
	}
	return r, ctx.Err()
}

func (a *api) Update(_ context.Context, r Record) (Record, error) {
	if a.before != nil {
		if err := a.before(r); err != nil {
			return Record{}, err
		}
	}
	r, err := a.swap(r)
	if err == nil && a.after != nil {
		err = a.after(r)
	}
	return r, err
}

func (a *api) swap(r Record) (Record, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	old, ok := a.records[r.Name]
	if !ok || old.Session.Revision != r.Session.Revision || old.Session.UID != r.Session.UID {
		return Record{}, ErrConflict
	}
	// The provider's half isn't ours to write.
	r.Session.Grant, r.Session.Revocation = old.Session.Grant, old.Session.Revocation
	a.revision++
	a.writes++
	r.Session.Revision = strconv.Itoa(a.revision)
	a.records[r.Name] = r
	return r, nil
}

// edit is the provider's, or a restored etcd's.
func (a *api) edit(n boot.Name, f func(*Record)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := a.records[n]
	f(&r)
	a.revision++
	r.Session.Revision = strconv.Itoa(a.revision)
	a.records[n] = r
}

func (a *api) record(n boot.Name) Record {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.records[n]
}

const (
	grantID = "00000000000000aa"
	nonceA  = "000000000000a001"
	nonceB  = "000000000000b001"
)

func machine() boot.Name { return boot.Name{Namespace: "team", Name: "web"} }

func start() time.Time { return time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC) }

func plan() *boot.Plan {
	return &boot.Plan{Entry: machine(), EntryUID: "entry", HostUID: "host", Mode: boot.ModeInstall, InstallGeneration: 1}
}

func granted() Record {
	return Record{Name: machine(), Session: boot.Session{
		UID: "session", EntryUID: "entry",
		Grant: &boot.Grant{ID: grantID, HostUID: "host", EntryUID: "entry", Generation: 1, PlanDigest: plan().Digest(), Expires: start().Add(time.Hour)},
	}}
}

// fresh is the exchange of a machine that has just begun, at any time of a test.
func fresh() boot.Exchange {
	return boot.Exchange{Began: start().Add(1000 * time.Hour), GrantID: grantID}
}

func token(nonce string) boot.Claims {
	return boot.Claims{Kind: boot.TokenBoot, Entry: boot.KeyOf("entry"), GrantID: grantID, Nonce: nonce}
}

// bootd makes a manager of that name with a log of its own, which outlives it in dir.
func bootd(t *testing.T, store Store, name, dir string) *Manager {
	t.Helper()
	l, err := OpenLog(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return New(Options{Store: store, Log: l, Name: name, Now: start, Logger: slog.New(slog.DiscardHandler)})
}
