package proc

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Resident gives how many bytes of memory a process has in use, by what /proc/PID/status says (proc(5): VmRSS, in kB of 1024 bytes). What has
// ended has none, which is an error.
func Resident(status string) (int64, error) {
	for line := range strings.Lines(status) {
		rest, ok := strings.CutPrefix(line, "VmRSS:")
		if !ok {
			continue
		}
		kb, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("cannot understand %q: %w", strings.TrimSpace(line), err)
		}
		return kb << 10, nil
	}
	return 0, errors.New("the process has no memory: it has ended")
}
