package bootentry

import (
	"encoding/json"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

func encode(r any) string {
	b, err := json.Marshal(r)
	if err != nil {
		panic(err) // Records are plain strings and numbers.
	}
	return string(b)
}

// decided is the entry's record of its newest grant, as the host has it where that's the same grant; nil where there's none.
func decided(in inputs) *v1alpha1.GrantRecord {
	r := v1alpha1.ReadRecord[v1alpha1.GrantRecord](in.entry.Annotations, v1alpha1.AnnotationGranted)
	if r == nil || in.host == nil {
		return r
	}
	if h := v1alpha1.ReadRecord[v1alpha1.GrantRecord](in.host.Annotations, v1alpha1.AnnotationGranted); h != nil && h.GrantID == r.GrantID && h.EntryUID == r.EntryUID {
		return h
	}
	return r
}

func grantRecord(as map[string]string) *boot.GrantRecord {
	r := v1alpha1.ReadRecord[v1alpha1.GrantRecord](as, v1alpha1.AnnotationGranted)
	if r == nil {
		return nil
	}
	return &boot.GrantRecord{
		EntryUID: r.EntryUID, HostUID: r.HostUID, Generation: r.Generation, GrantID: r.GrantID,
		SessionUID: r.SessionUID, Issuing: r.State != v1alpha1.GrantIssued,
	}
}

func installRecord(as map[string]string) *boot.InstallRecord {
	r := v1alpha1.ReadRecord[v1alpha1.InstalledRecord](as, v1alpha1.AnnotationInstalled)
	if r == nil {
		return nil
	}
	return &boot.InstallRecord{
		EntryUID: r.EntryUID, HostUID: r.HostUID, Generation: r.Generation, PlanDigest: r.PlanDigest, Serial: r.Serial,
	}
}

// adoption are the records of an install that another entry, or another object of this one, left on the machine, as this entry's
// own.
func adoption(in inputs, now time.Time) (map[string]any, error) {
	old := v1alpha1.ReadRecord[v1alpha1.InstalledRecord](in.host.Annotations, v1alpha1.AnnotationInstalled)
	if old == nil {
		old = v1alpha1.ReadRecord[v1alpha1.InstalledRecord](in.entry.Annotations, v1alpha1.AnnotationInstalled)
	}
	if old == nil {
		return nil, errors.New("the record of the install is gone")
	}
	own := *old
	own.EntryUID, own.HostUID, own.Serial = string(in.entry.UID), hostUID(in), in.host.Status.AtProvider.Identity.Serial
	if _, err := time.Parse(time.RFC3339, own.At); err != nil {
		own.At = now.UTC().Format(time.RFC3339)
	}
	return map[string]any{
		v1alpha1.AnnotationInstalled: own,
		v1alpha1.AnnotationGranted: v1alpha1.GrantRecord{
			EntryUID: own.EntryUID, HostUID: own.HostUID, Generation: own.Generation, Serial: own.Serial, State: v1alpha1.GrantIssued,
		},
	}, nil
}
