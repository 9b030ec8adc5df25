package netbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// A call is one request, and the words its failure is told in.
type call struct {
	op, subject string // "allocate an address in prefix", "10.77.0.0/24"
	method      string
	path        string // below /api/, with its trailing slash: before 4.5.9 a POST without is a 301
	query       url.Values
	body        any
	raw         []byte // a body as it is, instead of body
	ifMatch     string
	want        int // the one status that means done
	most        int // bytes that are read of the answer; 0: Limits.One
	// in is told of the answer's bytes as they come, before there's memory for them; nil isn't.
	in *reading
	// probe is a request that can change nothing, whatever its method is.
	probe bool
	// marks says that the body puts a marker on a record.
	marks bool
	// verdict says what is wrong with an answer of the wanted status, or "": for those who count.
	verdict func(body []byte) Kind
	// notAfter is when it's too late to send it; the zero time: never.
	notAfter time.Time
	// answered is told of what came back, whatever it is.
	answered func(reply)
}

// limit is how much of an answer is read.
func (k call) limit() int {
	if k.most > 0 {
		return k.most
	}
	return maxBody
}

// failed words a failure without an answer.
func (k call) failed(kind Kind, reason string, cause error) *Error {
	return &Error{Kind: kind, Op: k.op, Subject: k.subject, Reason: reason, Err: cause}
}

// elsewhere words what isn't there, and what is known of it all the same.
func (k call) elsewhere(words string, cause error) *Error {
	e := k.failed(KindNotFound, words, cause)
	e.Elsewhere = words
	return e
}

// writes says whether the call changes NetBox, so that a lost answer has an unknown outcome.
func (k call) writes() bool {
	return k.method != http.MethodGet && k.method != http.MethodOptions && !k.probe
}

// ofOne says that the call is about one record, by its number, which may not be there.
func (k call) ofOne() bool {
	return slices.ContainsFunc(strings.Split(k.path, "/"), func(part string) bool {
		return part != "" && strings.Trim(part, "0123456789") == ""
	})
}

// An answer is what came back, already known to be the wanted status and JSON (or empty, for 204).
type answer struct {
	header http.Header
	body   []byte
}

// etag is the answer's, as NetBox gave it: what compresses on the way may append how, and pass it on in If-Match as it's said there, where
// NetBox doesn't know it (Apache's mod_deflate).
func (a answer) etag() string {
	tag := a.header.Get("ETag")
	for _, how := range []string{"-gzip", "-br", "-zstd", ";gzip", ";br"} {
		if plain, ok := strings.CutSuffix(tag, how+`"`); ok {
			return plain + `"`
		}
	}
	return tag
}

// do performs one call and classifies whatever comes back. A 403 costs one more GET, of /api/status/,
// which needs a valid token and no rights: the only way to tell a bad token from a missing right
// without reading sentences.
func (c *Client) do(ctx context.Context, k call) (answer, error) {
	a, err := c.once(ctx, k)
	if !IsForbidden(err) {
		return a, err
	}
	status, api := statusCall(), ""
	status.answered = func(r reply) { api = r.api }
	if _, serr := c.once(ctx, status); IsForbidden(serr) {
		return a, c.unauthorized(k, err, api)
	}
	return a, err
}

func (c *Client) once(ctx context.Context, k call) (answer, error) {
	if c.readOnly && k.writes() {
		return answer{}, k.failed(KindReadOnly, "this connection is for looking alone", nil)
	}
	release, err := c.wait(ctx, k)
	if err != nil {
		return answer{}, err
	}
	defer release()
	if !k.notAfter.IsZero() && time.Now().Round(0).After(k.notAfter) { // After all that it had to wait for here.
		return answer{}, k.failed(KindUnreachable, "it waited for so long for its turn that it's too late; nothing was sent", errTooLate)
	}
	if k.most == 0 {
		k.most = c.room.limits.One
	}
	ctx, ended := c.watch(ctx, k)
	a, err := c.send(ctx, k)
	ended(a, err)
	return a, err
}

func (c *Client) send(ctx context.Context, k call) (answer, error) {
	req, err := c.request(ctx, k)
	if err != nil {
		return answer{}, k.failed(KindInvalid, "the request can't be built", err)
	}
	if len(req.URL.RequestURI()) > maxURL {
		return answer{}, k.failed(KindInvalid, "its URL would be longer than the 4 kB that a NetBox takes: ask for less at once", nil)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return answer{}, classifyTransport(k, err)
	}
	came := time.Now()
	defer func() { _ = resp.Body.Close() }()
	c.pause.note(resp.StatusCode, resp.Header)
	body, err := k.read(resp.Body)
	if e, ok := errors.AsType[*Error](err); ok {
		e.Status = resp.StatusCode // There's no memory for what it answered.
		return answer{}, e
	}
	a, err := judge(k, resp.StatusCode, resp.Header, body, err)
	if err == nil { // What else is answered may be of something in front of it.
		c.dated(resp.Header, came)
	}
	return a, err
}

// read an answer's body, and no more than a byte beyond what may be read of it.
func (k call) read(body io.Reader) ([]byte, error) {
	most := int64(k.limit()) + 1
	if k.in == nil {
		return io.ReadAll(io.LimitReader(body, most))
	}
	b, err := io.ReadAll(io.LimitReader(&counted{Reader: body, in: k.in}, most))
	k.in.page(int64(len(b)))
	return b, err
}

// judge turns a complete or torn answer into data or a typed error. Pure.
func judge(k call, status int, h http.Header, body []byte, readErr error) (answer, error) {
	ct, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	body = bytes.TrimPrefix(body, []byte("\ufeff")) // Some proxies put a byte order mark in front of what they rewrite.
	r := reply{status: status, contentType: ct[:min(len(ct), maxContentType)], body: body, api: h.Get("Api-Version")}
	if k.answered != nil {
		k.answered(r)
	}
	switch {
	case readErr != nil:
		return answer{}, r.torn(k, "the answer broke off", fmt.Errorf("%w: %w", errTorn, readErr))
	case len(body) > k.limit():
		return answer{}, r.torn(k, "the answer is larger than "+sizeOf(k.limit()), errLarge)
	case status != k.want:
		return answer{}, r.refused(k)
	case status == http.StatusNoContent:
		return answer{header: h}, nil
	case !r.json():
		return answer{}, r.torn(k, "the answer isn't JSON; check that the URL is NetBox's", nil)
	}
	return answer{header: h, body: body}, nil
}

func (c *Client) request(ctx context.Context, k call) (*http.Request, error) {
	u := c.base.JoinPath(k.path)
	u.RawQuery = k.query.Encode()
	var body io.Reader
	switch {
	case k.raw != nil:
		body = bytes.NewReader(k.raw)
	case k.body != nil:
		b, err := json.Marshal(k.body)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, k.method, u.String(), body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", typeJSON)
	req.Header.Set("Accept-Language", "en")
	req.Header.Set("Authorization", c.auth)
	req.Header.Set("User-Agent", "provider-baremetal")
	if body != nil {
		req.Header.Set("Content-Type", typeJSON)
	}
	if k.ifMatch != "" {
		req.Header.Set("If-Match", k.ifMatch)
	}
	return req, nil
}

// httpClient follows no redirect, as net/http would turn a POST into a GET (a 200, and no record) and carry on to anywhere.
func httpClient(cfg Config, base *url.URL, o options) (*http.Client, error) {
	t, err := newTransport(cfg, base, o)
	if err != nil {
		return nil, err
	}
	timeout := cfg.Timeout
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	return &http.Client{
		Timeout:       timeout,
		Transport:     t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}
