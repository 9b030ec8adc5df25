// Package gate is the one way to a BMC for the whole process: one gatekeeper per address with a serial queue, one shared session, a rate limit and a memory for refused logins.
package gate

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// Target says which BMC is meant and how to talk to it.
type Target struct {
	redfish.Config

	// CredentialVersion names the credential and its version, for instance
	// "<namespace>/<name>/<uid>/<resourceVersion>" of a Secret. A 401 is remembered for it.
	CredentialVersion string
	// RequestsPerSecond is the most that the BMC is asked; 0 is 4.
	RequestsPerSecond float64
}

const (
	defaultRate = 4
	burst       = 32
)

var errClosed = errors.New("cannot talk to a BMC: the provider is shutting down")

// Connect opens a connection; redfish.Connect in production.
type Connect func(ctx context.Context, cfg redfish.Config) (*redfish.Client, error)

// Gates holds the gatekeepers of a process. Make one, share it, and Close it.
type Gates struct {
	connect Connect
	now     func() time.Time
	idle    time.Duration // after which a session is given back

	mu     sync.Mutex
	gates  map[string]*gate
	closed bool
}

// New makes an empty set of gatekeepers.
func New(connect Connect) *Gates {
	return &Gates{connect: connect, now: time.Now, idle: idle, gates: map[string]*gate{}}
}

// gate is the gatekeeper of one address.
type gate struct {
	queue   chan struct{} // holds one token: whoever has it may talk
	limiter *rate.Limiter

	// Guarded by queue.
	client  *redfish.Client
	opened  [sha256.Size]byte
	pin     string // trusted on first use, for as long as the process lives: who deletes a host of this address may have had no right to it
	refused map[string]error
	breaker breaker
	sweep   *time.Timer // gives the session back
}

// Do waits for its turn at the target's BMC and calls f with the shared client,
// which is valid during f only. When the BMC refused this version of the
// credential before, Do returns that refusal without a call.
func (g *Gates) Do(ctx context.Context, t Target, f func(context.Context, *redfish.Client) error) error {
	gk, err := g.gate(t)
	if err != nil {
		return err
	}
	if err := gk.enter(ctx); err != nil {
		return err
	}
	defer gk.leave()
	if err := gk.refused[t.CredentialVersion]; err != nil {
		return err
	}
	if err := gk.breaker.open(g.now()); err != nil {
		return err
	}
	client, err := gk.ensure(ctx, g.connect, t)
	if err == nil {
		err = f(ctx, client)
	}
	gk.breaker.result(err, g.now())
	gk.sweepAfter(g.idle)
	if redfish.IsUnauthorized(err) {
		gk.refuse(ctx, t.CredentialVersion, err)
	}

	return err
}

// Forget logs out of the BMC at address: a host of it is gone. What the BMC
// refused stays in memory, so that making a host anew isn't a way to try the
// same password again; so does the certificate trusted on first use, so that it
// isn't a way to have another one trusted.
func (g *Gates) Forget(ctx context.Context, address string) error {
	key, err := redfish.Endpoint(address)
	if err != nil {
		return nil //nolint:nilerr // an address that can't be used was never talked to
	}
	g.mu.Lock()
	gk := g.gates[key]
	g.mu.Unlock()
	if gk == nil {
		return nil
	}

	return gk.close(ctx)
}

// Close logs out everywhere, all at once: a shutdown has little time. Nothing
// can be done through g afterwards.
func (g *Gates) Close(ctx context.Context) {
	g.mu.Lock()
	g.closed = true
	gates := g.gates
	g.gates = map[string]*gate{}
	g.mu.Unlock()
	var all sync.WaitGroup
	for _, gk := range gates {
		all.Go(func() { _ = gk.close(ctx) })
	}
	all.Wait()
}

func (g *Gates) gate(t Target) (*gate, error) {
	key, err := redfish.Endpoint(t.Address)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, errClosed
	}
	gk := g.gates[key]
	if gk == nil {
		gk = &gate{
			queue: make(chan struct{}, 1), refused: map[string]error{},
			limiter: rate.NewLimiter(defaultRate, burst),
		}
		g.gates[key] = gk
	}

	return gk, nil
}

func (g *gate) enter(ctx context.Context) error {
	select {
	case g.queue <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("gave up waiting for another call to the same BMC: %w", ctx.Err())
	}
}

func (g *gate) leave() { <-g.queue }

// ensure returns the shared client, opened with t's settings. Other settings
// than last time, such as a new password or pin, get a new session.
func (g *gate) ensure(ctx context.Context, connect Connect, t Target) (*redfish.Client, error) {
	g.limiter.SetLimit(rate.Limit(perSecond(t)))
	firstUse := t.TLS.Verify == redfish.VerifyTrustOnFirstUse && len(t.TLS.Pins) == 0
	if firstUse && g.pin != "" {
		t.TLS.Pins = []string{g.pin}
	}
	if g.client != nil && g.opened == fingerprint(t) {
		return g.client, nil
	}
	g.drop(ctx)
	cfg := t.Config
	cfg.Limiter = g.limiter
	client, err := connect(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if firstUse {
		// The caller will come back with this pin: that is the same session.
		g.pin = client.Pin()
		t.TLS.Pins = []string{g.pin}
	}
	g.client, g.opened = client, fingerprint(t)

	return client, nil
}

func (g *gate) refuse(ctx context.Context, version string, err error) {
	g.drop(ctx)
	// Only the newest version of a credential is worth remembering, and of
	// different credentials for one address (a host of its own Secret beside
	// the pool's) a few.
	const limit = 16
	if len(g.refused) >= limit {
		clear(g.refused)
	}
	g.refused[version] = err
}

func (g *gate) drop(ctx context.Context) {
	if g.sweep != nil {
		g.sweep.Stop()
	}
	if g.client == nil {
		return
	}
	_ = g.client.Close(ctx)
	g.client = nil
}

func (g *gate) close(ctx context.Context) error {
	if err := g.enter(ctx); err != nil {
		return err
	}
	defer g.leave()
	g.drop(ctx)

	return nil
}

func perSecond(t Target) float64 {
	if t.RequestsPerSecond > 0 {
		return t.RequestsPerSecond
	}

	return defaultRate
}

// fingerprint tells settings apart without keeping the password.
func fingerprint(t Target) [sha256.Size]byte {
	c := t.Config

	return sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q %q %q %v %v %v %q %v",
		c.Username, c.Password, c.Auth, c.TLS.Verify, c.TLS.CABundle, c.TLS.Pins, t.CredentialVersion,
		c.Guard.Allowed, c.Guard.Denied, c.Guard.AllowLoopback, c.Quirks, c.RequestTimeout))
}
