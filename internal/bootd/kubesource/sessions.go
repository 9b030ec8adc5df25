package kubesource

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

// RecordOf gives a BootSession in the domain's words.
func RecordOf(b *v1alpha1.BootSession) session.Record {
	st := b.Status
	s := boot.Session{
		UID: string(b.UID), EntryUID: b.Spec.EntryUID, Revision: b.ResourceVersion,
		OpenedGrantID: st.OpenedGrantID, Acknowledged: st.AcknowledgedRevocation,
		Installed: resultOf(st.Installed), Failed: resultOf(st.Failed),
	}
	if g := b.Spec.Grant; g != nil {
		s.Grant = &boot.Grant{
			ID: g.ID, HostUID: g.HostUID, EntryUID: g.EntryUID, Generation: g.Generation,
			PlanDigest: g.PlanDigest, Expires: g.Expires.Time,
		}
	}
	if b.Spec.Revocation != nil {
		s.Revocation = b.Spec.Revocation.ID
	}
	for _, o := range st.Opened {
		s.Opened = append(s.Opened, boot.Opened{Nonce: o.Nonce, At: o.At.Time, By: o.By})
	}
	if c := st.Consumed; c != nil {
		s.Consumed = &boot.Consumption{
			GrantID: c.GrantID, HostUID: c.HostUID, EntryUID: c.EntryUID, Generation: c.Generation,
			PlanDigest: c.PlanDigest, Nonce: c.Nonce, At: c.At.Time, By: c.By,
		}
	}
	return session.Record{
		Name: boot.Name{Namespace: b.Namespace, Name: b.Name}, Session: s,
		Progress: session.Progress{
			Stage: boot.Stage(st.Stage), Reason: st.StageReason, Timeline: timelineOf(st.Timeline),
			Boots: st.Boots, Report: st.LastReport,
		},
	}
}

// StatusOf gives bootd's half of a session for the API. Times lose what is below a microsecond.
func StatusOf(r session.Record) v1alpha1.BootSessionStatus {
	s, p := r.Session, r.Progress
	st := v1alpha1.BootSessionStatus{
		OpenedGrantID: s.OpenedGrantID, AcknowledgedRevocation: s.Acknowledged,
		Installed: resultFor(s.Installed), Failed: resultFor(s.Failed),
		Stage: v1alpha1.BootStage(p.Stage), StageReason: p.Reason, Boots: p.Boots, LastReport: p.Report,
		Timeline: v1alpha1.BootTimeline{
			DHCP: at(p.Timeline.DHCP), Firmware: at(p.Timeline.Firmware), Script: at(p.Timeline.Script),
			Kernel: at(p.Timeline.Kernel), Began: at(p.Timeline.Began), Installed: at(p.Timeline.Installed),
			BootedFromDisk: at(p.Timeline.BootedFromDisk),
		},
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

func timelineOf(t v1alpha1.BootTimeline) session.Timeline {
	return session.Timeline{
		DHCP: when(t.DHCP), Firmware: when(t.Firmware), Script: when(t.Script), Kernel: when(t.Kernel),
		Began: when(t.Began), Installed: when(t.Installed), BootedFromDisk: when(t.BootedFromDisk),
	}
}

func resultOf(r *v1alpha1.BootResult) *boot.Result {
	if r == nil {
		return nil
	}
	return &boot.Result{
		GrantID: r.GrantID, Generation: r.Generation, PlanDigest: r.PlanDigest, At: r.At.Time, Message: r.Message,
	}
}

func resultFor(r *boot.Result) *v1alpha1.BootResult {
	if r == nil {
		return nil
	}
	return &v1alpha1.BootResult{
		GrantID: r.GrantID, Generation: r.Generation, PlanDigest: r.PlanDigest, At: metav1.NewMicroTime(r.At), Message: r.Message,
	}
}

func at(t time.Time) *metav1.MicroTime {
	if t.IsZero() {
		return nil
	}
	m := metav1.NewMicroTime(t)
	return &m
}

func when(t *metav1.MicroTime) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}
