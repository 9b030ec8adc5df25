package bootentry

import (
	"bytes"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// Keys of the copied data, named as NoCloud asks for them.
const (
	keyUserData = "user-data"
	keyMetaData = "meta-data"
)

// machineData is what a machine is given beside its image: the tenant's user data, and for cloud-init
// the metadata of its NoCloud data source.
func machineData(in inputs) map[string][]byte {
	p := in.entry.Spec.ForProvider
	out := map[string][]byte{}
	if r := p.UserDataSecretRef; r != nil && in.userData != nil {
		out[keyUserData] = in.userData.Data[r.Key]
	}
	if in.profile == nil || in.profile.Spec.UserDataFormat != v1alpha1.UserDataCloudInit {
		return out
	}
	meta := map[string]any{"instance-id": string(in.entry.UID)}
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
	out[keyMetaData] = b
	if _, ok := out[keyUserData]; !ok {
		out[keyUserData] = []byte("#cloud-config\n{}\n")
	}
	return out
}

// copiedWell says whether the copy in bootd's namespace is what the machine should get.
func copiedWell(in inputs) bool {
	want := machineData(in)
	if in.copied == nil {
		return len(want) == 0
	}
	if len(in.copied.Data) != len(want) {
		return false
	}
	for k, v := range want {
		if !bytes.Equal(v, in.copied.Data[k]) {
			return false
		}
	}
	return true
}

// copyOf makes the Secret in bootd's namespace. It can't be owned by an entry of another namespace, so
// the entry's deletion deletes it.
func copyOf(in inputs, bootNamespace string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: bootNamespace, Name: copyName(in.entry),
			Labels:      map[string]string{v1alpha1.Group + "/entry-uid": string(in.entry.UID)},
			Annotations: map[string]string{v1alpha1.Group + "/entry": in.entry.Namespace + "/" + in.entry.Name},
		},
		Data: machineData(in),
	}
}
