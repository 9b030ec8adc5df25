package bootentry

import (
	"fmt"

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

// earlierText says what becomes of a session that an earlier entry of this name has left. One with an owner goes with it; one that
// was restored without can only be deleted by a person: a provider has no right to, nor to give it an owner.
func earlierText(s *v1alpha1.BootSession) string {
	if len(s.OwnerReferences) > 0 {
		return fmt.Sprintf("BootSession %q is of an earlier entry of this name; waiting for it to go", s.Namespace+"/"+s.Name)
	}
	return fmt.Sprintf("BootSession %q was restored without its owner and is of an earlier entry of this name; an operator must delete it: kubectl delete bootsession -n %s %s",
		s.Namespace+"/"+s.Name, s.Namespace, s.Name)
}
