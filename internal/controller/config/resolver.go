// Package config resolves provider configs: who may use one, with which credentials, and who uses it now.
package config

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// A NetBox is a provider config for a NetBox, with its token.
type NetBox struct {
	Identity

	// Config is spec.netbox.
	Config v1alpha1.NetBoxConfig
	// Token for the API, trimmed.
	Token string
	// SecretVersion changes whenever the Secret does: a 401 is remembered for it.
	SecretVersion string
}

// A Redfish is a provider config for BMCs, with the credentials for one of them.
type Redfish struct {
	Identity

	// Config is spec.redfish.
	Config v1alpha1.RedfishConfig
	// Username and Password, as they are in the Secret but for a trailing line break.
	Username, Password string
	// PasswordNext is what a resource's own Secret has as password-next: one that the BMC is being given.
	PasswordNext string
	// PasswordRotated is what it has as password-rotated: the one that the BMC was given last.
	PasswordRotated string
	// SecretVersion changes whenever the Secret does: a 401 is remembered for it.
	SecretVersion string
}

// A Resolver finds the provider config of a managed resource, checks that the resource may use it, and reads its credentials.
type Resolver struct {
	kube client.Client // Cached, but for Secrets.
	meta client.Reader // Cached metadata of Secrets.
	live client.Reader

	mu     sync.Mutex
	last   map[types.NamespacedName]secret
	owners []lister
	// versions of NetBoxes as they were last seen, by their config's UID.
	versions map[types.UID]string
	// probe looks at NetBoxes, and findings are what it last found, by their config's UID. Nil where nobody looks.
	probe    ProbeFn
	findings map[types.UID]probed
	// looks at NetBoxes that are under way.
	looks *probes
	// leisure is who records uses; nil where nobody does, and they are recorded at once.
	leisure atomic.Pointer[recorder]
	// seen wakes the reconciler of a config, by kind, once its version is another, or it's in doubt.
	seen map[string]chan event.GenericEvent
}

// NewResolver returns a Resolver. kube reads configs and usages (a cache is welcome), metadata is asked for Secrets as
// PartialObjectMetadata only, live for their data.
func NewResolver(kube client.Client, metadata, live client.Reader) *Resolver {
	return &Resolver{
		kube: kube, meta: metadata, live: live, last: map[types.NamespacedName]secret{}, versions: map[types.UID]string{},
		findings: map[types.UID]probed{}, looks: newProbes(),
		seen: map[string]chan event.GenericEvent{
			v1alpha1.ProviderConfigKind: make(chan event.GenericEvent, waiting), v1alpha1.ClusterProviderConfigKind: make(chan event.GenericEvent, waiting),
		},
	}
}

// NetBox resolves the provider config of a resource that wants a NetBox, and records that it's used. Errors are *Error where a
// person must act.
func (r *Resolver) NetBox(ctx context.Context, mg resource.ModernManaged) (NetBox, error) {
	id, spec, err := r.resolve(ctx, mg, netBox)
	if err != nil {
		return NetBox{}, err
	}
	at, err := secretOf(id.Ref, spec)
	if err != nil {
		return NetBox{}, err
	}
	s, err := r.credentials(ctx, mg, id.Ref, at, keysOf(spec))
	if err != nil {
		return NetBox{}, err
	}
	return NetBox{
		Identity:      id,
		Config:        *spec.NetBox,
		Token:         tokenOf(spec, s),
		SecretVersion: s.version,
	}, nil
}

// tokenOf a NetBox, trimmed.
func tokenOf(spec v1alpha1.ProviderConfigSpec, s secret) string {
	return strings.TrimSpace(string(s.data[keysOf(spec)[0]]))
}

// Redfish resolves the provider config of a resource that wants to talk to a BMC, and records that it's used. Where own isn't
// nil, it names a Secret of the resource's namespace that holds the credentials instead of the config's. Errors are *Error where
// a person must act.
func (r *Resolver) Redfish(ctx context.Context, mg resource.ModernManaged, own *v1alpha1.LocalReference) (Redfish, error) {
	id, spec, err := r.resolve(ctx, mg, redfish)
	if err != nil {
		return Redfish{}, err
	}
	at := types.NamespacedName{Namespace: mg.GetNamespace()}
	if own != nil {
		at.Name = own.Name
	}
	if own == nil {
		if at, err = secretOf(id.Ref, spec); err != nil {
			return Redfish{}, err
		}
	}
	s, err := r.credentials(ctx, mg, id.Ref, at, keysOf(spec))
	if err != nil {
		return Redfish{}, err
	}
	out := Redfish{
		Identity:      id,
		Config:        *spec.Redfish,
		Username:      strings.TrimRight(string(s.data["username"]), "\r\n"),
		Password:      strings.TrimRight(string(s.data["password"]), "\r\n"),
		SecretVersion: s.version,
	}
	if own != nil {
		out.PasswordNext = strings.TrimRight(string(s.data[v1alpha1.SecretKeyPasswordNext]), "\r\n")
		out.PasswordRotated = strings.TrimRight(string(s.data[v1alpha1.SecretKeyPasswordRotated]), "\r\n")
	}
	return out, nil
}

// resolve reads a config, asks whether it may be used, and records its use: after that question, or a namespace that may not use a
// config could keep it from being deleted. A resource that is being deleted isn't recorded: in a terminating namespace nothing can
// be created any more.
func (r *Resolver) resolve(ctx context.Context, mg resource.ModernManaged, want string) (Identity, v1alpha1.ProviderConfigSpec, error) {
	var spec v1alpha1.ProviderConfigSpec
	ref, err := refOf(mg)
	if err != nil {
		return Identity{}, spec, err
	}
	id, spec, err := r.get(ctx, ref)
	if err != nil {
		return id, spec, err
	}
	if err := allowed(ref, spec, mg.GetNamespace(), want); err != nil {
		return id, spec, err
	}
	if meta.WasDeleted(mg) {
		return id, spec, nil
	}
	return id, spec, r.use(ctx, mg, ref)
}

// refOf returns the reference of a managed resource to its provider config.
func refOf(mg resource.ModernManaged) (Ref, error) {
	ref := mg.GetProviderConfigReference()
	if ref == nil || ref.Name == "" {
		return Ref{}, errNoRef(fmt.Sprintf("%q", mg.GetName()))
	}
	switch ref.Kind {
	case v1alpha1.ProviderConfigKind:
		return Ref{Kind: ref.Kind, Namespace: mg.GetNamespace(), Name: ref.Name}, nil
	case v1alpha1.ClusterProviderConfigKind:
		return Ref{Kind: ref.Kind, Name: ref.Name}, nil
	}
	return Ref{}, errRefKind(ref.Kind)
}

// get reads a provider config of either kind.
func (r *Resolver) get(ctx context.Context, ref Ref) (Identity, v1alpha1.ProviderConfigSpec, error) {
	c := newConfig(ref.Kind)
	err := r.kube.Get(ctx, ref.key(), c.object())
	if kerrors.IsNotFound(err) {
		return Identity{}, v1alpha1.ProviderConfigSpec{}, errNotFound(ref)
	}
	if err != nil {
		return Identity{}, v1alpha1.ProviderConfigSpec{}, fmt.Errorf("cannot get %s: %w", ref, err)
	}
	o := c.object()
	return Identity{Ref: ref, UID: o.GetUID(), Generation: o.GetGeneration()}, *c.spec(), nil
}
