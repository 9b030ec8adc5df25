package bootentry

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// missing says whether an entry that never had a session should get one: it's the record of all boots,
// not of installs alone. One that was lost isn't made again for the same generation.
func missing(in inputs, d decision) bool {
	return in.session == nil && d.plan != nil && !d.asks() && grantRecord(in.entry.Annotations) == nil && installRecord(in.entry.Annotations) == nil
}

// open says whether a session of this entry could still be granted something.
func open(in inputs) bool {
	s := in.session
	return s != nil && s.Spec.EntryUID == string(in.entry.UID) && s.DeletionTimestamp == nil && s.Spec.Revocation == nil
}

// orphaned says whether the session is of an earlier entry of this name and nobody's to take away, as after a restore that makes
// everything anew: it can't be used, and while it's there no other can be made.
func orphaned(in inputs) bool {
	s := in.session
	return s != nil && s.Spec.EntryUID != string(in.entry.UID) && s.DeletionTimestamp == nil && len(s.OwnerReferences) == 0
}

// disown names the earlier entry as the session's owner. It's gone, so that Kubernetes deletes the session, which a provider has no
// right to.
func (e *external) disown(ctx context.Context, in inputs) error {
	in.session.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: v1alpha1.BootEntryGroupVersionKind.GroupVersion().String(), Kind: v1alpha1.BootEntryKind,
		Name: in.entry.Name, UID: types.UID(in.session.Spec.EntryUID),
	}}
	return errors.Wrap(e.kube.Update(ctx, in.session), "cannot let the BootSession of an earlier entry go")
}
