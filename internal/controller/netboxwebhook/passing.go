package netboxwebhook

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

const (
	// passedHeader is on deliveries that another provider has passed on.
	passedHeader = "X-Crossplane-Passed-On" //nolint:gosec // No secret.
	// passPatience is how long the one that leads may take: less than NetBox waits for an answer to a delivery.
	passPatience = 3 * time.Second
	// mostIdle connections to the one that leads are kept.
	mostIdle = 4
)

// newPasser talks to providers of the same cluster, straight: by no proxy, and wherever one of them sends us we don't go.
func newPasser() *http.Client {
	return &http.Client{
		Timeout:       passPatience,
		Transport:     &http.Transport{MaxIdleConnsPerHost: mostIdle, IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// pass a delivery on, as it came, to the provider that leads: it alone knows whom to wake. NetBox sends each once, to whichever of them its
// Service chooses. One that was passed on already isn't again: who leads is just changing, and the first look of the next one shows all.
func (r *Receiver) pass(req *http.Request, body []byte) (status int, result string) {
	if req.Header.Get(passedHeader) != "" {
		return http.StatusServiceUnavailable, resultUnled
	}
	ctx, cancel := context.WithTimeout(req.Context(), passPatience)
	defer cancel()
	at, err := r.Leader(ctx)
	if err != nil || at == "" {
		r.Log.Debug("Cannot pass a webhook of NetBox on: nobody knows who leads", "error", err)
		return http.StatusServiceUnavailable, resultUnled
	}
	//nolint:gosec // Whoever signed it chooses no more than which provider config it's for: the address is the lease's.
	on, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+at+req.URL.EscapedPath(), bytes.NewReader(body))
	if err != nil {
		r.Log.Debug("Cannot pass a webhook of NetBox on", "to", at, "error", err)
		return http.StatusServiceUnavailable, resultUnled
	}
	on.Header.Set("Content-Type", "application/json")
	on.Header.Set(netbox.SignatureHeader, req.Header.Get(netbox.SignatureHeader))
	on.Header.Set(passedHeader, "1")
	res, err := r.passer.Do(on) //nolint:gosec // As above.
	if err != nil {
		r.Log.Debug("Cannot pass a webhook of NetBox on", "to", at, "error", err)
		return http.StatusServiceUnavailable, resultUnled
	}
	_ = res.Body.Close() // It's empty.
	switch {
	case res.StatusCode >= http.StatusInternalServerError:
		return res.StatusCode, resultUnled
	case res.StatusCode == http.StatusNoContent, res.StatusCode == http.StatusBadRequest: // It was read, and what couldn't be counts there.
		return res.StatusCode, resultPassed
	}
	return res.StatusCode, resultRefused
}
