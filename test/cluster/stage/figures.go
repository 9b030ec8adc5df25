package stage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
	"github.com/crossplane-contrib/provider-baremetal/cluster/local/proc"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

// A Component of ours, and how its pods are told.
type Component struct {
	// Name in figures.
	Name string

	namespace, label, value string
	// program is what its process is called.
	program string
}

// Components are what runs in a cluster.
func Components() []Component {
	return []Component{
		{"provider", local.CrossplaneNamespace, "pkg.crossplane.io/provider", Installed(ProviderPackage), "provider"},
		{"function", local.CrossplaneNamespace, "pkg.crossplane.io/function", Installed(FunctionPackage), "function"},
		{"bootd", lab.BootNamespace, "app.kubernetes.io/name", bootd, "bootd"},
	}
}

// RSS is how many bytes of memory a component's process has in use.
func (s *Stage) RSS(ctx context.Context, c Component) (int64, error) {
	pod, err := s.Pod(ctx, c.namespace, c.label, c.value)
	if err != nil {
		return 0, err
	}
	status, err := processOf("/proc", "pod"+string(pod.UID), c.program)
	if err != nil {
		return 0, fmt.Errorf("pod %s: %w", pod.Name, err)
	}
	return proc.Resident(status)
}

var errNoProcess = errors.New("no process of it is to be found")

// processOf a control group, by a part of its path, with that name: what /proc says of it. Containers' processes are seen outside too.
func processOf(root, group, name string) (status string, err error) {
	all, err := filepath.Glob(filepath.Join(root, "[0-9]*"))
	if err != nil {
		return "", fmt.Errorf("cannot list processes: %w", err)
	}
	for _, dir := range all {
		groups, gerr := os.ReadFile(filepath.Join(dir, "cgroup"))
		status, serr := os.ReadFile(filepath.Join(dir, "status"))
		if gerr != nil || serr != nil {
			continue // It has ended.
		}
		if strings.Contains(string(groups), group) && strings.HasPrefix(string(status), "Name:\t"+name+"\n") {
			return string(status), nil
		}
	}
	return "", errNoProcess
}
