package e2e

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

// clusterRange stands for the Service and pod ranges of a cluster: the lab's provider is told that no BMC may be there.
const clusterRange, clusterHost = "127.66.0.0/16", "127.66.0.1"

// A collector is what a tenant would set up to be sent a password: it counts who comes.
type collector struct {
	address string
	visits  atomic.Int64
}

func newCollector(t *testing.T, host string) *collector {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	c := &collector{address: l.Addr().String()}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			c.visits.Add(1)
			_ = conn.Close()
		}
	}()
	return c
}

// port of the collector, for addresses that name its host in another way.
func (c *collector) port() string { return c.address[strings.LastIndex(c.address, ":"):] }

// namedBMC is a claim that names a BMC by address and a provider config.
const namedBMC = `
apiVersion: platform.baremetal.crossplane.io/v1alpha1
kind: BareMetalNode
metadata: {namespace: «tenant», name: "«name»"}
spec:
  host: {bmc: {address: "«address»", providerConfigRef: {kind: «kind», name: «config»}}}
  installGeneration: 1
  profileRef: {namespace: infra, name: «profile»}
  networks: [{name: boot, networkRef: {namespace: infra, name: «network»}, addresses: [{family: IPv4}]}]
`

// TestTenantGetsNoPassword tries each way to have the operator's BMC password sent to an address of the tenant's choice. Nobody
// may even be connected to; where a connection is allowed, a redirect from there isn't followed.
func TestTenantGetsNoPassword(t *testing.T) {
	t.Parallel()
	o := newOwnEnv(t)
	o.account("operator", "collect-me-91ab", "127.0.0.9/32")
	o.own(`
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: ClusterProviderConfig
metadata: {name: «id»-default}
spec:
  redfish:
    credentials: {source: Secret, secretRef: {namespace: crossplane-system, name: «id»}}
    allowedAddresses: [127.0.0.0/8]
---
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: ProviderConfig
metadata: {namespace: «tenant», name: borrowed}
spec:
  redfish:
    credentials: {source: Secret, secretRef: {namespace: crossplane-system, name: «id»}}
    allowedAddresses: [127.0.0.0/8]
---
apiVersion: v1
kind: Secret
metadata: {namespace: «tenant», name: mine}
stringData: {username: me, password: mine}
---
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: ProviderConfig
metadata: {namespace: «tenant», name: mine}
spec:
  redfish:
    credentials: {source: Secret, secretRef: {namespace: «tenant», name: mine}}
    allowedAddresses: [127.0.0.0/8]
`)
	cases := map[string]struct {
		reason       string
		kind, config string
		// address by the collector's port.
		address func(port string) string
		refused string
	}{
		"config-of-infra":   {"The operator's config lists namespaces.", "ClusterProviderConfig", "bmc-rack-7", at("127.0.0.1"), "NotAllowed"},
		"config-by-default": {"A config with a password is nobody's by default.", "ClusterProviderConfig", o.id + "-default", at("127.0.0.1"), "NotAllowed"},
		"address-outside":   {"A password goes to allowedAddresses alone.", "ClusterProviderConfig", o.id, at("127.0.0.1"), "NotAllowed"},
		"name-outside":      {"Names are checked after they're resolved.", "ClusterProviderConfig", o.id, at("localhost"), "NotAllowed"},
		"mapped-outside":    {"An IPv4 address in IPv6's clothes is one.", "ClusterProviderConfig", o.id, at("[::ffff:127.0.0.1]"), "NotAllowed"},
		"url-outside":       {"A URL is no way around.", "ClusterProviderConfig", o.id, at("https://127.0.0.1"), "NotAllowed"},
		"in-the-open":       {"A password never travels in the open.", "ClusterProviderConfig", o.id, at("http://127.0.0.1"), "Invalid"},
		"cluster-range":     {"The cluster's own services are no BMCs, whatever a config says.", "ProviderConfig", "mine", at(clusterHost), "NotAllowed"},
		"secret-of-others":  {"A tenant's own config uses the tenant's Secrets.", "ProviderConfig", "borrowed", at("127.0.0.1"), "NotAllowed"},
	}
	collectors := map[string]*collector{}
	for name, tc := range cases {
		host := "127.0.0.1"
		if name == "cluster-range" {
			host = clusterHost
		}
		c := newCollector(t, host)
		collectors[name] = c
		o.apply(namedBMC, "name", name, "address", tc.address(c.port()), "kind", tc.kind, "config", tc.config)
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := way{refused: tc.refused, words: []string{name}}
			if _, err := o.Await(t.Context(), o.node(name), "refused", soon, w.seen); err != nil {
				t.Fatalf("%s\n%v", tc.reason, err)
			}
			if n := collectors[name].visits.Load(); n != 0 {
				t.Errorf("%s\nwant no connection, got %d", tc.reason, n)
			}
		})
	}
	secrets := map[string]string{"the operator's password": "collect-me-91ab"}
	o.silentAbout(o.logs(), secrets)

	// The same claim is connected to once the operator allows its address: without that, silence would prove nothing.
	o.patch(lab.Ref{APIVersion: lab.Baremetal, Kind: "ClusterProviderConfig", Name: o.id}, `{"spec":{"redfish":{"allowedAddresses":["127.0.0.0/8"]}}}`)
	o.until("the allowed address to be tried", func(context.Context) error {
		if collectors["address-outside"].visits.Load() == 0 {
			return errors.New("nobody came")
		}
		return nil
	})
}

// at makes addresses of a host.
func at(host string) func(string) string { return func(port string) string { return host + port } }

// TestRedirectIsNotFollowed holds that a BMC, or who sits at an allowed address, can't send us on with the password.
func TestRedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	o := newOwnEnv(t)
	o.account("operator", "collect-me-22cd", "127.0.0.0/8")
	c := newCollector(t, "127.0.0.1")
	var asked atomic.Int64
	bmc := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		http.Redirect(w, r, "https://"+c.address+r.URL.Path, http.StatusTemporaryRedirect) //nolint:gosec // To a listener of our own, which is the point.
	}))
	t.Cleanup(bmc.Close)
	o.apply(namedBMC, "name", "led-astray", "address", strings.TrimPrefix(bmc.URL, "https://"), "kind", "ClusterProviderConfig", "config", o.id)
	o.until("the redirecting BMC to be asked", func(context.Context) error {
		if asked.Load() == 0 {
			return errors.New("nobody came")
		}
		return nil
	})
	o.await(lab.Kind("RedfishHost", o.Tenant, "led-astray"), "refusing the answer", lab.Is("Reachable", "False"))
	if n := c.visits.Load(); n != 0 {
		t.Errorf("want the redirect not followed, even to an allowed address, got %d visits", n)
	}
}
