package bootd

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// specsYAML is a folder of one machine that netboots each time.
const specsYAML = `apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootNetwork
metadata: {namespace: lab, name: rack}
spec:
  subnets: [{cidr: 127.0.0.0/8}]
  dhcp: {mode: RelayOnly, relays: [127.0.0.1/32]}
---
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootProfile
metadata: {namespace: lab, name: live}
spec:
  mode: Live
  method: Kernel
  artifacts: [{arch: amd64, kernel: {url: "http://127.0.0.1:1/k", digest: "sha256:2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"}}]
---
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootEntry
metadata: {namespace: lab, name: m1}
spec:
  forProvider:
    machine: {macs: ["52:54:00:00:00:01"]}
    profileRef: {name: live}
    networks: [{name: boot, networkRef: {name: rack}, addresses: [{address: %s/8}]}]
`

// lifeOf runs a bootd until its source is ready and it has said something, and gives what it said.
func lifeOf(t *testing.T, c Config, until string) string {
	t.Helper()
	said := &lines{}
	c.Logger = slog.New(slog.NewTextHandler(said, nil))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Run(ctx, c) }()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		status, body := get(t, "http://"+c.HealthListen+"/metrics")
		if status == http.StatusOK && strings.Contains(body, "bootd_machines 1") && strings.Contains(said.String(), until) {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("bootd doesn't say %q:\n%s", until, said.String())
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	return said.String()
}

// TestStartOfTheSameFolder: a second life of a folder that hasn't changed doesn't read it, and leaves the snapshot as it is. A third one, after a change, does.
func TestStartOfTheSameFolder(t *testing.T) {
	const asItWas, anew = "isn't read anew", "the folder of specs is read"
	c := config(t)
	c.SpecDir, c.HealthListen, c.DHCPListen, c.TFTPListen = t.TempDir(), freePort(t), "", ""
	write := func(address string) {
		if err := os.WriteFile(filepath.Join(c.SpecDir, "a.yaml"), fmt.Appendf(nil, specsYAML, address), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	snapshot := func() string {
		b, err := os.ReadFile(filepath.Join(c.StateDir, "snapshot"))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	write("127.0.0.11")
	if said := lifeOf(t, c, ""); strings.Contains(said, asItWas) {
		t.Errorf("the first life knows nothing\n%s", said)
	}
	was := snapshot()
	if said := lifeOf(t, c, asItWas); snapshot() != was {
		t.Errorf("the second one writes what it has read\n%s", said)
	}
	write("127.0.0.12")
	if said := lifeOf(t, c, anew); strings.Contains(said, asItWas) || snapshot() == was {
		t.Errorf("the third one: the same snapshot: %t\n%s", snapshot() == was, said)
	}
}
