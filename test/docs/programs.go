package docs

import (
	"fmt"
	"os/exec"
	"strings"
)

// Lacking says in one line which programs this machine lacks that the pages have a reader type and that don't come with the project; nil: none.
func Lacking() error {
	var missing []string
	for _, name := range []string{"curl", "openssl"} {
		if _, err := exec.LookPath(name); err != nil {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("missing: %s (Debian packages of these names)", strings.Join(missing, ", "))
}
