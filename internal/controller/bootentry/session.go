package bootentry

import (
	"context"
	"fmt"
	"reflect"

	kerrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootspec"
)

// sessionTries of a session's write. bootd tells of each turn of a boot there, and a machine that boots in a loop makes several a second.
const sessionTries = 5

// writeSession writes the spec that was decided on a session, as long as all that decided it is as it was: a boot that only moves on
// in between makes no difference, anything else is a conflict. The session then is what the API server made of it.
func (e *external) writeSession(ctx context.Context, mg *v1alpha1.BootEntry, decided *v1alpha1.BootSession, spec v1alpha1.BootSessionSpec) error {
	s := decided.DeepCopy()
	for try := 1; ; try++ {
		s.Spec = spec
		conflict := e.kube.Update(ctx, s)
		if !kerrors.IsConflict(conflict) || try == sessionTries {
			s.DeepCopyInto(decided)
			return conflict //nolint:wrapcheck // Its callers say what the write was for.
		}
		now, err := get[v1alpha1.BootSession](ctx, e.live, mg.Namespace, mg.Name)
		if err != nil {
			return err
		}
		entry, err := get[v1alpha1.BootEntry](ctx, e.live, mg.Namespace, mg.Name)
		if err != nil {
			return err
		}
		if now == nil || entry == nil || !sameRecord(now, decided) || !sameEntry(entry, mg) {
			return conflict //nolint:wrapcheck // The same.
		}
		s = now
	}
}

// sameRecord says whether a session still is what it was, in all that a grant is decided by.
func sameRecord(now, was *v1alpha1.BootSession) bool {
	x, y := bootspec.Session(now), bootspec.Session(was)
	x.Revision, y.Revision = "", ""
	return reflect.DeepEqual(x, y) && (now.DeletionTimestamp == nil) == (was.DeletionTimestamp == nil)
}

// sameEntry says whether an entry still asks for what it asked for.
func sameEntry(now, was *v1alpha1.BootEntry) bool {
	return now.UID == was.UID && now.Generation == was.Generation && (now.DeletionTimestamp == nil) == (was.DeletionTimestamp == nil)
}

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

// earlierText says what becomes of a session that an earlier entry of this name has left. One with an owner goes with it; one that
// was restored without can only be deleted by a person: a provider has no right to, nor to give it an owner.
func earlierText(s *v1alpha1.BootSession) string {
	if len(s.OwnerReferences) > 0 {
		return fmt.Sprintf("BootSession %q is of an earlier entry of this name; waiting for it to go", s.Namespace+"/"+s.Name)
	}
	return fmt.Sprintf("BootSession %q was restored without its owner and is of an earlier entry of this name; an operator must delete it: kubectl delete bootsession -n %s %s",
		s.Namespace+"/"+s.Name, s.Namespace, s.Name)
}
