package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/netbox"
)

// What lets the provider into a case's own NetBox, and what that signs with: words that appear nowhere else.
const (
	firstToken  = "5b1d9c0f7e2a4836b5c4d3e2f1a09b8c7d6e5f40"          //nolint:gosec // Of an emulator.
	secondToken = "nbt_Zx81kqPw0RtY.c7Jd2mVnQ4sXbLf9aUeHkGoT1yWpRzEi" //nolint:gosec // As above.
	firstHook   = "hook-secret-1d41"
	secondHook  = "hook-secret-98f0"
)

// described is the description that a case's addresses ask for, and space what they are of.
const (
	described = "as spec says"
	space     = "10.79.0.0/24"
)

// A netboxEnv is an env with a NetBox of the case's own, to which the ClusterProviderConfig leads that has the case's id.
type netboxEnv struct {
	*ownEnv

	nb *netbox.Server
}

func newNetBoxEnv(t *testing.T) *netboxEnv {
	t.Helper()
	n := &netboxEnv{nb: netbox.New(netbox.Options{})}
	n.nb.AddToken(netbox.Token{Name: "first", Secret: firstToken})
	n.nb.AddCIDR(space)
	if err := n.nb.Start(""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.nb.Close() }) // After all that the case leaves there is gone.
	n.ownEnv = newOwnEnv(t)
	n.own(`
apiVersion: v1
kind: Secret
metadata: {namespace: crossplane-system, name: «id»}
stringData: {token: "«token»", hook: "«hook»"}
---
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: ClusterProviderConfig
metadata: {name: «id»}
spec:
  allowedNamespaces: {from: Names, names: [«tenant»]}
  netbox:
    url: "«url»"
    credentials: {source: Secret, secretRef: {namespace: crossplane-system, name: «id», key: token}}
    webhook: {secretRef: {namespace: crossplane-system, name: «id», key: hook}}
`, "token", firstToken, "hook", firstHook, "url", n.nb.URL())
	return n
}

// config is the ClusterProviderConfig.
func (n *netboxEnv) config() lab.Ref { return lab.Kind("ClusterProviderConfig", "", n.id) }

// secret merges values into the Secret.
func (n *netboxEnv) secret(key, value string) {
	n.t.Helper()
	r := lab.Ref{APIVersion: "v1", Kind: "Secret", Namespace: local.CrossplaneNamespace, Name: n.id}
	n.patch(r, fmt.Sprintf(`{"stringData":{%q:%q}}`, key, value))
}

// A given address is a resource and the number of its record.
type given struct {
	lab.Ref

	record int64
}

// asks makes a resource, with a line of spec.forProvider beside the usual ones.
func (n *netboxEnv) asks(name, more string) lab.Ref {
	n.t.Helper()
	n.apply(`
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: NetBoxIPAddress
metadata: {namespace: «tenant», name: «name»}
spec:
  providerConfigRef: {kind: ClusterProviderConfig, name: «id»}
  forProvider:
    from: [{prefix: {cidr: "«space»"}}]
    description: "«described»"
    «more»
`, "name", name, "id", n.id, "space", space, "described", described, "more", more)
	return lab.Kind("NetBoxIPAddress", n.Tenant, name)
}

// gets waits until a resource has its address.
func (n *netboxEnv) gets(r lab.Ref) given {
	n.t.Helper()
	u := n.await(r, "ready", lab.All(lab.Is("Ready", "True"), lab.Is("Synced", "True")))
	id, _, err := unstructured.NestedInt64(u.Object, "status", "atProvider", "id")
	n.must(err)
	return given{r, id}
}

// drops takes a resource away whatever becomes of its record, which goes with the case's NetBox. A provider that was started after it was made
// would look a minute for what its forerunner may have asked for.
func (n *netboxEnv) drops(r lab.Ref) {
	n.t.Helper()
	n.must(n.Delete(n.t.Context(), r))
	n.must(client.IgnoreNotFound(n.Client().Patch(n.t.Context(), r.Object(), client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`)))))
	n.gone(r)
}

// record of that number; ok is false where there's none any more.
func (n *netboxEnv) record(id int64) (a netbox.Address, ok bool) {
	all := n.nb.Addresses()
	i := slices.IndexFunc(all, func(a netbox.Address) bool { return a.ID == id })
	if i < 0 {
		return netbox.Address{}, false
	}
	return all[i], true
}

// edited has a person change a record's description.
func (n *netboxEnv) edited(by string, g given) {
	n.nb.ChangeAddressAs(by, g.record, func(a *netbox.Address) { a.Description = "as " + by + " says" })
}

// undone waits until a record has its description again.
func (n *netboxEnv) undone(g given) {
	n.t.Helper()
	n.until("what was edited to be undone", func(context.Context) error {
		if a, ok := n.record(g.record); !ok || a.Description != described {
			return fmt.Errorf("record %d says %q", g.record, a.Description)
		}
		return nil
	})
}

// eventsOf are the messages of the events on an object that have a reason.
func (e *env) eventsOf(r lab.Ref, reason string) []string {
	e.t.Helper()
	namespace := r.Namespace
	if namespace == "" {
		namespace = corev1.NamespaceDefault
	}
	all := &corev1.EventList{}
	e.must(e.Client().List(e.t.Context(), all, client.InNamespace(namespace)))
	var out []string
	for _, ev := range all.Items {
		if ev.InvolvedObject.Kind == r.Kind && ev.InvolvedObject.Name == r.Name && ev.Reason == reason {
			out = append(out, ev.Message)
		}
	}
	return out
}

// tells waits until an event with a reason says each of some words of an object.
func (e *env) tells(r lab.Ref, reason string, words ...string) {
	e.t.Helper()
	e.until("an event "+reason+" of "+r.String(), func(context.Context) error {
		all := e.eventsOf(r, reason)
		if slices.ContainsFunc(all, func(s string) bool { return containsAll(s, words) }) {
			return nil
		}
		return fmt.Errorf("told so far: %q", all)
	})
}

// A letter is a delivery as NetBox sent it.
type letter struct {
	Event string `json:"event"`
	Data  struct {
		ID int64 `json:"id"`
	} `json:"data"`

	body []byte
}

// letters are those that a second webhook was sent, beside the provider's.
type letters struct {
	mu  sync.Mutex
	all []letter
}

// ServeHTTP implements http.Handler.
func (l *letters) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	read := letter{body: body}
	if err != nil || json.Unmarshal(body, &read) != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, read)
}
