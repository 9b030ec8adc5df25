// Package netboxlink keeps the connections to the NetBoxes that provider configs name, and says how they are.
package netboxlink

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"

	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
)

// Options of Links. ClusterID must be set.
type Options struct {
	// ClusterID is what all our markers begin with.
	ClusterID string
	// AllowLoopback lets NetBoxes be on loopback.
	AllowLoopback bool
	// Denied are ranges of the cluster itself, where the NetBox of a namespace's own ProviderConfig can't be.
	Denied []netip.Prefix
	// Meter is told of each call; nil isn't told.
	Meter func(netbox.Call)
	// Refused is told of a provider config whose NetBox has refused its token, or a right that addresses need; nil isn't told. It mustn't wait
	// for anybody.
	Refused func(of config.Ref)
	// Addresses says how many of a namespace there are here, as resources: its ProviderConfigs' looks show no more than twice as many and a
	// thousand. nil doesn't bound them.
	Addresses func(ctx context.Context, namespace string) (int, error)
	// Tracer of calls; nil traces none.
	Tracer trace.Tracer
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Links are all connections, one for each provider config that is in use. Safe for concurrent use.
type Links struct {
	cluster            string
	operators, tenants *netbox.Pool
}

// New returns no connections yet.
func New(o Options) *Links {
	if o.Meter == nil {
		o.Meter = func(netbox.Call) {}
	}
	if o.Refused == nil {
		o.Refused = func(config.Ref) {}
	}
	if o.Tracer == nil {
		o.Tracer = noop.Tracer{}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	pool := func(denied []netip.Prefix, more ...netbox.Option) *netbox.Pool {
		return netbox.NewPool(append(more, netbox.WithDialControl(guard(o.AllowLoopback, denied)), netbox.WithClock(o.Now),
			netbox.WithMeter(func(c netbox.Call) {
				o.Meter(c)
				if of, ok := refOf(c.Connection); ok && refused(c) {
					o.Refused(of)
				}
			}), netbox.WithTracer(o.Tracer))...)
	}
	room := netbox.WithRoom(netbox.NewRoom(tenantsLimits()))
	return &Links{cluster: o.ClusterID, operators: pool(nil), tenants: pool(o.Denied, room, netbox.WithMost(func(ctx context.Context, name string) int {
		return mostOf(ctx, o.Addresses, name)
	}))}
}

// spare is how many addresses a namespace's NetBox may have of it in any case, beside twice as many as there are resources.
const spare = 1000

// mostOf is how many addresses a look of a connection may show. Where that can't be told it may show as many as there's memory for.
func mostOf(ctx context.Context, addresses func(context.Context, string) (int, error), name string) int {
	if of, ok := refOf(name); ok && addresses != nil {
		if n, err := addresses(ctx, of.Namespace); err == nil {
			return 2*n + spare
		}
	}
	return math.MaxInt
}

// tenantsLimits are what NetBoxes may take together that namespaces' owners name: any server may be one. Those of a namespace may have some
// 20,000 addresses of this cluster, however many provider configs it has, and three namespaces' are listed at once, with 8 MiB a page. What each
// worker may read by itself is 512 KiB. An operator's own are bounded by themselves.
func tenantsLimits() netbox.Limits {
	return netbox.Limits{Each: 24 << 20, All: 96 << 20, Page: 8 << 20, One: 512 << 10, AtOnce: 3, List: 8 << 20, Lists: 32 << 20}
}

// Pools are the operators' connections and the tenants'.
func (l *Links) Pools() []*netbox.Pool { return []*netbox.Pool{l.operators, l.tenants} }

// Client returns the connection of a provider config with these settings. It's made anew where settings or token have changed.
func (l *Links) Client(of config.Identity, cfg netbox.Config) (*netbox.Client, error) {
	return l.pool(of).Client(string(of.UID), cfg) //nolint:wrapcheck // It's an error of the client's already.
}

// Borrow is Client for whoever looks only now and then: nobody looks at all of its addresses for that.
func (l *Links) Borrow(of config.Identity, cfg netbox.Config) (*netbox.Client, error) {
	return l.pool(of).Borrow(string(of.UID), cfg) //nolint:wrapcheck // As above.
}

func (l *Links) pool(of config.Identity) *netbox.Pool {
	if of.Kind == v1alpha1.ClusterProviderConfigKind {
		return l.operators
	}
	return l.tenants
}

// Custom fields where the API server didn't fill them in.
const (
	defaultField     = "crossplane_claim"
	defaultNoteField = "crossplane_released"
)

// FieldOf returns the marker's custom field.
func FieldOf(c v1alpha1.NetBoxConfig) string {
	if c.MarkerField == "" {
		return defaultField
	}
	return c.MarkerField
}

// NoteFieldOf returns the release note's custom field.
func NoteFieldOf(c v1alpha1.NetBoxConfig) string {
	if c.ReleaseField == "" {
		return defaultNoteField
	}
	return c.ReleaseField
}

// Settings translates a provider config into the client's.
func Settings(n config.NetBox, clusterID string) netbox.Config {
	c, begin := n.Config, clusterID+"/"
	if n.Namespace != "" { // No other namespace's resources use it.
		begin += n.Namespace + "/"
	}
	out := netbox.Config{
		Name: Name(n.Ref), URL: c.URL, Token: n.Token, MarkerField: FieldOf(c), ReleaseField: NoteFieldOf(c), MarkersBegin: begin,
		ReadOnly: c.Access == v1alpha1.NetBoxReadOnly, ProxyURL: c.ProxyURL, Owner: n.Namespace,
	}
	if c.RequestsPerSecond != nil {
		out.RequestsPerSecond = float64(*c.RequestsPerSecond)
	}
	if c.Timeout != nil {
		out.Timeout = c.Timeout.Duration
	}
	if t := c.TLS; t != nil {
		out.TLS = netbox.TLS{Verify: netbox.Verify(t.Verify), CABundle: t.CABundle, PinnedSHA256: t.PinnedSHA256, MinVersion: t.MinVersion}
	}
	return out
}

// Name is a provider config's in metrics and traces.
func Name(r config.Ref) string {
	if r.Namespace == "" {
		return r.Kind + "/" + r.Name
	}
	return r.Kind + "/" + r.Namespace + "/" + r.Name
}

// IdentityOf is the provider config of a connection that a pool has, by its key and its name.
func IdentityOf(key string, c *netbox.Client) (of config.Identity, ok bool) {
	r, ok := refOf(c.Name())
	return config.Identity{Ref: r, UID: types.UID(key)}, ok
}

// refOf is the provider config that Name names.
func refOf(name string) (r config.Ref, ok bool) {
	parts := strings.Split(name, "/")
	switch len(parts) {
	case 2:
		return config.Ref{Kind: parts[0], Name: parts[1]}, true
	case 3:
		return config.Ref{Kind: parts[0], Namespace: parts[1], Name: parts[2]}, true
	}
	return config.Ref{}, false
}

// refused says of a call that NetBox doesn't accept the token for it any more. That it may not read what is read for the sake of a word, such
// as its change log, is none of that.
func refused(c netbox.Call) bool {
	if c.Probe || c.Status != http.StatusUnauthorized && c.Status != http.StatusForbidden {
		return false
	}
	return strings.HasPrefix(c.Route, "ipam/") || strings.HasPrefix(c.Route, "status/")
}

// guard refuses, after name resolution, to send a token to the provider's own host or link: a namespace's owner may write a
// ProviderConfig, and so choose what the provider connects to. Denied are the ranges of the cluster itself, where his NetBox can't
// be; an operator's ClusterProviderConfig may well name one that runs there.
func guard(allowLoopback bool, denied []netip.Prefix) func(network, address string, _ syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		ap, err := netip.ParseAddrPort(address)
		if err != nil {
			return fmt.Errorf("address %q isn't one that can be checked: %w", address, err)
		}
		a := ap.Addr().Unmap()
		if (a.IsLoopback() && !allowLoopback) || a.IsLinkLocalUnicast() || a.IsMulticast() || a.IsUnspecified() {
			return fmt.Errorf("address %q may not be used: no token is sent to loopback or link-local addresses", a)
		}
		if slices.ContainsFunc(denied, func(p netip.Prefix) bool { return p.Contains(a.WithZone("")) }) {
			return fmt.Errorf("address %q may not be used: it is in a range of the cluster itself", a)
		}
		return nil
	}
}
