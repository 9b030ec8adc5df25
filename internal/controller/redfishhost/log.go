package redfishhost

import (
	"context"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
)

// logBMC is what an excerpt of a BMC's log needs.
type logBMC interface {
	LogExcerpt(ctx context.Context, s redfish.System, hide ...string) []string
}

// logPatience is how long reading an excerpt may take: what failed is told
// without it, too.
const logPatience = 20 * time.Second

// readLog reads the newest lines of the BMC's hardware log, for the event that
// tells of a failure.
func (e *external) readLog(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, logPatience)
	defer cancel()
	_ = e.connector.Gates.Do(ctx, e.target, func(ctx context.Context, bmc BMC) error {
		e.excerpt = bmc.LogExcerpt(ctx, e.system, e.target.Username)

		return nil
	})
}

// logged is what the BMC's log says, to go behind a sentence.
func (e *external) logged() string {
	if len(e.excerpt) == 0 {
		return ""
	}

	return "; the BMC's log ends with: " + strings.Join(e.excerpt, "; ")
}
