package bmc_test

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// twister is a captured tree that shows one resource in another way.
type twister struct {
	tree *bmc.Tree
	next http.Handler

	mu     sync.Mutex
	uri    string
	body   []byte
	status int
}

// ServeHTTP implements http.Handler.
func (w *twister) ServeHTTP(to http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	uri, body, status := w.uri, w.body, w.status
	w.mu.Unlock()
	if r.Method == http.MethodGet && uri != "" && strings.EqualFold(strings.TrimRight(r.URL.Path, "/"), strings.TrimRight(uri, "/")) {
		to.Header().Set("Content-Type", "application/json")
		to.WriteHeader(status)
		_, _ = to.Write(body)

		return
	}
	w.next.ServeHTTP(to, r)
}

// shows has a resource shown as body; "" has all as they were captured.
func (w *twister) shows(uri string, body any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.uri, w.status = uri, http.StatusOK
	w.body, _ = json.Marshal(body) //nolint:errchkjson // It was JSON.
}

// answers to a resource with something else.
func (w *twister) answers(uri string, status int, body string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.uri, w.status, w.body = uri, status, []byte(body)
}

// as it was captured.
func (w *twister) as(uri string) map[string]any {
	var out map[string]any
	w.tree.With(uri, func(body map[string]any) { out = body })

	return out
}

// twists are the ways in which real BMCs differ from the schema, of any value.
var twists = map[string]func(v any) (any, bool){
	"missing":      nil,
	"null":         func(any) (any, bool) { return nil, true },
	"in a list":    func(v any) (any, bool) { return []any{v}, true },
	"a number":     func(any) (any, bool) { return 17, true },
	"negative":     func(any) (any, bool) { return -1.5e300, true },
	"a word":       func(any) (any, bool) { return "Not Available", true },
	"empty":        func(any) (any, bool) { return "", true },
	"true":         func(any) (any, bool) { return true, true },
	"empty object": func(any) (any, bool) { return map[string]any{}, true },
	"empty list":   func(any) (any, bool) { return []any{}, true },
	"an object":    func(v any) (any, bool) { return map[string]any{"Value": v}, true },
	"nulls":        func(any) (any, bool) { return []any{nil, nil}, true },
	"slash":        func(v any) (any, bool) { s, ok := v.(string); return s + "/", ok && strings.HasPrefix(s, "/") },
	"elsewhere": func(v any) (any, bool) {
		s, ok := v.(string)
		return "https://evil.example" + s, ok && strings.HasPrefix(s, "/")
	},
	"dangling": func(v any) (any, bool) {
		s, ok := v.(string)
		return s + "/nothing-there", ok && strings.HasPrefix(s, "/")
	},
	"itself": func(v any) (any, bool) {
		s, ok := v.(string)
		return "/redfish/v1/Systems", ok && strings.HasPrefix(s, "/")
	},
	"no path": func(v any) (any, bool) {
		s, ok := v.(string)
		return strings.TrimPrefix(s, "/redfish/v1/"), ok && strings.HasPrefix(s, "/")
	},
	"upper case":     func(v any) (any, bool) { s, ok := v.(string); return strings.ToUpper(s), ok },
	"number as text": func(v any) (any, bool) { n, ok := v.(float64); return jsonOf(n), ok },
}

func jsonOf(v any) string {
	b, _ := json.Marshal(v) //nolint:errchkjson // It was JSON.

	return string(b)
}

// paths are the properties of a body, so deep.
func paths(body any, deep int, at []string, visit func(path []string)) {
	o, ok := body.(map[string]any)
	if list, is := body.([]any); is && len(list) > 0 {
		paths(list[0], deep, append(slices.Clone(at), "0"), visit)
	}
	if !ok || deep == 0 {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(o)) {
		path := append(slices.Clone(at), name)
		visit(path)
		paths(o[name], deep-1, path, visit)
	}
}

// twisted is body with the property at a path twisted, where that makes sense of it.
func twisted(body any, path []string, by func(v any) (any, bool)) bool {
	if list, ok := body.([]any); ok {
		return len(list) > 0 && twisted(list[0], path[1:], by)
	}
	o, ok := body.(map[string]any)
	if !ok {
		return false
	}
	name := path[0]
	if len(path) > 1 {
		return twisted(o[name], path[1:], by)
	}
	if by == nil {
		delete(o, name)

		return true
	}
	v, ok := by(o[name])
	if ok {
		o[name] = v
	}

	return ok
}

func (w *twister) connect(ctx context.Context, url string) (*redfish.Client, error) {
	return redfish.Connect(ctx, redfish.Config{
		Address: url, Username: bmc.DefaultUsername, Password: bmc.DefaultPassword, TLS: redfish.TLS{Verify: redfish.VerifyNone},
		Guard:            redfish.Guard{Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, AllowLoopback: true},
		ReadBackInterval: time.Millisecond,
	})
}

// connected is a client, and the first machine that it finds.
func (w *twister) connected(t *testing.T, url string, emu *bmc.BMC) (*redfish.Client, redfish.System) {
	t.Helper()
	c, err := w.connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.WithoutCancel(t.Context())) })
	for _, id := range emu.Systems() {
		s, err := c.SystemAt(t.Context(), emu.SystemURI(id))
		if err == nil && s.CanReset {
			return c, s
		}
	}
	t.Fatal("no machine")

	return nil, redfish.System{}
}

// oneOfEach are the machine, what leads to it, and one resource of each other type.
func (w *twister) oneOfEach(machine string) []string {
	seen := map[string]bool{}
	var out []string
	for _, uri := range w.tree.Paths() {
		kind, _ := w.as(uri)["@odata.type"].(string)
		kind, _, _ = strings.Cut(strings.TrimPrefix(kind, "#"), ".")
		same := strings.EqualFold(strings.TrimRight(uri, "/"), strings.TrimRight(machine, "/"))
		if kind == "ComputerSystem" && !same && !strings.HasPrefix(strings.ToLower(uri), strings.ToLower(machine)+"/") {
			continue
		}
		if !same && (seen[kind] || kind == "ComputerSystem" && seen["settings"]) || strings.Contains(kind, "Registry") {
			continue
		}
		if kind == "ComputerSystem" && !same {
			seen["settings"] = true
		} else if !same {
			seen[kind] = true
		}
		out = append(out, uri)
	}

	return out
}
