package redfish

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/stmcginnis/gofish"
	"github.com/stmcginnis/gofish/schemas"
)

// Where things are when the service root doesn't say (DSP0266, 6.2).
const (
	pathRoot     = "/redfish/v1/"
	pathSystems  = "/redfish/v1/Systems"
	pathManagers = "/redfish/v1/Managers"
	pathSessions = "/redfish/v1/SessionService/Sessions"
)

// Client is a connection to one BMC. Close it: BMCs have few sessions. Not
// safe for concurrent use.
type Client struct {
	cfg     Config
	address Address
	trust   *trust
	http    *http.Client
	fence   *fence
	api     *gofish.APIClient
	root    rootBody
	rootAt  time.Time // when it was read

	header  map[string]string // authentication of every request
	token   bool              // that of a session
	session string            // its URI; "" where the BMC didn't tell
	stray   string            // the URI of one that was opened without a token
	lost    bool              // it ended, and no login was good since
	initial bool              // its password must be changed, the BMC said
	account string            // the URI of the account that it said that of
	system  string            // the URI of one that is read with the password; "" where none was yet

	firmware map[string]datedFirmware // of managers, where a quirk depends on it
	// offers are the ResetTypes of ActionInfos, by their URI. They end with the
	// session, as firmware does.
	offers map[string][]string

	known string // the ETag that the next answer may have, and then be left out
}

// Connect reads the service root and logs in, once: a refused login is never
// tried again, nor in another way, since BMCs lock accounts.
func Connect(ctx context.Context, cfg Config) (*Client, error) {
	cfg = cfg.withDefaults()
	address, err := ParseAddress(cfg.Address)
	if err != nil {
		return nil, err
	}
	if address.Plain && cfg.TLS.Verify != VerifyNone {
		return nil, failf(Invalid, "cannot use BMC address %q: by http the password could be read on the way; use https, or in a test lab say tls.verify: None in the provider config", cfg.Address)
	}
	t := &trust{cfg: cfg.TLS}
	transport, fence, err := newHTTPClient(cfg, address, t)
	if err != nil {
		return nil, err
	}
	api, err := newAPI(ctx, address, transport)
	if err != nil {
		return nil, err
	}
	c := &Client{cfg: cfg, address: address, trust: t, http: transport, fence: fence, api: api}
	if err := c.start(ctx); err != nil {
		transport.CloseIdleConnections()

		return nil, err
	}

	return c, nil
}

// newAPI makes gofish's transport. gofish decodes the service root strictly
// and refuses what drifts, so it gets an empty one of ours: start reads the
// real one leniently.
func newAPI(ctx context.Context, to Address, transport *http.Client) (*gofish.APIClient, error) {
	to.Prefix = "" // It's put before the links that lack it.
	api, err := gofish.ConnectContext(ctx, gofish.ClientConfig{
		Endpoint: to.URL(), HTTPClient: &http.Client{Transport: noService{}}, ReuseConnections: true, NoModifyTransport: true,
	})
	if err != nil {
		return nil, classify("cannot set up the BMC's client", err)
	}
	api.HTTPClient = transport

	return api, nil
}

// answer is what came back for a request.
type answer struct {
	status int
	body   []byte
	etag   string
	header http.Header
	// same says that there's no body, since it is the one that was known.
	same bool
}

// get reads a resource leniently into v (nil: the body is only returned).
func (c *Client) get(ctx context.Context, path string, v any) (answer, error) {
	a, err := c.do(ctx, http.MethodGet, path, nil, "")
	if err != nil || v == nil {
		return a, err
	}
	if decode(a.body, v) != nil {
		return a, c.stranger(path, a)
	}

	return a, nil
}

// do sends one request. A session that the BMC forgot is opened again, once.
func (c *Client) do(ctx context.Context, method, path string, body any, ifMatch string) (answer, error) {
	if c.lost {
		// A BMC that restarts ends its sessions first and opens new ones last.
		if err := c.relogin(ctx); err != nil {
			return answer{}, unsent(err)
		}
	}
	a, err := c.try(ctx, method, path, body, ifMatch)
	if e := new(Error); len(c.header) == 0 && errors.As(err, &e) && e.Kind == Unauthorized {
		// Nothing was refused, since nothing was sent: the credentials mustn't be
		// given up for a service root that is guarded.
		e.Kind = Protocol
	}
	if !IsUnauthorized(err) {
		return a, err
	}
	session, header := c.session, c.header
	in, unknown := c.letIn(ctx, path)
	switch {
	case unknown != nil:
		return answer{}, unsent(unknown)
	case !in && !c.token:
		return a, err
	case !in:
		if err := c.relogin(ctx); err != nil {
			return answer{}, unsent(err)
		}
	}
	// The BMC refused the request before it acted on it, so sending it again
	// repeats nothing.
	a, err = c.try(ctx, method, path, body, ifMatch)
	if e := new(Error); errors.As(err, &e) && e.Kind == Unauthorized {
		// The login was good a moment ago: it is this resource that is refused,
		// and the credentials mustn't be given up for it.
		e.Kind = Forbidden
		if !in {
			c.leave(ctx, session, header) // So it may not have ended.
		}
	}

	return a, err
}

