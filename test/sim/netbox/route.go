package netbox

import (
	"encoding/json"
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
}

func (c *exchange) route() *response {
	token, why := c.s.state.token(c.r.Header.Get("Authorization"), c.s.traits)
	if why != "" {
		if !c.known() {
			return htmlPage(http.StatusNotFound)
		}
		return detail(http.StatusForbidden, why)
	}
	c.token = token
	if res := c.mediaType(); res != nil {
		return res
	}
	switch c.collection() {
	case "status":
		return c.status()
	case "ipam/prefixes":
		return c.prefixes()
	case "ipam/ip-addresses":
		return c.addresses()
	case "ipam/vrfs":
		return c.vrfs()
	case "extras/custom-fields":
		return c.customFields()
	}
	return htmlPage(http.StatusNotFound)
}

// collection is the first two parts of the path, or the first if there is one.
func (c *exchange) collection() string { return strings.Join(c.parts[:min(2, len(c.parts))], "/") }

func (c *exchange) known() bool {
	switch c.collection() {
	case "status", "ipam/prefixes", "ipam/ip-addresses", "ipam/vrfs", "extras/custom-fields":
		return true
	}
	return false
}

func (c *exchange) mediaType() *response {
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

// number reads the id part of the path. Not a number: Django's own 404 (293).
func (c *exchange) number() (int64, *response) {
	n, err := strconv.ParseInt(c.parts[2], 10, 64)
	if err != nil && strings.Trim(c.parts[2], "0123456789") != "" {
		return 0, detail(http.StatusNotFound, "Not found.")
	}
	return n, nil
}

// object decodes the body as one object. Lists, which NetBox also takes, aren't in use here: an
// emulated 501 makes a client that sends one fail loudly.
func (c *exchange) object() (map[string]any, *response) {
	var v any
	if len(c.body) == 0 {
		return map[string]any{}, nil
	}
	if err := json.Unmarshal(c.body, &v); err != nil {
		return nil, detail(http.StatusBadRequest, "JSON parse error - "+err.Error())
	}
	switch v := v.(type) {
	case map[string]any:
		return v, nil
	case []any:
		return nil, detail(http.StatusNotImplemented, "the emulator takes no lists")
	}
	if c.s.traits.atLeast(4, 7) {
		return nil, fieldError("__all__", "No data provided")
	}
	return nil, fieldError("non_field_errors", "No data provided")
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
