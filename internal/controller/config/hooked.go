package config

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// defaultHookKey is the key of what a webhook signs with in its Secret.
const defaultHookKey = "secret"

// ErrNoHook says that a config isn't there, or takes no webhook, or has no secret for it.
var ErrNoHook = errors.New("no webhook is taken for this provider config")

// Hooked returns the config of a NetBox that tells of changes by a webhook, and what that signs with. It's asked for each delivery,
// whoever sent it: all it needs is in caches, once it was asked for the first time.
func (r *Resolver) Hooked(ctx context.Context, ref Ref) (NetBox, []byte, error) {
	c := newConfig(ref.Kind)
	err := r.kube.Get(ctx, ref.key(), c.object())
	if kerrors.IsNotFound(err) || err == nil && (c.spec().NetBox == nil || c.spec().NetBox.Webhook == nil) {
		return NetBox{}, nil, ErrNoHook
	}
	if err != nil {
		return NetBox{}, nil, fmt.Errorf("cannot get %s: %w", ref, err)
	}
	at, key := hookSecretOf(ref, *c.spec().NetBox.Webhook)
	if named := c.spec().NetBox.Webhook.SecretRef.Namespace; named != "" && named != at.Namespace {
		return NetBox{}, nil, ErrNoHook // A ProviderConfig may use Secrets of its own namespace alone.
	}
	hook, err := r.cached(ctx, at)
	if err != nil {
		return NetBox{}, nil, err
	}
	signs := bytes.TrimRight(hook.data[key], "\r\n")
	if len(signs) == 0 {
		return NetBox{}, nil, ErrNoHook
	}
	at, err = secretOf(ref, *c.spec())
	if err != nil {
		return NetBox{}, nil, err
	}
	s, err := r.cached(ctx, at)
	if err != nil {
		return NetBox{}, nil, err
	}
	return *netBoxOf(c, s), signs, nil
}

// cached reads a Secret as read does, but asks the API server for none that isn't there.
func (r *Resolver) cached(ctx context.Context, at types.NamespacedName) (secret, error) {
	if err := r.meta.Get(ctx, at, SecretMetadata()); err != nil {
		if kerrors.IsNotFound(err) {
			return secret{}, ErrNoHook
		}
		return secret{}, fmt.Errorf("cannot read Secret %q: %w", at, err)
	}
	s, err := r.read(ctx, at, false)
	if err != nil {
		return secret{}, fmt.Errorf("cannot read Secret %q: %w", at, err)
	}
	return s, nil
}

// hookSecretOf returns where a webhook's secret is: of a ProviderConfig always in its own namespace.
func hookSecretOf(r Ref, w v1alpha1.NetBoxWebhook) (at types.NamespacedName, key string) {
	at = types.NamespacedName{Namespace: w.SecretRef.Namespace, Name: w.SecretRef.Name}
	if r.Kind == v1alpha1.ProviderConfigKind {
		at.Namespace = r.Namespace
	}
	if w.SecretRef.Key == "" {
		return at, defaultHookKey
	}
	return at, w.SecretRef.Key
}
