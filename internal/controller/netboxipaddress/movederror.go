package netboxipaddress

import (
	"fmt"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// A movedError is a record of which somebody changed the address or the table, and that stays so.
type movedError struct {
	id      int64
	was, is string
	// by is who did it, and when, or "".
	by string
	// holder is who has the address by now; refused says that NetBox doesn't take it back.
	holder  string
	refused bool
	// lost is who had it since, and whose record somebody deleted or moved.
	lost string
	// releasing says that it was to be released.
	releasing bool
}

func (e movedError) Error() string { return fmt.Sprintf("record %d isn't %s any more", e.id, e.was) }

func (e movedError) words(inputs) (reason xpv2.ConditionReason, message string) {
	message = fmt.Sprintf("record %d was %s and is %s now", e.id, e.was, e.is)
	if e.by != "" {
		message += fmt.Sprintf(" (changed by %s)", e.by)
	}
	wayOut := "and delete this resource to leave the record as it is"
	switch {
	case e.releasing:
		message += ": somebody may use it as that, so it isn't released; put it back in NetBox"
		wayOut = "to leave it as it is"
	case e.lost != "":
		message += fmt.Sprintf(", and the address was %s since, whose record somebody deleted or moved, and a machine may be using it: have that resource deleted, and put this one back in NetBox", e.lost)
	case e.holder != "":
		message += fmt.Sprintf(", and %s has the address by now: free it there, and put this one back in NetBox", e.holder)
	case e.refused:
		message += ", and NetBox refuses to have it put back, as where a record that our token may not see has the address by now: put it back in NetBox"
	default:
		message += ": put it back in NetBox"
	}
	return v1alpha1.ReasonMoved, message + ", or set spec.forProvider.release.policy: Keep " + wayOut
}
