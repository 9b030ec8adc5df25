package bootspec

import (
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// Keys of what a machine is given, named as NoCloud asks for them.
const (
	KeyUserData = "user-data"
	KeyMetaData = "meta-data"
)

// DataName is the name of what an entry's machine is given: in a cluster that of a Secret in bootd's namespace.
func DataName(e *v1alpha1.BootEntry) string { return "entry-" + string(e.UID) }

// Data is what a machine is given beside its image, by key: the user data that its entry names, and for cloud-init the metadata of
// its NoCloud data source. secret is the data of the Secret that the entry names; nil where it names none, or it isn't there. A
// nil profile is one that isn't there.
func Data(e *v1alpha1.BootEntry, profile *v1alpha1.BootProfile, secret map[string][]byte) map[string][]byte {
	p := e.Spec.ForProvider
	out := map[string][]byte{}
	if r := p.UserDataSecretRef; r != nil && secret != nil {
		out[KeyUserData] = secret[r.Key]
	}
	if profile == nil || profile.Spec.UserDataFormat != v1alpha1.UserDataCloudInit {
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
