// Package gate is the one way to a BMC for the whole process: one gatekeeper per address with a serial queue, one shared session, a rate limit and a memory for refused logins. BMCs that don't answer have but a few of the process's workers.
package gate

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// Target says which BMC is meant and how to talk to it.
type Target struct {
	redfish.Config

	// CredentialVersion names the credential and its version, for instance
	// "<namespace>/<name>/<uid>/<resourceVersion>" of a Secret. A 401 is remembered for it, as Credential says.
	CredentialVersion string
	// RequestsPerSecond is the most that the BMC is asked; 0 is 4.
	RequestsPerSecond float64
	// Lane says who is let go first.
	Lane Lane
}

// Credential is what a refusal is remembered for: the version of the credential, and by
// which way of authentication it was sent, where somebody chose one. Who chooses
// another one has it tried once more.
func (t Target) Credential() string {
	if t.CredentialVersion == "" || t.Auth == "" || t.Auth == redfish.AuthAuto {
		return t.CredentialVersion
	}

	return t.CredentialVersion + " " + string(t.Auth)
}

const (
	defaultRate = 4
	burst       = 32
	// hurry is how long a read may take, unless the BMC is known to be slower. One
	// that takes longer is asked again in one of the slots for suspects.
	hurry = 3 * time.Second
	// slower is how many times as long as lately a read may take.
	slower = 3
	// queuePatience is how long a call waits for others to the same BMC.
	queuePatience = 5 * time.Second
)

var errClosed = errors.New("cannot talk to a BMC: the provider is shutting down")

// Connect opens a connection; redfish.Connect in production.
type Connect func(ctx context.Context, cfg redfish.Config) (*redfish.Client, error)

// Gates holds the gatekeepers of a process. Make one, share it, and Close it.
type Gates struct {
	connect Connect
	now     func() time.Time
	random  func() float64
	idle    time.Duration // after which a session is given back
	hurry   time.Duration
	queue   time.Duration // patience

	bulkhead bulkhead

	mu     sync.Mutex
	gates  map[string]*gate
	closed bool
}

// New makes an empty set of gatekeepers.
func New(connect Connect) *Gates {
	return &Gates{
		connect: connect, now: time.Now, random: anyRandom, idle: idle, hurry: hurry, queue: queuePatience,
		bulkhead: newBulkhead(), gates: map[string]*gate{},
	}
}

// Hurry sets how long a BMC may take for a read before it's suspect, instead of
// three seconds, and how long a call waits for others to the same BMC, instead of
// five. It must come before the first Do.
func (g *Gates) Hurry(read, queue time.Duration) { g.hurry, g.queue = read, queue }

// gate is the gatekeeper of one address.
type gate struct {
	turns   turns
	limiter *rate.Limiter
	// suspect is breaker.suspect, for those who haven't the turn.
	suspect atomic.Bool
	// distrusted says that pin is to be forgotten, as no host is left that it's of.
	distrusted atomic.Bool

	// Guarded by turns.
	client  *redfish.Client
	opened  [sha256.Size]byte
	pin     string // trusted by a host that trusts on first use, until distrusted
	refused map[string]refusal
	breaker breaker
	slowest time.Duration // that a read took lately
	sweep   *time.Timer   // gives the session back
	listens listens       // of the session
}

// Do waits for its turn at the target's BMC and calls f with the shared client,
// which is valid during f only. When the BMC refused this version of the
// credential before, Do returns that refusal without a call; so it does with the
// last error of a BMC that is left alone for a while. It returns a BusyError
// where f wasn't called or was ended before it wrote anything, and is to be
// called again soon: no call waits long for a BMC that doesn't answer, nor for one
// whose inventory is being read.
func (g *Gates) Do(ctx context.Context, t Target, f func(context.Context, *redfish.Client) error) error {
	gk, err := g.gate(t)
	if err != nil {
		return err
	}
	if err := gk.enter(ctx, t.Lane, g.queue); err != nil {
		return err
	}
	defer gk.turns.leave()
	if gk.client != nil {
		gk.sweepAfter(g.idle) // Whoever was to give the session back just now has met us.
	}
	if err := gk.refusal(t.Credential(), g.now()); err != nil {
		return err
	}
	if err := gk.breaker.open(g.now()); err != nil {
		return err
	}
	if t.Lane == Inventory {
		return gk.besides(ctx, g, t, f)
	}
	p := &redfish.Patience{Read: max(g.hurry, slower*gk.slowest)}
	if gk.breaker.suspect {
		whole, leave, ok := g.bulkhead.try()
		if !ok {
			return gk.breaker.unasked(g.now())
		}
		defer leave()
		if whole {
			p.Read = 0
		}
	}

	return gk.talk(ctx, g, t, p, f)
}

