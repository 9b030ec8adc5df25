// Package netbox speaks the part of NetBox's REST API (4.2 to 4.7) that one allocated address needs.
package netbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"
)

const (
	// inFlight is how many calls of a connection are under way at once: as many as a NetBox has threads, so that it's never idle and
	// its queue stays with us. It never says 429 itself; it just queues.
	inFlight = 16
	// defaultTimeout is one call's. 64 allocations at once wait 5 s in NetBox's own queue on a slow
	// machine, and a cold worker needs another 5: giving up early only makes outcomes unknown.
	defaultTimeout = 55 * time.Second
	// maxBody caps what is read of any answer. Lists are asked for in small pages.
	maxBody = 4 << 20
	// maxURL is what gunicorn takes in a request line, less the method and the version: more is answered with an HTML 400.
	maxURL = 4000
	// maxContentType is how much is shown of what a stranger says about its answer.
	maxContentType = 64
	// fieldTTL is how long a proven marker field is believed before it is looked at again.
	fieldTTL = 10 * time.Minute
	// missingTTL is how long it is believed that there is none.
	missingTTL = 2 * time.Second
)

// A Config is one connection to one NetBox.
type Config struct {
	// Name of the connection in metrics and traces, such as ClusterProviderConfig/netbox; nothing else depends on it.
	Name string
	// URL of NetBox's root, http or https, with or without a sub-path and a trailing slash, without /api.
	URL string
	// Token is a version 1 token (40 hex digits) or a version 2 token (nbt_KEY.SECRET, NetBox 4.5+).
	Token string
	// MarkerField is the name of the unique text custom field on ipam.ipaddress that carries our marker.
	MarkerField string
	// ReleaseField is the name of the text custom field on ipam.ipaddress that says of a record which resource let it go; "" is none.
	ReleaseField string
	// Owner shares what a Room has for him with his other connections; "" is a connection by itself.
	Owner string
	// MarkersBegin is what all markers begin with that this connection has to do with, such as the cluster's id and a slash, or that with a
	// namespace and a slash. Seen looks for these; "" has no looks.
	MarkersBegin string
	// ReadOnly has nothing sent that could change NetBox: KindReadOnly.
	ReadOnly bool
	// TLS says whom to trust; the zero value means the system's authorities.
	TLS TLS
	// ProxyURL of an http or https proxy; "" connects directly.
	ProxyURL string
	// RequestsPerSecond caps calls of this connection; 0 means as many as NetBox answers, 16 at once.
	RequestsPerSecond float64
	// Timeout of one call, connecting included; 0 means 55 s.
	Timeout time.Duration
}

// An Option changes how a Client reaches NetBox, not what it says.
type Option func(*options)

type options struct {
	control func(network, address string, c syscall.RawConn) error
	now     func() time.Time
	meter   func(Call)
	tracer  trace.Tracer
	room    *Room
	most    func(ctx context.Context, name string) int
	// patience is how long a look may take in all.
	patience time.Duration
}

// WithDialControl checks each address after DNS and before anything is sent (net.Dialer.Control), so
// that a token never leaves for a forbidden range. An error refuses the connection: KindNotAllowed.
func WithDialControl(control func(network, address string, c syscall.RawConn) error) Option {
	return func(o *options) {
		o.control = func(network, address string, c syscall.RawConn) error {
			if err := control(network, address, c); err != nil {
				return fmt.Errorf("%w: %w", errDial, err)
			}
			return nil
		}
	}
}

var errDial = errors.New("address refused before connecting") // sentinel: net wraps it

// WithClock replaces time.Now, which only ages the proof of the marker field.
func WithClock(now func() time.Time) Option {
	return func(o *options) { o.now = now }
}

// A Client is one connection: its own pool, rate limit, and knowledge of the marker field. It is safe
// for concurrent use and is meant to be shared by all resources that use the same ProviderConfig.
type Client struct {
	name    string
	base    *url.URL
	auth    string
	field   string
	note    string
	begins  string
	http    *http.Client
	limiter *rate.Limiter
	slots   *semaphore.Weighted
	pause   pause
	now     func() time.Time
	meter   func(Call)
	tracer  trace.Tracer
	proof   proof
	// releases is the proof of the release field.
	releases proof
	view     *view
	// face is what NetBox's clock shows.
	face *face
	// room is what the view, lists and what is remembered may take.
	room *lodger
	// most says how many addresses a look may show; nil doesn't bound it.
	most func(ctx context.Context, name string) int
	// patience is how long a look may take in all.
	patience time.Duration
	// life is the connection's, and end ends it: what goes on without anybody who waits for it ends then.
	life context.Context //nolint:containedctx // It's what a connection's own work goes by; each call has its caller's.
	end  context.CancelFunc
	// parents found lately: prefixes and ranges.
	parents *memo[parentKey, []Parent]
	// cut is how many records a page had that had fewer than were asked for, while there were more; 0: none.
	cut atomic.Int64
	// vrfs found lately, by their name.
	vrfs *memo[string, []VRF]
	// holders and interfaces of addresses, seen lately.
	holders    map[HolderKind]*roster[Holder]
	interfaces map[HolderKind]*roster[Interface]
	// lags are the ports of those that addresses are on.
	lags    *roster[members]
	changes changeLog
	json    jsonFields
	// readOnly refuses writes.
	readOnly bool
}

