package config

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// VersionOf is the SecretVersion that a Secret's credentials are resolved with.
func VersionOf(o metav1.Object) string { return versionOf(o) }

// Forget has a Secret read anew at its next use: it was written by us, and the cache of metadata may not know it yet.
func (r *Resolver) Forget(at types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.last, at)
}
