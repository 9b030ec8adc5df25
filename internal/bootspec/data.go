package bootspec

import (
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// Keys of what a machine is given, named as NoCloud asks for them.
const (
	KeyUserData      = "user-data"
	KeyMetaData      = "meta-data"
	KeyVendorData    = "vendor-data"
	KeyNetworkConfig = "network-config"
)

// DataName is the name of what an entry's machine is given: in a cluster that of a Secret in bootd's namespace.
func DataName(e *v1alpha1.BootEntry) string { return "entry-" + string(e.UID) }

// MaxUserData is how many bytes of user, network and vendor data a machine is given at most: with its metadata they fit into a Secret.
const MaxUserData = 960 << 10

// A DataRef is one reference of an entry to what its machine is given.
type DataRef struct {
	v1alpha1.LocalKeyReference

	// Field of the entry, and Key by which a machine asks for it.
	Field, As string
}

// DataRefs are the Secrets of its namespace that an entry names, by key.
func DataRefs(e *v1alpha1.BootEntry) []DataRef {
	p := e.Spec.ForProvider
	var out []DataRef
	add := func(r *v1alpha1.LocalKeyReference, field, as string) {
		if r != nil {
			out = append(out, DataRef{*r, field, as})
		}
	}
	add(p.UserDataSecretRef, "userDataSecretRef", KeyUserData)
	add(p.NetworkDataSecretRef, "networkDataSecretRef", KeyNetworkConfig)
	add(p.VendorDataSecretRef, "vendorDataSecretRef", KeyVendorData)
	return out
}

// Data is what a machine is given beside its image, by key: the user data that its entry names, and for cloud-init, by which Ubuntu's
// installer is answered too, the metadata of its NoCloud data source. secrets are the data of the Secrets that the entry names, by name,
// without those that aren't there. A nil profile is one that isn't there.
func Data(e *v1alpha1.BootEntry, profile *v1alpha1.BootProfile, secrets map[string]map[string][]byte) map[string][]byte {
	p := e.Spec.ForProvider
	out := map[string][]byte{}
	for _, r := range DataRefs(e) {
		if s := secrets[r.Name]; s != nil {
			out[r.As] = s[r.Key]
		}
	}
	if profile == nil || !noCloud(profile.Spec.UserDataFormat) {
		return out
	}
	meta := map[string]any{"instance-id": string(e.UID)}
	if p.Hostname != "" {
		meta["local-hostname"] = p.Hostname
	}
	if len(p.SSHAuthorizedKeys) > 0 {
		meta["public-keys"] = p.SSHAuthorizedKeys
	}
	b, err := yaml.Marshal(meta)
	if err != nil {
		panic(err) // Strings always marshal.
	}
	out[KeyMetaData] = b
	if _, ok := out[KeyUserData]; !ok {
		out[KeyUserData] = []byte("#cloud-config\n{}\n")
	}
	return out
}

// noCloud says whether a format is read by cloud-init.
func noCloud(f v1alpha1.UserDataFormat) bool {
	return f == v1alpha1.UserDataCloudInit || f == v1alpha1.UserDataAutoinstall
}
