package v1alpha1

import "slices"

// AllowedFrom says from which namespaces a shared thing may be used.
// +kubebuilder:validation:Enum=None;Same;All;Names
type AllowedFrom string

// Values of AllowedFrom.
const (
	AllowedFromNone  AllowedFrom = "None"
	AllowedFromSame  AllowedFrom = "Same"
	AllowedFromAll   AllowedFrom = "All"
	AllowedFromNames AllowedFrom = "Names"
)

// AllowedNamespaces says who may use a shared thing. It's checked at each use, not once.
// +kubebuilder:validation:XValidation:rule="self.from == 'Names' ? size(self.names) > 0 : !has(self.names) || size(self.names) == 0",message="names must be set when from is Names, and only then"
type AllowedNamespaces struct {
	// From is None, Same (the thing's own namespace), All, or Names (those and its own).
	From AllowedFrom `json:"from"`

	// Names of the namespaces that may use it, where from is Names.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=63
	Names []string `json:"names,omitempty"`
}

// Allows says whether namespace may use a thing of the owner's namespace. A nil a means fallback.
func (a *AllowedNamespaces) Allows(namespace, owner string, fallback AllowedFrom) bool {
	from := fallback
	var names []string
	if a != nil {
		from, names = a.From, a.Names
	}
	switch from {
	case AllowedFromAll:
		return true
	case AllowedFromSame:
		return namespace == owner
	case AllowedFromNames:
		if owner != "" && namespace == owner {
			return true
		}
		return slices.Contains(names, namespace)
	case AllowedFromNone:
	}
	return false
}

// A NamespacedReference names an object of a known kind. Across namespaces it works only where the
// target allows it.
type NamespacedReference struct {
	// Namespace of the object; the referrer's own where absent.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`
	// Name of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// A LocalReference names an object of a known kind in the same namespace.
type LocalReference struct {
	// Name of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// A LocalKeyReference names one key of a Secret in the same namespace.
type LocalKeyReference struct {
	// Name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// Key in the Secret's data.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key"`
}

// A HostReference names a machine.
type HostReference struct {
	// Kind of the host. RedfishHost is the only one so far.
	// +kubebuilder:validation:Enum=RedfishHost
	// +kubebuilder:default=RedfishHost
	// +optional
	Kind string `json:"kind,omitempty"`
	// Namespace of the host; the claim's own where absent.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`
	// Name of the host.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// A Confirmation answers NeedsConfirmation: it names the machine that is meant.
type Confirmation struct {
	// Serial number of the machine, as the question shows it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Serial string `json:"serial"`
}

// A ProviderConfigRef names the provider config to use.
type ProviderConfigRef struct {
	// Kind is ProviderConfig (of the same namespace) or ClusterProviderConfig.
	// +kubebuilder:validation:Enum=ProviderConfig;ClusterProviderConfig
	// +kubebuilder:default=ClusterProviderConfig
	// +optional
	Kind string `json:"kind,omitempty"`
	// Name of the provider config.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}
