package netbox

import (
	"context"
	"net/http"
)

// ReleaseField says whether the custom field for release notes is there, and remembers a good answer as Preflight does. One that is
// there and isn't fit is KindReleaseField.
func (c *Client) ReleaseField(ctx context.Context) (FieldState, error) {
	release, err := c.releases.slot.hold(ctx, c.fieldCall(c.releaseField(), "check", http.MethodGet, 0))
	if err != nil {
		return "", err
	}
	defer release()
	if c.releases.holds() {
		return c.releases.value.Field, nil
	}
	state, err := c.fieldState(ctx, c.releaseField())
	if err == nil {
		c.releases.set(Preflight{Field: state})
	}
	return state, err
}

// EnsureReleaseField is ReleaseField for whoever is about to write a note: it makes the field where there is none. KindReleaseField says
// that the token may not, and names the exact object to create.
func (c *Client) EnsureReleaseField(ctx context.Context) error {
	state, err := c.ReleaseField(ctx)
	if err != nil || state != FieldMissing {
		return err
	}
	f := c.releaseField()
	k := c.fieldCall(f, "create", http.MethodPost, http.StatusCreated)
	release, err := c.releases.slot.hold(ctx, k)
	if err != nil {
		return err
	}
	defer release()
	if c.releases.value.Field == FieldReady && c.releases.holds() {
		return nil
	}
	if err := c.createField(ctx, k, f); err != nil {
		return err
	}
	c.releases.set(Preflight{Field: FieldReady})
	return nil
}

// forgetReleaseField makes the next ReleaseField look again.
func (c *Client) forgetReleaseField() { c.releases.forget() }
