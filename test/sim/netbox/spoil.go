package netbox

import (
	"context"
	"net/http"
	"strconv"
	"time"
)

// before happens before the work; true ends the connection.
func (f *Fault) before(ctx context.Context) bool {
	switch f.Kind {
	case FaultDelay:
		time.Sleep(f.Delay) // NetBox goes on when its client has gone (858)
	case FaultHang:
		<-ctx.Done()
		return true
	case FaultDisconnect:
		return true
	default:
	}
	return false
}

// answer is given instead of the work, or nil.
func (f *Fault) answer(tr traits) *response {
	switch f.Kind {
	case FaultBadToken:
		if tr.bearer() {
			return detail(http.StatusForbidden, "Invalid v1 token")
		}
		return detail(http.StatusForbidden, "Invalid token")
	case FaultReadOnlyToken:
		return noRight()
	case FaultFull:
		return full()
	case FaultMarkerTaken:
		return notUnique("marker")
	case FaultNoPrefix:
		return noMatch("Prefix")
	case FaultServerErrorJSON:
		return serverError(tr, "OperationalError", "terminating connection due to administrator command")
	case FaultServerErrorHTML:
		return htmlPage(http.StatusInternalServerError)
	case FaultBusy:
		res := htmlPage(http.StatusTooManyRequests)
		res.header.Set("Retry-After", strconv.Itoa(max(1, int(f.Delay/time.Second))))
		return res
	case FaultConflict:
		return detail(http.StatusConflict, "The request conflicts with another one.")
	case FaultBadGateway:
		return htmlPage(http.StatusBadGateway)
	case FaultPage:
		return htmlPage(http.StatusOK)
	case FaultRedirect:
		res := htmlPage(http.StatusFound)
		res.header.Set("Location", f.Location)
		return res
	default:
		return nil
	}
}

// after happens after the work; true ends the connection.
func (f *Fault) after(ctx context.Context) bool {
	switch f.Kind {
	case FaultHangAfter:
		<-ctx.Done()
		return true
	case FaultEOFAfter:
		return true
	default:
		return false
	}
}

// spoil changes an answer on its way.
func (f *Fault) spoil(res *response) {
	switch f.Kind {
	case FaultErrorAfter:
		*res = *htmlPage(http.StatusInternalServerError)
	case FaultStrangeChoice:
		res.body = estrange(res.body)
	case FaultBOM, FaultHalfJSON, FaultCutOff:
		res.spoiled = f.Kind
	default:
	}
}

// estrange returns a body whose choices are of a newer NetBox.
func estrange(body any) any {
	switch v := body.(type) {
	case map[string]any:
		out := map[string]any{"quantum_state": map[string]any{"spin": "up"}}
		for k, x := range v {
			out[k] = estrange(x)
			if _, ok := x.(map[string]any); ok && (k == "status" || k == "role") {
				out[k] = choice("entangled", "Entangled")
			}
		}
		return out
	case []any:
		out := []any{}
		for _, x := range v {
			out = append(out, estrange(x))
		}
		return out
	}
	return body
}