// New returns a client, without a call. Errors are KindInvalid: the URL, the token's shape, the marker
// field's name or the TLS settings are wrong.
func New(cfg Config, opts ...Option) (*Client, error) {
	o := options{now: time.Now, meter: func(Call) {}, tracer: noop.Tracer{}, patience: lookPatience}
	for _, opt := range opts {
		opt(&o)
	}
	base, err := parseBase(cfg.URL)
	if err != nil {
		return nil, err
	}
	auth, err := authorization(cfg.Token)
	if err != nil {
		return nil, err
	}
	if err := checkFieldName(cfg.MarkerField); err != nil {
		return nil, err
	}
	if cfg.ReleaseField != "" {
		if err := checkFieldName(cfg.ReleaseField); err != nil {
			return nil, err
		}
	}
	hc, err := httpClient(cfg, base, o)
	if err != nil {
		return nil, err
	}
	limiter := rate.NewLimiter(rate.Inf, 0)
	if cfg.RequestsPerSecond > 0 {
		limiter = rate.NewLimiter(rate.Limit(cfg.RequestsPerSecond), max(1, int(cfg.RequestsPerSecond)))
	}
	if o.room == nil {
		o.room = NewRoom(Limits{Each: ownEach, Page: lookBody})
	}
	room, places := o.room.lodge(cfg.Owner), o.room.beside.lodge(cfg.Owner)
	life, end := context.WithCancel(context.Background())
	clock := &face{}
	c := &Client{
		name: cfg.Name, base: base, auth: auth, field: cfg.MarkerField, note: cfg.ReleaseField, begins: cfg.MarkersBegin, http: hc,
		limiter: limiter, slots: semaphore.NewWeighted(inFlight), pause: pause{now: o.now}, now: o.now, meter: o.meter, tracer: o.tracer,
		proof: newProof(o.now), releases: newProof(o.now), view: newView(o.now, room, cfg.MarkerField), room: room, most: o.most, patience: o.patience, life: life, end: end,
		parents:    newMemo(o.now, room, weightOfParents),
		vrfs:       newMemo(o.now, room, weightOfVRFs),
		face:       clock,
		holders:    rosters[Holder](o.now, places, clock),
		interfaces: rosters[Interface](o.now, places, clock),
		lags:       newLAGs(o.now, places, clock),
		changes:    changeLog{now: o.now}, json: jsonFields{slot: newSlot()}, readOnly: cfg.ReadOnly,
	}
	c.view.setBack = c.distrust
	return c, nil
}

// Close drops idle connections and what is known of addresses, and ends a look that is under way. Other calls go on.
func (c *Client) Close() {
	c.view.close() // Before its look ends, which then isn't one that failed.
	c.parents.close()
	c.vrfs.close()
	for _, k := range holderKinds() {
		c.holders[k].close()
		c.interfaces[k].close()
	}
	c.lags.close()
	c.end()
	c.http.CloseIdleConnections()
}

// Name returns Config.Name.
func (c *Client) Name() string { return c.name }

// MarkerField returns the name of the custom field that carries the marker.
func (c *Client) MarkerField() string { return c.field }

// schemeV2 is that of tokens of version 2.
const schemeV2 = "Bearer "

// authorization picks the scheme by the token's own prefix: before 4.5 "Bearer" is silently ignored,
// from 4.5 on the prefix decides and the scheme doesn't (transcripts 017, 027).
func authorization(token string) (string, error) {
	token = strings.TrimSpace(token)
	switch {
	case token == "":
		return "", invalid("use the NetBox token", "", "it is empty; put the token under the Secret's key")
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", invalid("use the NetBox token", "", "it holds spaces or characters that no NetBox token has")
	case strings.HasPrefix(token, "nbt_"):
		return schemeV2 + token, nil
	}
	return "Token " + token, nil
}

// parseBase accepts what people write as a URL and returns it ending in /api/.
func parseBase(raw string) (*url.URL, error) {
	const op = "use the NetBox URL"
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, invalid(op, "", "it must look like https://netbox.example/ or http://netbox.example/sub/path")
	}
	if u.User != nil {
		return nil, invalid(op, u.Host, "it must not hold a user or password; credentials come from the Secret")
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return nil, invalid(op, u.Host, "it must not hold a query or fragment")
	}
	path := strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/api")
	return &url.URL{Scheme: u.Scheme, Host: u.Host, Path: path + "/api/"}, nil
}

// checkFieldName is NetBox's own rule for custom field names; anything else would change the query.
func checkFieldName(name string) error {
	const op = "use the marker field"
	bad := strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	if name == "" || bad || strings.Contains(name, "__") {
		return invalid(op, name, "a custom field's name has lower-case letters, digits and single underscores")
	}
	return nil
}

// wait takes one slot of the connection, which release gives back. Nothing has been sent when it fails.
func (c *Client) wait(ctx context.Context, k call) (release func(), err error) {
	if err := c.limiter.Wait(ctx); err != nil {
		return nil, k.failed(KindUnreachable, "the rate limit of this connection left no slot before the deadline", err)
	}
	if err := c.slots.Acquire(ctx, 1); err != nil {
		return nil, k.failed(KindUnreachable, "other calls of this connection were still waiting for their answers at the deadline", err)
	}
	if err := c.pause.hold(ctx, k); err != nil {
		c.slots.Release(1)
		told := c.told(k)
		told.Kind, told.Held = KindUnreachable, true
		c.meter(told)
		return nil, err
	}
	return func() { c.slots.Release(1) }, nil
}
