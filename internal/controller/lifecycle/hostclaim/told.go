package hostclaim

import (
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// breath is how often a claim that is on its way tells where it is. It's as fast as Crossplane listens for long to a composite whose
// parts change: one change every two seconds.
const breath = 2 * time.Second

// told knows when each claim's status was written last. It's forgotten with the process: then a status is written once too often.
type told struct {
	mu sync.Mutex
	by map[types.UID]time.Time
}

// lately says whether a claim's status was written less than a breath ago.
func (t *told) lately(uid types.UID, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	last, ok := t.by[uid]
	return ok && !now.Before(last) && now.Sub(last) < breath
}

func (t *told) at(uid types.UID, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.by == nil {
		t.by = map[types.UID]time.Time{}
	}
	t.by[uid] = now
}

func (t *told) forget(uid types.UID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.by, uid)
}

// onTheWay says whether a verdict is only a step that is waited at, and that may be over in a moment. Whatever a person should act
// on, and the end of a thing, is told at once.
func onTheWay(v verdict) bool {
	switch v.phase {
	case v1alpha1.ClaimPending, v1alpha1.ClaimBound, v1alpha1.ClaimPreparing, v1alpha1.ClaimPoweringOn, v1alpha1.ClaimBooting, v1alpha1.ClaimInstalling, v1alpha1.ClaimInstalled:
		return strings.HasPrefix(string(v.reason), "Waiting")
	case v1alpha1.ClaimReady, v1alpha1.ClaimStopped, v1alpha1.ClaimNeedsConfirmation, v1alpha1.ClaimFailed, v1alpha1.ClaimReleasing:
	}
	return false
}
