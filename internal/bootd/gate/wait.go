package gate

import (
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/artifacts"
)

// shortWait is the hold of what ends by itself in a moment.
const shortWait = 2 * time.Second

// Wait is how long a machine waits until it asks again, by the reason that it's told; 0 is the renderer's default.
func Wait(reason string) time.Duration {
	switch reason {
	case boot.DecidedNotSynced, boot.DecidedClockSkew, boot.DecidedStale, boot.DecidedNoSession, boot.DecidedGranted, boot.DecidedSuperseded,
		ReasonAPI, ReasonDisk, ReasonBusy, ReasonGone, ReasonPace, artifacts.ReasonFetching, artifacts.ReasonFetch, artifacts.ReasonDigest:
		return shortWait
	}
	return 0
}
