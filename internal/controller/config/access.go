package config

import (
	"bytes"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// A Ref names one provider config.
type Ref struct {
	// Kind is ProviderConfig or ClusterProviderConfig.
	Kind string
	// Namespace of a ProviderConfig; "" of a ClusterProviderConfig.
	Namespace string
	Name      string
}

// String is how a Ref stands in sentences.
func (r Ref) String() string { return fmt.Sprintf("%s %q", r.Kind, r.Name) }

func (r Ref) key() types.NamespacedName {
	return types.NamespacedName{Namespace: r.Namespace, Name: r.Name}
}

// index is the value of a Ref in a field index.
func (r Ref) index() string { return strings.Join([]string{r.Kind, r.Namespace, r.Name}, "/") }

// An Identity is a provider config as it was when it was resolved.
type Identity struct {
	Ref

	// UID of the config: a config of the same name with another UID is another one.
	UID types.UID
	// Generation of its spec.
	Generation int64
}

// The two systems that a provider config can be for; also the names of their fields in its spec.
const (
	netBox  = "netbox"
	redfish = "redfish"
)

// credentials returns what spec says about credentials, and for which system they are.
func credentials(spec v1alpha1.ProviderConfigSpec) (c v1alpha1.Credentials, system string) {
	switch {
	case spec.NetBox != nil:
		return spec.NetBox.Credentials, netBox
	case spec.Redfish != nil:
		return spec.Redfish.Credentials, redfish
	}
	return v1alpha1.Credentials{}, ""
}

// allowed decides whether a resource of namespace may use a config for the system it wants. It's asked at each use.
func allowed(r Ref, spec v1alpha1.ProviderConfigSpec, namespace, want string) error {
	_, system := credentials(spec)
	if r.Kind == v1alpha1.ProviderConfigKind && r.Namespace != namespace {
		return errNotAllowed(r, namespace)
	}
	fallback := v1alpha1.AllowedFromAll
	if system == redfish {
		fallback = v1alpha1.AllowedFromNone // It holds a password.
	}
	if r.Kind == v1alpha1.ClusterProviderConfigKind && !spec.AllowedNamespaces.Allows(namespace, "", fallback) {
		return errNotAllowed(r, namespace)
	}
	if system != want {
		return errWrongSystem(r, want)
	}
	return nil
}

// secretOf returns where the credentials of a config are: of a ProviderConfig always in its own namespace.
func secretOf(r Ref, spec v1alpha1.ProviderConfigSpec) (types.NamespacedName, error) {
	c, _ := credentials(spec)
	ref := c.SecretRef
	if r.Kind == v1alpha1.ClusterProviderConfigKind {
		if ref.Namespace == "" {
			return types.NamespacedName{}, errNoSecretNamespace(r)
		}
		return types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}, nil
	}
	if ref.Namespace != "" && ref.Namespace != r.Namespace {
		return types.NamespacedName{}, errForeignSecret(r, ref.Namespace)
	}
	return types.NamespacedName{Namespace: r.Namespace, Name: ref.Name}, nil
}

// defaultTokenKey is the key of a NetBox token in its Secret.
const defaultTokenKey = "token"

// keysOf returns the keys that a Secret must hold for a config.
func keysOf(spec v1alpha1.ProviderConfigSpec) []string {
	c, system := credentials(spec)
	if system == redfish {
		return []string{"username", "password"}
	}
	if c.SecretRef.Key != "" {
		return []string{c.SecretRef.Key}
	}
	return []string{defaultTokenKey}
}

// missingKey returns the first of keys that data has no value for, or "".
func missingKey(data map[string][]byte, keys []string) string {
	for _, k := range keys {
		if len(bytes.TrimSpace(data[k])) == 0 {
			return k
		}
	}
	return ""
}
