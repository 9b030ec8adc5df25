package hooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

const (
	// PassedHeader is on what another provider has passed on.
	PassedHeader = "X-Crossplane-Passed-On" //nolint:gosec // No secret.
	// passPatience is how long the one that leads may take: less than NetBox waits for an answer to a delivery.
	passPatience = 3 * time.Second
	// mostIdle connections to the one that leads are kept.
	mostIdle = 4
)

// errUnled says that there's nobody to pass anything on to.
var errUnled = errors.New("nobody knows who leads")

// A Relay passes on what this provider is sent, as it came, to the one that leads: it alone knows whom to wake.
type Relay struct {
	leader func(ctx context.Context) (string, error)
	client *http.Client
}

// NewRelay talks to providers of the same cluster, straight: by no proxy, and wherever one of them sends us we don't go. leader returns where the one
// that leads listens, as HOST:PORT; "" where nobody does.
func NewRelay(leader func(ctx context.Context) (string, error)) *Relay {
	return &Relay{leader: leader, client: &http.Client{
		Timeout:       passPatience,
		Transport:     &http.Transport{MaxIdleConnsPerHost: mostIdle, IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Pass a request on with a body, which is JSON, and those of its headers that are named, and return how it was answered. One that was passed on
// already isn't again: who leads is just changing. An error doesn't name the path, which may be a secret.
func (r *Relay) Pass(req *http.Request, body []byte, headers ...string) (status int, err error) {
	if req.Header.Get(PassedHeader) != "" {
		return 0, errUnled
	}
	ctx, cancel := context.WithTimeout(req.Context(), passPatience)
	defer cancel()
	at, err := r.leader(ctx)
	if err != nil {
		return 0, fmt.Errorf("cannot tell who leads: %w", err)
	}
	if at == "" {
		return 0, errUnled
	}
	//nolint:gosec // Who sends it chooses no more than the path: the address is the lease's.
	on, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+at+req.URL.EscapedPath(), bytes.NewReader(body))
	if err != nil {
		return 0, fmt.Errorf("cannot ask %q: %w", at, withoutURL(err))
	}
	on.Header.Set("Content-Type", "application/json")
	for _, h := range headers {
		on.Header.Set(h, req.Header.Get(h))
	}
	on.Header.Set(PassedHeader, "1")
	res, err := r.client.Do(on) //nolint:gosec // As above.
	if err != nil {
		return 0, fmt.Errorf("cannot ask %q: %w", at, withoutURL(err))
	}
	_ = res.Body.Close() // It's empty.
	return res.StatusCode, nil
}

// withoutURL is an error without the URL that it's about.
func withoutURL(err error) error {
	if of, ok := errors.AsType[*url.Error](err); ok {
		return of.Err
	}
	return err
}
