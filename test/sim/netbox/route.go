package netbox

import (
	"net/http"
	"strconv"
	"strings"
)

// An exchange is one request on its way through, under the server's lock.
type exchange struct {
	s     *Server
	r     *http.Request
	body  []byte
	parts []string // path below /api/
	base  string   // scheme and host for URLs in bodies
	token Token
	fault *Fault
	// request is its number, for the change log.
	request string
}

// requestID is made once for each request.
func (c *exchange) requestID() string {
	if c.request == "" {
		c.request = c.s.requestID()
	}
	return c.request
}

// handlers by the first two parts of the path.
func (c *exchange) handlers() map[string]func() *response {
	return map[string]func() *response{
		"status":                          c.status,
		"authentication-check":            c.authenticationCheck,
		"ipam/prefixes":                   c.prefixes,
		"ipam/ip-ranges":                  c.ranges,
		"ipam/ip-addresses":               c.addresses,
		"ipam/vrfs":                       c.vrfs,
		"ipam/roles":                      func() *response { return c.things("role") },
		"tenancy/tenants":                 func() *response { return c.things("tenant") },
		"extras/tags":                     func() *response { return c.things("tag") },
		"extras/custom-fields":            c.customFields,
		"dcim/sites":                      func() *response { return c.things("site") },
		"dcim/devices":                    func() *response { return c.machinesAt(false) },
		"dcim/interfaces":                 func() *response { return c.interfacesAt(false) },
		"dcim/mac-addresses":              c.macAddresses,
		"virtualization/virtual-machines": func() *response { return c.machinesAt(true) },
		"virtualization/interfaces":       func() *response { return c.interfacesAt(true) },
		"core/object-changes":             c.objectChanges,
	}
}

func (c *exchange) route() *response {
	handle, known := c.handlers()[c.collection()]
	if c.collection() == "authentication-check" && !c.s.traits.atLeast(4, 5) {
		known = false
	}
	token, why := c.s.state.token(c.r.Header.Get("Authorization"), c.s.traits)
	switch {
	case !known:
		return htmlPage(http.StatusNotFound)
	case why != "":
		return detail(http.StatusForbidden, why)
	}
	c.token = token
	if res := c.mediaType(); res != nil {
		return res
	}
	if c.r.Method == http.MethodOptions {
		return c.describe()
	}
	res := handle()
	if c.reads() && strings.Contains(c.r.Header.Get("Accept"), "text/html") && !strings.Contains(c.r.Header.Get("Accept"), "json") {
		page := htmlPage(res.status)
		page.noAllow = false
		return page
	}
	return res
}

// collection is the first two parts of the path, or the first if there is one.
func (c *exchange) collection() string { return strings.Join(c.parts[:min(2, len(c.parts))], "/") }

// mediaType refuses what isn't JSON, on the way in (726, 727) and out (728).
func (c *exchange) mediaType() *response {
	accept := c.r.Header.Get("Accept")
	if accept != "" && !strings.Contains(accept, "json") && !strings.Contains(accept, "*/*") && !strings.Contains(accept, "text/html") {
		return detail(http.StatusNotAcceptable, "Could not satisfy the request Accept header.")
	}
	ct := c.r.Header.Get("Content-Type")
	if len(c.body) == 0 || ct == "" || strings.HasPrefix(ct, "application/json") {
		return nil
	}
	return detail(http.StatusUnsupportedMediaType, `Unsupported media type "`+ct+`" in request.`)
}

// may checks a right; a token that may only read fails all but view, as if it lacked the right (026).
func (c *exchange) may(right string) bool {
	if c.token.ReadOnly && !strings.HasPrefix(right, "view ") {
		return false
	}
	return c.token.may(right)
}

// detailOf is the number of the one object of a kind that the path is of, for whoever has the right to what is asked of it.
func (c *exchange) detailOf(kind string) (int64, *response) {
	if len(c.parts) != 3 {
		return 0, htmlPage(http.StatusNotFound)
	}
	if res := c.rightTo(kind, false); res != nil {
		return 0, res
	}
	return c.number()
}

// number reads the id part of the path. Not a number: Django's own 404 (293).
func (c *exchange) number() (int64, *response) {
	n, err := strconv.ParseInt(c.parts[2], 10, 64)
	if err != nil && strings.Trim(c.parts[2], "0123456789") != "" {
		return 0, detail(http.StatusNotFound, "Not found.")
	}
	if err != nil {
		return 0, nil // too big to be there (294)
	}
	return n, nil
}

// object decodes the body as one object.
func (c *exchange) object() (map[string]any, *response) {
	v, res := c.json()
	if res != nil {
		return nil, res
	}
	if m, ok := v.(map[string]any); ok || len(c.body) == 0 {
		return orEmpty(m), nil
	}
	if v == nil {
		return nil, fieldError(c.s.traits.wholeRecord(), "No data provided")
	}
	return nil, fieldError(c.s.traits.wholeRecord(), notDictionary(v))
}

func (c *exchange) notAllowed() *response {
	return detail(http.StatusMethodNotAllowed, `Method "`+c.r.Method+`" not allowed.`)
}

// get and head are one here: net/http drops the body of an answer to HEAD.
func (c *exchange) reads() bool {
	return c.r.Method == http.MethodGet || c.r.Method == http.MethodHead
}

func (c *exchange) status() *response {
	if !c.reads() {
		return c.notAllowed()
	}
	short, _, _ := strings.Cut(c.s.traits.version, "-")
	m := map[string]any{
		"django-version": "5.2.9", "netbox-version": short, "plugins": map[string]any{},
		"python-version": "3.12.1", "rq-workers-running": 1,
	}
	if c.s.traits.atLeast(4, 4) {
		m["hostname"], m["netbox-full-version"], m["installed_apps"] = "netbox-0", c.s.traits.version, map[string]any{}
	} else {
		m["installed-apps"] = map[string]any{}
	}
	return answer(http.StatusOK, m)
}

// authenticationCheck tells who is asking (004).
func (c *exchange) authenticationCheck() *response {
	if !c.reads() {
		return c.notAllowed()
	}
	m := with(constant(`{"first_name": "", "last_name": "", "email": "", "is_active": true, "last_login": null, "groups": [], "permissions": []}`),
		c.urls(map[string]any{"display": c.token.Name, "username": c.token.Name, "date_joined": stamp(c.s.now())}, "users/users", 1))
	delete(m, "owner")
	return answer(http.StatusOK, m)
}
