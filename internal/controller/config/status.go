package config

import (
	"fmt"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// credentialsReady words the state of a config's credentials for the config's owner, who may know the name of the Secret.
func credentialsReady(ref Ref, spec v1alpha1.ProviderConfigSpec, at types.NamespacedName, data map[string][]byte, err error) xpv2.Condition {
	switch {
	case kerrors.IsNotFound(err):
		return notReady(v1alpha1.ReasonNotFound, "Secret %q in namespace %q doesn't exist: create it with %s", at.Name, at.Namespace, words(keysOf(spec)))
	case ReasonOf(err) != "":
		return notReady(ReasonOf(err), "%s", err)
	case err != nil:
		return notReady(xpv2.ReasonUnavailable, "the credentials of %s can't be read now", ref)
	}
	if k := missingKey(data, keysOf(spec)); k != "" {
		return notReady(v1alpha1.ReasonInvalid, "Secret %q in namespace %q has no value for key %q: add it", at.Name, at.Namespace, k)
	}
	return xpv2.Available()
}

// reachable words what a look at a NetBox showed.
func reachable(f Finding) xpv2.Condition {
	if f.Reason != "" {
		return notReady(f.Reason, "%s", f.Message)
	}
	return xpv2.Available().WithMessage(f.Message)
}

func notReady(reason xpv2.ConditionReason, format string, args ...any) xpv2.Condition {
	c := xpv2.Unavailable().WithMessage(fmt.Sprintf(format, args...))
	c.Reason = reason
	return c
}

// words lists keys in a sentence.
func words(keys []string) string {
	if len(keys) == 1 {
		return fmt.Sprintf("key %q", keys[0])
	}
	return fmt.Sprintf("keys %q and %q", keys[0], keys[1])
}
