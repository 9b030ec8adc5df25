package bootentry

import (
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// brief is how long a machine must have been at a step of its boot for the entry to tell of it.
const brief = 2 * time.Second

// tell shows how far a boot has come, in few writes: each wakes the claim's composite, and Crossplane stops listening to one that
// changes too often. Steps that are over in a moment are told together, and what a machine reports while it installs is read in its
// session, which nobody composes.
func tell(o *v1alpha1.BootEntryObservation, in inputs, now time.Time) {
	s, old := in.session.Status, in.entry.Status.AtProvider
	o.Stage, o.Timeline, o.LastReport = s.Stage, s.Timeline, s.LastReport
	if o.Stage == "" {
		o.Stage = v1alpha1.StageWaiting
	}
	same := old.Plan != nil && o.Plan != nil && old.Plan.HostUID == o.Plan.HostUID && old.Stage != ""
	if since := stepSince(s); same && o.Grant != nil && since != nil && !now.Before(since.Time) && now.Sub(since.Time) < brief {
		o.Stage, o.Timeline, o.LastReport = old.Stage, old.Timeline, old.LastReport
	}
	if same && o.Stage == v1alpha1.StageInstalling && old.Stage == o.Stage && equality.Semantic.DeepEqual(old.Timeline, o.Timeline) {
		o.LastReport = old.LastReport
	}
}

// stepSince is since when a machine is at a step that it only passes; nil at any other.
func stepSince(s v1alpha1.BootSessionStatus) *metav1.MicroTime {
	switch s.Stage {
	case v1alpha1.StageDHCP:
		return s.Timeline.DHCP
	case v1alpha1.StageFirmware:
		return s.Timeline.Firmware
	case v1alpha1.StageScript:
		return s.Timeline.Script
	case v1alpha1.StageKernel:
		return s.Timeline.Kernel
	case v1alpha1.StageWaiting, v1alpha1.StageInstalling, v1alpha1.StageInstalled, v1alpha1.StageBootedFromDisk, v1alpha1.StageFailed:
	}
	return nil
}
