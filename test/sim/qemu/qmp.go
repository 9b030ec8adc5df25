package qemu

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/digitalocean/go-qemu/qmp"
)

const (
	connectTimeout = 20 * time.Second // QEMU on a busy machine
	connectPause   = 20 * time.Millisecond
)

// monitor is the connection to one QEMU process.
type monitor struct {
	qmp qmp.Monitor
}

// connect dials the socket until QEMU serves it or exited is closed.
func connect(socket string, exited <-chan struct{}) (*monitor, error) {
	deadline := time.Now().Add(connectTimeout)
	for {
		q, err := qmp.NewSocketMonitor("unix", socket, connectTimeout)
		if err == nil {
			return newMonitor(q)
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("cannot reach QEMU at %q: %w", socket, err)
		}
		select {
		case <-exited:
			return nil, errors.New("QEMU ended before it could be reached")
		case <-time.After(connectPause):
		}
	}
}

func newMonitor(q qmp.Monitor) (*monitor, error) {
	if err := q.Connect(); err != nil {
		return nil, fmt.Errorf("cannot negotiate with QEMU: %w", err)
	}
	return &monitor{qmp: q}, nil
}

// run executes one command; args may be nil.
func (m *monitor) run(name string, args map[string]any) error {
	cmd, err := json.Marshal(struct {
		Execute   string         `json:"execute"`
		Arguments map[string]any `json:"arguments,omitempty"`
	}{name, args})
	if err != nil {
		return fmt.Errorf("cannot encode QMP command %s: %w", name, err)
	}
	if _, err := m.qmp.Run(cmd); err != nil {
		return fmt.Errorf("QMP command %s: %w", name, err)
	}
	return nil
}

// setOrder sets the boot order that the firmware sees after the next reset: QEMU hands it to the firmware then.
func (m *monitor) setOrder(i indices) error {
	// First out of the order: no index may be given twice, not even again to the device that has it.
	for _, s := range []struct {
		id    string
		index int
	}{{nicID, -1}, {diskID, -1}, {diskID, i.disk}, {nicID, i.nic}} {
		err := m.run("qom-set", map[string]any{"path": "/machine/peripheral/" + s.id, "property": "bootindex", "value": s.index})
		if err != nil {
			return err
		}
	}
	return nil
}
