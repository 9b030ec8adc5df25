package kubesource

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootspec"
)

// RecordOf gives a BootSession in the domain's words, with bootd's notes.
func RecordOf(b *v1alpha1.BootSession) session.Record {
	st := b.Status
	return session.Record{
		Name: boot.Name{Namespace: b.Namespace, Name: b.Name}, Session: *bootspec.Session(b),
		Progress: session.Progress{
			Stage: boot.Stage(st.Stage), Reason: st.StageReason, Timeline: timelineOf(st.Timeline),
			Boots: st.Boots, Report: st.LastReport, Signs: signsOf(st.Signs), Boot: bootOf(st.Boot), Declined: declinedOf(st.Declined),
		},
	}
}

// StatusOf gives bootd's half of a session for the API. Times lose what is below a microsecond.
func StatusOf(r session.Record) v1alpha1.BootSessionStatus {
	st, p := bootspec.SessionStatus(r.Session), r.Progress
	st.Stage, st.StageReason, st.Boots, st.LastReport = v1alpha1.BootStage(p.Stage), p.Reason, p.Boots, p.Report
	st.Timeline = v1alpha1.BootTimeline{
		DHCP: at(p.Timeline.DHCP), Firmware: at(p.Timeline.Firmware), Script: at(p.Timeline.Script),
		Kernel: at(p.Timeline.Kernel), Began: at(p.Timeline.Began), Installed: at(p.Timeline.Installed),
		BootedFromDisk: at(p.Timeline.BootedFromDisk),
	}
	if b := p.Boot; b != (session.Boot{}) {
		st.Boot = &v1alpha1.BootFacts{Firmware: b.Firmware, Arch: b.Arch, Server: b.Server, Bytes: b.Bytes}
	}
	if s := p.Signs; s != (session.Signs{}) {
		st.Signs = &v1alpha1.BootSigns{Given: at(s.Given), SentToDisk: at(s.SentToDisk), System: at(s.System), Returns: s.Returns}
	}
	if d := p.Declined; d != (session.Declined{}) {
		st.Declined = &v1alpha1.DeclinedAddress{Address: d.Address, MAC: string(d.MAC), At: metav1.NewMicroTime(d.At)}
	}
	return st
}

func declinedOf(d *v1alpha1.DeclinedAddress) session.Declined {
	if d == nil {
		return session.Declined{}
	}
	return session.Declined{Address: d.Address, MAC: boot.MAC(d.MAC), At: d.At.Time}
}

func bootOf(b *v1alpha1.BootFacts) session.Boot {
	if b == nil {
		return session.Boot{}
	}
	return session.Boot{Firmware: b.Firmware, Arch: b.Arch, Server: b.Server, Bytes: b.Bytes}
}

func signsOf(s *v1alpha1.BootSigns) session.Signs {
	if s == nil {
		return session.Signs{}
	}
	return session.Signs{Given: when(s.Given), SentToDisk: when(s.SentToDisk), System: when(s.System), Returns: s.Returns}
}

func timelineOf(t v1alpha1.BootTimeline) session.Timeline {
	return session.Timeline{
		DHCP: when(t.DHCP), Firmware: when(t.Firmware), Script: when(t.Script), Kernel: when(t.Kernel),
		Began: when(t.Began), Installed: when(t.Installed), BootedFromDisk: when(t.BootedFromDisk),
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
