package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/proc"
	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

const (
	// manyEntries are more machines than most rooms have.
	manyEntries = 1000
	// settle is how long the provider is left alone before its memory is looked at.
	settle = 30 * time.Second
	// manyTimeout is how long many entries may take, on a busy machine.
	manyTimeout = 10 * time.Minute
)

// room is a segment that is large enough, and a profile that installs nothing.
const room = `
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootProfile
metadata: {namespace: infra, name: many}
spec:
  mode: Live
  method: Kernel
  userDataFormat: None
  artifacts:
  - arch: amd64
    kernel: {url: "https://images.example/vmlinuz", digest: "sha256:a4052e51598b257621edc75bc019c759bc478338f99aa7e230bfc6e7862988e2"}
---
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootNetwork
metadata: {namespace: infra, name: many}
spec:
  subnets: [{cidr: 10.80.0.0/20, gateway: 10.80.0.1}]
  dhcp: {mode: RelayOnly, relays: [10.80.0.1/32]}
`

// providerRSS is what the provider's process has of memory with many entries.
func providerRSS(ctx context.Context, l *lab.Lab) (float64, error) {
	if err := l.Apply(ctx, room); err != nil {
		return 0, err
	}
	var all bytes.Buffer
	for i := range manyEntries {
		fmt.Fprintf(&all, `
---
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootEntry
metadata: {namespace: infra, name: many-%04d}
spec:
  forProvider:
    machine: {macs: ["52:54:00:80:%02x:%02x"]}
    profileRef: {namespace: infra, name: many}
    networks: [{name: boot, networkRef: {namespace: infra, name: many}, addresses: [{address: 10.80.%d.%d/20}]}]
    install: {generation: 0}
    otherwise: LocalDisk
`, i, i>>8, i&0xff, 1+i>>8, i&0xff)
	}
	if err := l.Apply(ctx, all.String()); err != nil {
		return 0, err
	}
	for _, kind := range []string{"BootEntry", "BootSession"} {
		if err := l.Until(ctx, fmt.Sprintf("%d of kind %s", manyEntries, kind), manyTimeout, func(ctx context.Context) error { return there(ctx, l, kind) }); err != nil {
			return 0, err
		}
	}
	if err := pass(ctx, settle); err != nil {
		return 0, err
	}
	return rss(l.Provider.PID())
}

// there says, by an error, how many of the entries aren't planned yet, or have no session.
func there(ctx context.Context, l *lab.Lab, kind string) error {
	us := &unstructured.UnstructuredList{}
	us.SetAPIVersion(lab.Baremetal)
	us.SetKind(kind + "List")
	if err := l.Client().List(ctx, us, client.InNamespace(lab.InfraNamespace)); err != nil {
		return fmt.Errorf("cannot list %s: %w", kind, err)
	}
	n := 0
	for i := range us.Items {
		if kind == "BootSession" || lab.ConditionOf(&us.Items[i], "Planned").Status == "True" {
			n++
		}
	}
	if n < manyEntries {
		return fmt.Errorf("%d of %d", n, manyEntries)
	}
	return nil
}

// rss of a process, in MB.
func rss(pid int) (float64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("cannot read a process's memory: %w", err)
	}
	n, err := proc.Resident(string(b))
	if err != nil {
		return 0, fmt.Errorf("process %d: %w", pid, err)
	}
	return float64(n) / 1e6, nil
}
