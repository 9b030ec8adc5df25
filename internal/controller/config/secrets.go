package config

import (
	"context"
	"fmt"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// A secret is what was last read of a Secret that is in use.
type secret struct {
	data    map[string][]byte
	version string
	// held says that our finalizer is on it.
	held bool
}

// versionOf a Secret: it changes with its content, and with its re-creation.
func versionOf(o metav1.Object) string { return string(o.GetUID()) + "/" + o.GetResourceVersion() }

// SecretMetadata is an empty Secret of which only the metadata are of interest.
func SecretMetadata() *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}}
}

// credentials returns the Secret at, which must have a value for each of keys. A resource that is being deleted may use what was
// last read of a Secret that is gone: in a terminating namespace it went first, and the machine must be released all the same.
func (r *Resolver) credentials(ctx context.Context, mg resource.ModernManaged, ref Ref, at types.NamespacedName, keys []string) (secret, error) {
	s, err := r.read(ctx, at, mustHold(mg, at))
	if kerrors.IsNotFound(err) {
		if last, ok := r.remembered(at); ok && meta.WasDeleted(mg) {
			return last, nil
		}
		return secret{}, errSecret(ref, at, mg.GetNamespace(), v1alpha1.ReasonNotFound, "doesn't exist: create it")
	}
	if err != nil {
		return secret{}, aboutSecret(err, "cannot read the credentials of %s", ref)
	}
	if k := missingKey(s.data, keys); k != "" {
		return secret{}, errSecret(ref, at, mg.GetNamespace(), v1alpha1.ReasonInvalid, fmt.Sprintf("has no value for key %q: add it", k))
	}
	return s, nil
}

// read returns a Secret, from memory where its metadata say that it's still the one that was read last. Where it must be held,
// it has our finalizer from then on, before its data are first used.
func (r *Resolver) read(ctx context.Context, at types.NamespacedName, hold bool) (secret, error) {
	m := SecretMetadata()
	if err := r.meta.Get(ctx, at, m); err == nil {
		last, ok := r.remembered(at)
		if ok && last.version == versionOf(m) && (last.held || !hold) {
			return last, nil
		}
	}
	o := &corev1.Secret{}
	if err := r.live.Get(ctx, at, o); err != nil {
		return secret{}, err //nolint:wrapcheck // The caller asks whether it's a not-found, and wraps.
	}
	if hold {
		if err := r.hold(ctx, o); err != nil {
			return secret{}, err
		}
	}
	s := secret{data: o.Data, version: versionOf(o), held: slices.Contains(o.Finalizers, FinalizerCredentials)}
	r.remember(at, s)
	return s, nil
}

func (r *Resolver) remembered(at types.NamespacedName) (secret, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok := r.last[at]
	return s, ok
}

func (r *Resolver) remember(at types.NamespacedName, s secret) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last[at] = s
}
