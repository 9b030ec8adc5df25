package netboxwebhook

import (
	"net/http"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// pass a delivery on to the provider that leads. NetBox sends each once, to whichever of them its Service chooses. Where that fails, the first look of
// the next one that leads shows all.
func (r *Receiver) pass(req *http.Request, body []byte) (status int, result string) {
	status, err := r.relay.Pass(req, body, netbox.SignatureHeader)
	switch {
	case err != nil:
		r.Log.Debug("Cannot pass a webhook of NetBox on", "error", err)
		return http.StatusServiceUnavailable, resultUnled
	case status >= http.StatusInternalServerError:
		return status, resultUnled
	case status == http.StatusNoContent, status == http.StatusBadRequest: // It was read, and what couldn't be counts there.
		return status, resultPassed
	}
	return status, resultRefused
}