// relogin gives up a session that has ended. It's lost until a login is good. One
// that was refused isn't tried again in the same turn.
func (c *Client) relogin(ctx context.Context) error {
	if err := refusedInTurn(ctx); err != nil {
		return err
	}
	defer changesNothing(ctx)()
	c.token, c.session, c.header, c.lost = false, "", nil, true
	c.rootAt = time.Time{}
	c.firmware, c.offers = nil, nil // Sessions end when a BMC gets another firmware.
	if err := c.login(ctx); err != nil {
		if e := new(Error); errors.As(err, &e) {
			e.login = true
		}
		refuseTurn(ctx, err)

		return err
	}
	c.lost = false

	return nil
}

func (c *Client) try(ctx context.Context, method, path string, body any, ifMatch string) (answer, error) {
	path = c.address.own(path)
	what := "cannot " + strings.ToLower(method) + " " + path
	if err := checkPath(path); err != nil {
		return answer{}, unsent(err)
	}
	if err := wait(ctx, c.cfg.Limiter); err != nil {
		return answer{}, unsent(err)
	}
	headers := c.headers(ifMatch)
	if c.known != "" && method == http.MethodGet {
		headers["If-None-Match"] = c.known
	}
	resp, err := c.send(ctx, method, c.address.path(path), body, headers)
	if errors.Is(err, schemas.ErrNotModified) && c.known != "" {
		_ = resp.Body.Close()

		return answer{same: true}, nil
	}
	if err != nil {
		unanswered := unconnected(err)
		err = classify(what, err)
		if e := new(Error); errors.As(err, &e) {
			e.RetryAfter, e.ContentType = c.fence.retryAfter, c.fence.contentType
		}
		if err = c.explained(err); unanswered {
			err = unsent(err)
		}

		return answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	content, err := io.ReadAll(resp.Body)
	if err != nil {
		return answer{}, classify(what, &url.Error{Op: method, URL: path, Err: err})
	}

	return answer{status: resp.StatusCode, body: content, etag: etagOf(resp.Header.Get("ETag"), content), header: resp.Header}, nil
}

// send is gofish's transport: it adds the endpoint and turns error statuses
// into schemas.Error. Actions go without If-Match: gofish's own Reset sends
// one, which some BMCs answer with 412.
func (c *Client) send(ctx context.Context, method, path string, body any, headers map[string]string) (*http.Response, error) {
	api := c.api.WithContext(ctx)
	switch method {
	case http.MethodPatch:
		return api.PatchWithHeaders(path, body, headers)
	case http.MethodPost:
		return api.PostWithHeaders(path, body, headers)
	case http.MethodDelete:
		return api.DeleteWithHeaders(path, headers)
	default:
		return api.GetWithHeaders(path, headers)
	}
}

func (c *Client) headers(ifMatch string) map[string]string {
	h := map[string]string{"OData-Version": "4.0"}
	maps.Copy(h, c.header)
	if ifMatch != "" {
		h["If-Match"] = ifMatch
	}

	return h
}

// etagOf prefers the body's ETag: some BMCs compute the header's from the text
// of the answer, which changes with every read.
func etagOf(header string, body []byte) string {
	var b struct {
		ETag text `json:"@odata.etag"`
	}
	if decode(body, &b) == nil && b.ETag != "" {
		return string(b.ETag)
	}

	return header
}

// checkPath refuses links that aren't absolute paths of this BMC.
func checkPath(path string) error {
	u, err := url.Parse(path)
	if err != nil || u.Host != "" || u.Scheme != "" || !strings.HasPrefix(path, "/") {
		return failf(Protocol, "the BMC named a link that isn't a path: %.80q", path)
	}

	return nil
}

func wait(ctx context.Context, w Waiter) error {
	if w == nil {
		return nil
	}
	if err := w.Wait(ctx); err != nil {
		return &Error{Kind: Unreachable, what: "gave up waiting for the BMC's rate limit", cause: err}
	}

	return nil
}
