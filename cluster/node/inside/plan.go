// Package inside makes namespaces, sets up a node's network in them and runs a node's programs there. It does what a Plan says
// and decides nothing itself.
//
// Three processes are in a row. The keeper stays outside: it notices that whoever started it is gone, ends the rest and
// removes what the kernel doesn't. The init is the first process in the namespaces: with it, everything in them ends. The
// runner is the init's child and the parent of the node's programs.
package inside

import (
	"encoding/json"
	"fmt"
	"os"
)

// A Plan is everything that is set up and run inside.
type Plan struct {
	// Hostname inside.
	Hostname string `json:"hostname"`
	// Cgroup is the name of the control group that pods are in, directly below the root. It's removed at the end.
	Cgroup string `json:"cgroup"`
	// Mounts are made in their order.
	Mounts []Mount `json:"mounts"`
	// Links are made in their order.
	Links []Link `json:"links"`
	// Sysctls by their path below /proc/sys, of the network namespace alone.
	Sysctls map[string]string `json:"sysctls"`
	// Stages are run one after the other.
	Stages []Stage `json:"stages"`
	// Socket is the path of a Unix socket by which connections are made inside. See Dial.
	Socket string `json:"socket"`
	// Scratch are the folders that are removed at the end.
	Scratch []string `json:"scratch"`
}

// A Mount hides what is outside. Without From it's an empty tmpfs, else From is seen at To. Folders are made where they're
// missing.
type Mount struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Kinds of links.
const (
	Veth   = "veth"
	Bridge = "bridge"
)

// A Link is a network device with an address in CIDR notation, and the networks that are reached by it.
type Link struct {
	Name    string   `json:"name"`
	Kind    string   `json:"kind"`
	Address string   `json:"address"`
	Routes  []string `json:"routes"`
}

// A Stage starts processes and then waits for some.
type Stage struct {
	// Say is what is reported at its start.
	Say   string    `json:"say"`
	Start []Process `json:"start"`
	Await []Ready   `json:"await"`
}

// A Process is one program.
type Process struct {
	Name string   `json:"name"`
	Path string   `json:"path"`
	Args []string `json:"args"`
	Env  []string `json:"env"`
	Log  string   `json:"log"`
}

// Ready says how to tell that a process is ready: a URL that answers 200, or a Unix socket that accepts.
type Ready struct {
	// Process is the name of one that was started.
	Process string `json:"process"`
	URL     string `json:"url"`
	Socket  string `json:"socket"`
	// CA, Cert and Key are PEM files for a URL by TLS.
	CA   string `json:"ca"`
	Cert string `json:"cert"`
	Key  string `json:"key"`
}

// A Report is one line of JSON on the standard output of all three processes.
type Report struct {
	// PID of the init, as the keeper's parent sees it.
	PID int `json:"pid,omitempty"`
	// Say is a line of progress.
	Say string `json:"say,omitempty"`
	// Running says that all stages are done.
	Running bool `json:"running,omitempty"`
	// Failed says why something went wrong.
	Failed string `json:"failed,omitempty"`
	// Left is what couldn't be removed at the end.
	Left string `json:"left,omitempty"`
}

func report(r Report) {
	b, err := json.Marshal(r)
	if err != nil {
		return // A struct of strings is always encoded.
	}
	_, _ = os.Stdout.Write(append(b, '\n')) // Nobody is there to be told that nobody is there.
}

// Write writes a plan to a file.
func (p Plan) Write(path string) error {
	b, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return fmt.Errorf("cannot encode the plan: %w", err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		return fmt.Errorf("cannot write the plan: %w", err)
	}
	return nil
}

func read(path string) (Plan, error) {
	var p Plan
	b, err := os.ReadFile(path) //nolint:gosec // Who starts this program names it.
	if err != nil {
		return p, fmt.Errorf("cannot read the plan: %w", err)
	}
	if err := json.Unmarshal(b, &p); err != nil {
		return p, fmt.Errorf("cannot understand the plan %q: %w", path, err)
	}
	return p, nil
}
