package bootspec

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// Session reads a BootSession, both its halves; nil for none.
func Session(s *v1alpha1.BootSession) *boot.Session {
	if s == nil {
		return nil
	}
	out := &boot.Session{
		UID: string(s.UID), EntryUID: s.Spec.EntryUID, Revision: s.ResourceVersion,
		OpenedGrantID: s.Status.OpenedGrantID, Acknowledged: s.Status.AcknowledgedRevocation,
		Installed: result(s.Status.Installed), Failed: result(s.Status.Failed),
	}
	if g := s.Spec.Grant; g != nil {
		out.Grant = &boot.Grant{
			ID: g.ID, HostUID: g.HostUID, EntryUID: g.EntryUID, Generation: g.Generation,
			PlanDigest: g.PlanDigest, Expires: g.Expires.Time,
		}
	}
	if r := s.Spec.Revocation; r != nil {
		out.Revocation = r.ID
	}
	for _, o := range s.Status.Opened {
		out.Opened = append(out.Opened, boot.Opened{Nonce: o.Nonce, At: o.At.Time, By: o.By})
	}
	if c := s.Status.Consumed; c != nil {
		out.Consumed = &boot.Consumption{
			GrantID: c.GrantID, HostUID: c.HostUID, EntryUID: c.EntryUID, Generation: c.Generation,
			PlanDigest: c.PlanDigest, Nonce: c.Nonce, At: c.At.Time, By: c.By,
		}
	}
	return out
}

func result(r *v1alpha1.BootResult) *boot.Result {
	if r == nil {
		return nil
	}
	return &boot.Result{GrantID: r.GrantID, Generation: r.Generation, PlanDigest: r.PlanDigest, At: r.At.Time, Message: r.Message}
}

// SessionStatus writes bootd's half of a session. Times lose what is below a microsecond.
func SessionStatus(s boot.Session) v1alpha1.BootSessionStatus {
	st := v1alpha1.BootSessionStatus{
		OpenedGrantID: s.OpenedGrantID, AcknowledgedRevocation: s.Acknowledged,
		Installed: resultStatus(s.Installed), Failed: resultStatus(s.Failed),
	}
	for _, o := range s.Opened {
		st.Opened = append(st.Opened, v1alpha1.Opened{Nonce: o.Nonce, At: metav1.NewMicroTime(o.At), By: o.By})
	}
	if c := s.Consumed; c != nil {
		st.Consumed = &v1alpha1.Consumption{
			GrantID: c.GrantID, HostUID: c.HostUID, EntryUID: c.EntryUID, Generation: c.Generation,
			PlanDigest: c.PlanDigest, Nonce: c.Nonce, At: metav1.NewMicroTime(c.At), By: c.By,
		}
	}
	return st
}

func resultStatus(r *boot.Result) *v1alpha1.BootResult {
	if r == nil {
		return nil
	}
	return &v1alpha1.BootResult{
		GrantID: r.GrantID, Generation: r.Generation, PlanDigest: r.PlanDigest, At: metav1.NewMicroTime(r.At), Message: r.Message,
	}
}