// talk calls f, and takes note of how that went. The caller has the turn.
func (g *gate) talk(ctx context.Context, of *Gates, t Target, p *redfish.Patience, f func(context.Context, *redfish.Client) error) error {
	inTime := redfish.WithPatience(ctx, p)
	client, err := g.ensure(inTime, of.connect, t)
	if err == nil {
		p.Wrote = false // A login changes nothing.
		err = f(inTime, client)
	}
	g.slowest = max(p.Slowest, g.slowest-g.slowest/slower)
	g.sweepAfter(of.idle)
	if redfish.IsUnreachable(err) && p.Cut && !p.Wrote && !g.breaker.suspect {
		g.breaker.hurried(err, of.now())
		g.suspect.Store(true)

		return errBusySlow
	}
	g.result(ctx, of, t, err)

	return err
}

// result takes note of how a call went that was let go on to its end.
func (g *gate) result(ctx context.Context, of *Gates, t Target, err error) {
	g.breaker.result(err, of.now(), of.random())
	g.suspect.Store(g.breaker.suspect)
	switch {
	case refuses(err):
		g.refuse(ctx, t.Credential(), err, of.now())
	case err == nil:
		delete(g.refused, t.Credential())
	}
}

// Forget logs out of the BMC at address: a host of it is gone. What the BMC
// refused stays in memory, so that making a host anew isn't a way to try the
// same password again; so does the certificate trusted on first use, until Distrust:
// other hosts of the address may go by it.
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

	return gk.close(ctx, g.queue)
}

// Distrust forgets the certificate that was trusted on first use at address: no host
// is left that names it. It waits for nobody.
func (g *Gates) Distrust(address string) {
	if gk, err := g.known(address); err == nil && gk != nil {
		gk.distrusted.Store(true)
	}
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
		all.Go(func() { _ = gk.close(ctx, 0) })
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
			refused: map[string]refusal{}, limiter: rate.NewLimiter(defaultRate, burst),
		}
		g.gates[key] = gk
	}

	return gk, nil
}

// enter waits for the turn. For a BMC that may not answer nobody waits.
func (g *gate) enter(ctx context.Context, lane Lane, patience time.Duration) error {
	if !g.suspect.Load() {
		return g.turns.enter(ctx, lane, patience)
	}
	if !g.turns.try() {
		return errBusyProbe
	}

	return nil
}

// ensure returns the shared client, opened with t's settings. Other settings
// than last time, such as a new password or pin, get a new session.
func (g *gate) ensure(ctx context.Context, connect Connect, t Target) (*redfish.Client, error) {
	g.limiter.SetLimit(rate.Limit(perSecond(t)))
	if g.distrusted.Swap(false) {
		g.drop(ctx) // It was opened for who is gone.
		g.pin = ""
	}
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
		if pin := redfish.PinOf(err); firstUse && pin != "" {
			g.pin = pin // It has the password, be the log-in good or not.
		}

		return nil, err
	}
	if t.TLS.Verify == redfish.VerifyTrustOnFirstUse {
		g.pin = client.Pin() // Of other hosts of this address, too, that have none yet.
	}
	if firstUse {
		// The caller will come back with this pin: that is the same session.
		t.TLS.Pins = []string{g.pin}
	}
	g.client, g.opened = client, fingerprint(t)

	return client, nil
}

// close ends the session, as soon as nobody is at it, or not at all.
func (g *gate) close(ctx context.Context, patience time.Duration) error {
	if err := g.turns.enter(ctx, Act, patience); err != nil {
		return err
	}
	defer g.turns.leave()
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

	return sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q %q %q %q %q %v %v %v %q %v",
		c.Username, c.Password, c.Auth, c.TLS.Verify, c.TLS.CABundle, c.TLS.Pins, c.TLS.MinVersion, c.TLS.ServerName, t.CredentialVersion,
		c.Guard.Allowed, c.Guard.Denied, c.Guard.AllowLoopback, c.Quirks, c.RequestTimeout))
}
