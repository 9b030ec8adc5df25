package netbox

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
)

// A TokenState is what is known of a token's rights without writing anything.
type TokenState string

// The states of a token that is valid.
const (
	// TokenWritable: NetBox offers to make addresses with it.
	TokenWritable TokenState = "Writable"
	// TokenReadOnly: NetBox describes what it may do, and making addresses isn't part of that.
	TokenReadOnly TokenState = "ReadOnly"
	// TokenUnproven: what answers doesn't describe it.
	TokenUnproven TokenState = "Unproven"
)

// An Inspection is what a look at a whole connection showed.
type Inspection struct {
	Preflight

	Token TokenState
	// Creatable is, where Field is FieldMissing, whether the token may create the marker's field.
	Creatable TokenState
	// Lacks are rights without which no address is managed, and which the token was seen to lack.
	Lacks []Right
}

// Inspect looks at NetBox as Preflight does, always anew, and at what the token may do: about five requests, none of which writes.
// What it found up to an error is returned with it.
func (c *Client) Inspect(ctx context.Context) (Inspection, error) {
	p, err := c.inspected(ctx)
	i := Inspection{Preflight: p, Token: TokenUnproven, Creatable: TokenUnproven}
	if err != nil {
		return i, err
	}
	for _, path := range []string{"ipam/prefixes/", "ipam/ip-addresses/"} {
		if err := c.mayView(ctx, path); IsForbidden(err) {
			i.Lacks = append(i.Lacks, right(http.MethodGet, path))
		} else if err != nil {
			return i, err
		}
	}
	o, ok := c.offered(ctx, "ipam/ip-addresses/")
	if i.Token = o.to(ok, http.MethodPost); i.Token == TokenReadOnly {
		i.Lacks = append(i.Lacks, right(http.MethodPost, "ipam/ip-addresses/"))
	}
	if p.Field == FieldMissing {
		o, ok := c.offered(ctx, "extras/custom-fields/")
		i.Creatable = o.to(ok, http.MethodPost)
	}
	return i, nil
}

// inspected is a preflight that isn't remembered, and is remembered for others.
func (c *Client) inspected(ctx context.Context) (Preflight, error) {
	release, err := c.proof.slot.hold(ctx, statusCall())
	if err != nil {
		return Preflight{}, err
	}
	defer release()
	p, err := c.preflight(ctx)
	if err != nil {
		c.proof.until = c.proof.now()
		return p, err
	}
	c.proof.set(p)
	return p, nil
}

// mayView asks for one record of a kind. The token is known to be valid, so a 403 is about the right.
func (c *Client) mayView(ctx context.Context, path string) error {
	_, err := c.once(ctx, call{
		op: "list", subject: path, method: http.MethodGet, path: path, want: http.StatusOK,
		query: url.Values{"limit": {"1"}, "fields": {"id"}},
	})
	return err
}

// offers are the methods that NetBox offers at an endpoint.
type offers map[string]bool

// to says whether a method is offered, where it's known what is.
func (o offers) to(known bool, method string) TokenState {
	switch {
	case !known:
		return TokenUnproven
	case o[method]:
		return TokenWritable
	}
	return TokenReadOnly
}

// offered asks what an endpoint offers this token: OPTIONS, which lists below "actions" the writes that the token's permissions, and
// its own "write enabled", leave. ok is false where the answer isn't such a description, and whatever went wrong: nothing depends on it.
func (c *Client) offered(ctx context.Context, path string) (o offers, ok bool) {
	a, err := c.once(ctx, call{op: "ask what may be done at", subject: path, method: http.MethodOptions, path: path, want: http.StatusOK})
	if err != nil {
		return nil, false
	}
	o, err = decodeOffers(a.body)
	return o, err == nil
}

// decodeOffers takes the description of an endpoint. One without actions offers no writes; something without what such a description
// always has isn't one.
func decodeOffers(b []byte) (offers, error) {
	var w struct {
		Name    *text                      `json:"name"`
		Parses  []text                     `json:"parses"`
		Actions map[string]json.RawMessage `json:"actions"`
	}
	if err := json.Unmarshal(b, &w); err != nil || w.Name == nil || len(w.Parses) == 0 {
		return nil, errors.New("not the description of an endpoint")
	}
	out := offers{}
	for method := range w.Actions {
		out[method] = true
	}
	return out, nil
}
