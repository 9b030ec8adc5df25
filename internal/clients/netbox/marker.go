package netbox

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"
)

// A FieldState is what is known of the marker's custom field.
type FieldState string

// The states of the marker field.
const (
	// FieldReady: it is there, on addresses, text, unique, filtered exactly.
	FieldReady FieldState = "Ready"
	// FieldMissing: NetBox says that there is none of that name. So no record carries a marker.
	FieldMissing FieldState = "Missing"
	// FieldUnproven: the token may not read custom fields, or isn't shown this one. Filtering by it works as far as can be
	// seen from outside; that it is unique can't be.
	FieldUnproven FieldState = "Unproven"
)

// A Preflight is what must be known before a marker is written or looked for.
type Preflight struct {
	Version Version
	Field   FieldState
	Skew    Skew
}

// proof remembers the last good preflight; the slot lets one caller at a time make it. Whoever has it may read and write the proof.
type proof struct {
	slot  slot
	now   func() time.Time
	until time.Time
	value Preflight
	// stale says that it isn't to be believed, whoever has the slot.
	stale atomic.Bool
}

// holds says whether what was proven still is.
func (p *proof) holds() bool {
	if p.stale.Swap(false) {
		p.until = time.Time{}
	}
	return p.now().Before(p.until)
}

func newProof(now func() time.Time) proof {
	return proof{slot: newSlot(), now: now}
}

// A slot lets one caller at a time do what the others then needn't.
type slot chan struct{}

func newSlot() slot { return make(slot, 1) }

// hold takes the slot, or says that there was no time to.
func (s slot) hold(ctx context.Context, k call) (release func(), err error) {
	select {
	case s <- struct{}{}:
		return func() { <-s }, nil
	case <-ctx.Done():
		return nil, k.failed(KindUnreachable, "no answer came in time", ctx.Err())
	}
}

// set remembers what was found: for long that the field is good, for a moment that it is missing, so that a hundred resources
// don't all ask while one of them creates it.
func (p *proof) set(v Preflight) {
	ttl := fieldTTL
	if v.Field == FieldMissing {
		ttl = missingTTL
	}
	p.value, p.until = v, p.now().Add(ttl)
}

// Preflight reads the version and checks the marker field, and remembers a good answer for ten
// minutes. It writes nothing: FieldMissing isn't an error here. A field that is there but wrong is
// KindMarkerField, a NetBox before 4.2 KindUnexpected.
func (c *Client) Preflight(ctx context.Context) (Preflight, error) {
	release, err := c.proof.slot.hold(ctx, statusCall())
	if err != nil {
		return Preflight{}, err
	}
	defer release()
	if c.proof.holds() {
		return c.proof.value, nil
	}
	p, err := c.preflight(ctx)
	if err == nil {
		c.proof.set(p)
	}
	return p, err
}

// forget makes the next Preflight look again.
func (c *Client) forget() { c.proof.forget() }

// forget what was proven, or just is: nobody waits for a NetBox that hangs to do so.
func (p *proof) forget() { p.stale.Store(true) }

func (c *Client) preflight(ctx context.Context) (Preflight, error) {
	v, skew, err := c.status(ctx)
	if err != nil {
		return Preflight{}, err
	}
	p := Preflight{Version: v, Skew: skew}
	if !v.AtLeast(4, 2, 0) {
		return p, statusCall().failed(KindUnexpected, fmt.Sprintf("it is %s; 4.2 or later is needed", v), nil)
	}
	p.Field, err = c.fieldState(ctx, c.markerField())
	return p, err
}

// CreateMarkerField creates the marker's custom field where Preflight found none, unless another
// resource was faster. KindMarkerField says that the token may not, and names the exact object to create.
func (c *Client) CreateMarkerField(ctx context.Context) error {
	f := c.markerField()
	k := c.fieldCall(f, "create", http.MethodPost, http.StatusCreated)
	release, err := c.proof.slot.hold(ctx, k)
	if err != nil {
		return err
	}
	defer release()
	if c.proof.value.Field == FieldReady && c.proof.holds() {
		return nil
	}
	if err := c.createField(ctx, k, f); err != nil {
		return err
	}
	c.proof.set(Preflight{Version: c.proof.value.Version, Field: FieldReady})
	return nil
}
