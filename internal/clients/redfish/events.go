package redfish

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/lenient"
)

const (
	// silence is how long a stream may say nothing, not even a comment, until it's
	// opened anew: a BMC that lost its power ends no connection.
	silence = 15 * time.Minute
	// chunk is what is read of a stream at once.
	chunk = 2 << 10
	// mediaStream is the media type of a stream of events.
	mediaStream = "text/event-stream"
)

// A Stream tells when a BMC says that something has changed, over server-sent
// events (DSP0266, "Server-Sent Events"). It has a connection of its own beside
// its Client's, to the same address, with the same trust and the same session or
// password, and never logs in. It is safe to use beside its Client.
type Stream struct {
	url     string
	header  map[string]string
	fence   *fence
	limiter Waiter
	// patience is how long the answer may take, and silence how long nothing may
	// come behind it.
	patience, silence time.Duration
}

// eventService is an EventService, as far as it tells of its stream.
type eventService struct {
	Enabled *lenient.Flag `json:"ServiceEnabled"`
	URI     ref           `json:"ServerSentEventUri"`
}

// Stream reads where the BMC tells of changes: one request, by which the session,
// or the password, is known to be good; a password that is refused there takes a
// second one, of the machine. It never logs in: where the session has ended, the
// error is of kind Unreachable, and whoever asks next renews it; so is it where no
// machine was read with the password yet. A BMC that can't is Unsupported, by
// EventService, ServiceEnabled or ServerSentEventUri; so is one, by Session, that
// lets us in with each request since it has no sessions, or none left: one more
// connection would make that worse.
func (c *Client) Stream(ctx context.Context) (*Stream, error) {
	service := string(c.root.EventService)
	switch {
	case c.lost:
		return nil, errSessionEnded()
	case !c.token && c.cfg.Auth != AuthBasic:
		return nil, unsupported("Session")
	case service == "":
		return nil, unsupported("EventService")
	case !c.token && c.system == "":
		return nil, failf(Unreachable, "cannot listen to the BMC: no machine was read with the password yet")
	}
	var b eventService
	a, err := c.try(ctx, http.MethodGet, service, nil, "")
	switch {
	case IsUnauthorized(err) && c.token:
		return nil, errSessionEnded()
	case IsUnauthorized(err):
		return nil, c.deniedStream(ctx, service, err)
	case IsNotFound(err):
		return nil, unsupported("EventService")
	case err != nil:
		return nil, err
	case decode(a.body, &b) != nil:
		return nil, c.stranger(service, a)
	case b.URI == "":
		return nil, unsupported("ServerSentEventUri")
	case b.Enabled != nil && b.Enabled.Known && !b.Enabled.True:
		return nil, unsupported("ServiceEnabled")
	}

	return c.streamAt(string(b.URI))
}

// deniedStream is what a 401 of the event service by password means: Forbidden where
// the BMC takes the same password for the machine. Some answer so where an account
// lacks a privilege, and a hint to look isn't worth the password.
func (c *Client) deniedStream(ctx context.Context, service string, err error) error {
	in, unknown := c.letIn(ctx, service)
	e, ok := errors.AsType[*Error](err)
	switch {
	case unknown != nil:
		return unknown
	case in && ok:
		denied := *e
		denied.Kind = Forbidden

		return &denied
	default:
		return err
	}
}

// errSessionEnded is no fault of the password's.
func errSessionEnded() error {
	return failf(Unreachable, "cannot listen to the BMC: its session has ended")
}

// streamAt is what listens to a stream that a BMC names.
func (c *Client) streamAt(uri string) (*Stream, error) {
	if err := checkPath(uri); err != nil {
		return nil, err
	}
	_, f, err := newHTTPClient(c.cfg, c.address, c.trust)
	if err != nil {
		return nil, err
	}
	to := c.address
	to.Prefix = "" // path puts it before what lacks it.
	s := &Stream{
		url: to.URL() + c.address.path(uri), header: c.headers(""), fence: f, limiter: c.cfg.Limiter,
		patience: c.cfg.RequestTimeout, silence: silence,
	}
	s.header["Accept"], s.header["Accept-Encoding"] = mediaStream, "identity"

	return s, nil
}

// Listen calls opened once the BMC has begun to tell, and heard with how many events
// it has told of since. It returns why that has ended:
// ErrStreamClosed, ErrStreamSilent, ErrStreamFlooded, ErrStreamGarbage, an Error,
// or the cause of ctx's end. What the events say isn't looked at.
func (s *Stream) Listen(ctx context.Context, opened func(), heard func(events int)) error {
	defer s.fence.CloseIdleConnections()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	late := time.AfterFunc(s.patience, func() { end(errNoAnswer) })
	defer late.Stop()
	body, err := s.open(ctx)
	if err != nil {
		return s.ended(ctx, err)
	}
	defer func() { _ = body.Close() }()
	late.Stop()
	silent := time.AfterFunc(s.silence, func() { end(ErrStreamSilent) })
	defer silent.Stop()
	opened()

	return s.ended(ctx, s.follow(body, silent, heard))
}

// follow reads a stream to its end, and returns why that is one.
func (s *Stream) follow(body io.Reader, silent *time.Timer, heard func(events int)) error {
	var d decoder
	var f flood
	buffer := make([]byte, chunk)
	for {
		n, err := body.Read(buffer)
		silent.Reset(s.silence)
		events, bad := d.write(buffer[:n])
		if events > 0 {
			heard(events)
		}
		switch {
		case bad != nil:
			return bad
		case f.over(time.Now(), events, n):
			return ErrStreamFlooded
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return ErrStreamClosed
		case err != nil:
			return err
		}
	}
}

// ended is why listening has ended: not by the error of a connection that was
// ended from here.
func (s *Stream) ended(ctx context.Context, err error) error {
	const what = "cannot listen to the BMC"
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, errNoAnswer):
		return &Error{Kind: Unreachable, what: what, cause: errNoAnswer}
	case cause != nil:
		return cause
	case errors.Is(err, ErrStreamClosed), errors.Is(err, ErrStreamFlooded), errors.Is(err, ErrStreamGarbage):
		return err
	default:
		return classify(what, &url.Error{Op: http.MethodGet, URL: s.url, Err: err})
	}
}

// open asks for the stream. An answer that isn't one is an Error; one of 401 is
// Forbidden: the BMC took the same session, or password, a moment ago.
func (s *Stream) open(ctx context.Context) (io.ReadCloser, error) {
	if err := wait(ctx, s.limiter); err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, http.NoBody)
	if err != nil || !s.fence.holds(r.URL) {
		return nil, failf(Protocol, "the BMC named a stream of events that leads elsewhere")
	}
	for name, value := range s.header {
		r.Header.Set(name, value)
	}
	resp, err := s.fence.follow(r)
	count(ctx, resp, err)
	if err != nil {
		return nil, err
	}
	kind := contentType(resp.Header.Get("Content-Type"))
	if resp.StatusCode == http.StatusOK && kind == mediaStream {
		return resp.Body, nil
	}
	_ = resp.Body.Close()
	e := &Error{
		Kind: kindOfStatus(resp.StatusCode), Status: resp.StatusCode, ContentType: kind,
		RetryAfter: retryAfter(resp.Header.Get("Retry-After")), what: "cannot listen to the BMC",
	}
	if e.Kind == Unauthorized {
		e.Kind = Forbidden
	}
	if e.Status < http.StatusMultipleChoices {
		e.Kind, e.what = Protocol, "cannot listen to the BMC: the answer isn't a stream of events"
	}

	return nil, e
}
