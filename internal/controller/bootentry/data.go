package bootentry

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootspec"
)

// What says, on copied data, whose it is.
const (
	labelEntryUID   = v1alpha1.Group + "/entry-uid"
	annotationEntry = v1alpha1.Group + "/entry"
	// labelEntry finds what was copied for an entry's name, which itself is too long for a label: all copies of a large site are megabytes.
	labelEntry = v1alpha1.Group + "/entry-name-hash"
)

// entryHash is labelEntry's value for an entry.
func entryHash(namespace, name string) string {
	sum := sha256.Sum256([]byte(namespace + "/" + name))
	return hex.EncodeToString(sum[:16])
}

// machineData is what a machine is given beside its image.
func machineData(in inputs) map[string][]byte {
	return parts(in).Data()
}

// tenantData is what the Secrets that the entry names hold, by name, without those that aren't there.
func tenantData(in inputs) map[string]map[string][]byte {
	out := map[string]map[string][]byte{}
	for name, s := range in.secrets {
		if s == nil {
			continue
		}
		if out[name] = s.Data; s.Data == nil {
			out[name] = map[string][]byte{}
		}
	}
	return out
}

// copiedWell says whether the copy in bootd's namespace is what the machine should get.
func copiedWell(in inputs) bool {
	want := machineData(in)
	if in.copied == nil {
		return len(want) == 0
	}
	if len(in.copied.Data) != len(want) || in.copied.Labels[labelEntry] != entryHash(in.entry.Namespace, in.entry.Name) {
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
			Namespace: bootNamespace, Name: bootspec.DataName(in.entry),
			Labels:      map[string]string{labelEntryUID: string(in.entry.UID), labelEntry: entryHash(in.entry.Namespace, in.entry.Name)},
			Annotations: map[string]string{annotationEntry: in.entry.Namespace + "/" + in.entry.Name},
		},
		Data: machineData(in),
	}
}

// copies are an entry's in bootd's namespace, with those that earlier entries of its name left: a restore that makes everything anew
// leaves them to nobody.
func (e *external) copies(ctx context.Context, mg *v1alpha1.BootEntry) ([]corev1.Secret, error) {
	l := &corev1.SecretList{}
	if err := e.live.List(ctx, l, client.InNamespace(e.bootNamespace), client.MatchingLabels{labelEntry: entryHash(mg.Namespace, mg.Name)}); err != nil {
		return nil, errors.Wrap(err, "cannot list the copied data")
	}
	own, err := get[corev1.Secret](ctx, e.live, e.bootNamespace, bootspec.DataName(mg))
	if err != nil {
		return nil, err
	}
	if own != nil && !slices.ContainsFunc(l.Items, func(s corev1.Secret) bool { return s.Name == own.Name }) {
		l.Items = append(l.Items, *own) // It was copied before there was the label.
	}
	return slices.DeleteFunc(l.Items, func(s corev1.Secret) bool {
		return s.Annotations[annotationEntry] != mg.Namespace+"/"+mg.Name
	}), nil
}

func (e *external) dropCopies(ctx context.Context, mg *v1alpha1.BootEntry) error {
	copies, err := e.copies(ctx, mg)
	if err != nil {
		return err
	}
	for i := range copies {
		if err := client.IgnoreNotFound(e.kube.Delete(ctx, &copies[i])); err != nil {
			return errors.Wrap(err, "cannot delete the copied data")
		}
	}
	return nil
}
