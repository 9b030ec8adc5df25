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
	// TokenWritable: NetBox lets it make addresses.
	TokenWritable TokenState = "Writable"
	// TokenReadOnly: NetBox says that it may not.
	TokenReadOnly TokenState = "ReadOnly"
	// TokenUnproven: what answers says neither.
	TokenUnproven TokenState = "Unproven"
)

// An Inspection is what a look at a whole connection showed.
type Inspection struct {
	Preflight

	Token TokenState
	// Creatable is, where Field is FieldMissing, whether the token is known to be one that may create the marker's field.
	Creatable TokenState
	// Lacks are rights without which no address is managed, and which the token was seen to lack; Without are those that it lacks and
	// only some addresses need.
	Lacks, Without []Right
}

// Inspect looks at NetBox as Preflight does, always anew, and at what the token may do: about five requests, none of which
// can change anything. What it found up to an error is returned with it.
func (c *Client) Inspect(ctx context.Context) (Inspection, error) {
	p, err := c.inspected(ctx)
	if c.readOnly && IsMarkerField(err) {
		err = nil // Nothing is marked.
	}
	i := Inspection{Preflight: p, Token: TokenUnproven, Creatable: TokenUnproven}
	if err != nil {
		return i, err
	}
	if err := i.view(ctx, c); err != nil || c.readOnly {
		return i, err
	}
	if i.Token = c.mayAdd(ctx); i.Token == TokenReadOnly {
		i.Lacks = append(i.Lacks, right(http.MethodPost, addressesPath))
	}
	if p.Field == FieldMissing && ctx.Err() == nil {
		if o, ok := c.offered(ctx, fieldsPath); ok && o[http.MethodPost] {
			i.Creatable = TokenWritable
		}
	}
	if err := ctx.Err(); errors.Is(err, context.Canceled) { // Where its time is over it's whole: what isn't answered is unproven.
		return i, &Error{Kind: KindUnreachable, Op: "look at what the token may do", Reason: "the look was broken off", Err: err}
	}
	return i, nil
}

// views are what must be seen, each in one of several ways: where addresses come from, and addresses. To look at them alone the first isn't
// needed.
func (c *Client) views() [][]string {
	all := [][]string{{"ipam/prefixes/", rangesPath}, {addressesPath}}
	if c.readOnly {
		return all[1:]
	}
	return all
}

// view looks at what must be seen, and notes the rights that the token lacks for it.
func (i *Inspection) view(ctx context.Context, c *Client) error {
	for _, ways := range c.views() {
		var lacks []Right
		for _, path := range ways {
			err := c.mayView(ctx, path)
			if err == nil {
				break
			}
			if !IsForbidden(err) {
				return err
			}
			lacks = append(lacks, right(http.MethodGet, path))
		}
		switch {
		case len(lacks) == len(ways):
			i.Lacks = append(i.Lacks, lacks[0])
		default:
			i.Without = append(i.Without, lacks...)
		}
	}
	return nil
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

// mayAdd says whether the token may make addresses. What NetBox offers proves that it may, where it says so; that it doesn't say so proves
// nothing: none of the descriptions that were recorded do (297), nor need those that come through a proxy. Then NetBox is asked to make an
// address of a text that no version takes for one, since it isn't JSON: it looks at rights before it reads what is sent, so that whoever
// may is told of the text (725), and whoever mayn't, of that (026). Whatever else is answered proves nothing either.
func (c *Client) mayAdd(ctx context.Context) TokenState {
	if o, ok := c.offered(ctx, addressesPath); ok && o[http.MethodPost] {
		return TokenWritable
	}
	var got reply
	_, err := c.once(ctx, call{
		op: "try to write to", subject: addressesPath, method: http.MethodPost, path: addressesPath, want: http.StatusBadRequest,
		raw: []byte("{"), probe: true, answered: func(r reply) { got = r },
	})
	switch {
	case !got.json() || !got.hasDetail():
	case err == nil:
		return TokenWritable
	case IsForbidden(err):
		return TokenReadOnly
	}
	return TokenUnproven
}

// offered asks what an endpoint offers this token: OPTIONS, which may list, below "actions", the writes that the token's permissions, and
// its own "write enabled", leave. ok is false where the answer isn't such a description, and whatever went wrong.
func (c *Client) offered(ctx context.Context, path string) (o offers, ok bool) {
	a, err := c.once(ctx, call{op: "ask what may be done at", subject: path, method: http.MethodOptions, path: path, want: http.StatusOK})
	if err != nil {
		return nil, false
	}
	o, err = decodeOffers(a.body)
	return o, err == nil
}

// decodeOffers takes the description of an endpoint, which needn't have actions; something without what such a description always has
// isn't one.
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
