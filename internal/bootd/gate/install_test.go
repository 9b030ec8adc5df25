package gate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/session"
)

// TestReason: the word on a machine's screen leads to what is wrong.
func TestReason(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		err    error
		want   string
	}{
		"Used":   {"another boot has it", boot.ErrConsumed, boot.DecidedConsumed},
		"Busy":   {"it waits for its turn", fmt.Errorf("a session: %w", session.ErrBusy), ReasonBusy},
		"Full":   {"there's no room for the session", fmt.Errorf("a session: %w", &fs.PathError{Op: "write", Path: "s.json.new", Err: syscall.ENOSPC}), ReasonDisk},
		"Rename": {"nor for its name", fmt.Errorf("a session: %w", &os.LinkError{Op: "rename", Err: syscall.ENOSPC}), ReasonDisk},
		"API":    {"whatever else is the API server's", errors.New("connection refused"), ReasonAPI},
	} {
		t.Run(name, func(t *testing.T) {
			if got := reason(tc.err); got != tc.want {
				t.Errorf("%s: %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
}
