package node

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// Missing says in one line what this machine lacks for a cluster; nil: nothing that can be told before it's tried.
func Missing() error {
	if os.Geteuid() != 0 {
		return errors.New("a cluster with a node needs root: it makes namespaces and control groups")
	}
	for _, p := range []string{"apt-get", "dpkg-deb"} {
		if _, err := exec.LookPath(p); err != nil {
			return fmt.Errorf("a cluster with a node needs containerd and runc of Debian: %w", err)
		}
	}
	return nil
}
