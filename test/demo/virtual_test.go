package main

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
)

func TestVirtualFacts(t *testing.T) {
	const hello = "Linux version 6.1\nGUEST hello role=\"\" efi=true install=true\n"
	cases := map[string]struct {
		reason, session, serial string
		want                    []milestone
	}{
		"Nothing":   {"A machine that is off has done nothing.", "status: {}", "", nil},
		"Firmware":  {"Firmware prints nothing that counts; bootd has seen it.", "status: {timeline: {dhcp: '2026-01-01T00:00:00Z'}}", "BdsDxe: starting\n", []milestone{atDHCP}},
		"Script":    {"Who asked for its script is iPXE.", "status: {timeline: {dhcp: x, script: x}}", "", []milestone{atDHCP, atIPXE}},
		"Kernel":    {"A kernel that runs says so itself.", "status: {timeline: {dhcp: x, script: x, kernel: x}}", hello, []milestone{atDHCP, atIPXE, atKernel}},
		"Half":      {"A line that isn't whole yet hasn't happened.", "status: {}", hello + "GUEST installed", []milestone{atKernel}},
		"Installed": {"So does an installer that is done.", "status: {}", hello + "GUEST installed\n", []milestone{atKernel, atInstalled}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			session, err := local.Decode([]byte("kind: BootSession\n" + tc.session))
			if err != nil {
				t.Fatal(err)
			}
			var f facts
			sighted(session[0], &f)
			printed(tc.serial, &f)
			var got []milestone
			for m, reached := range f.reached {
				if reached {
					got = append(got, milestone(m))
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nmilestones: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestEnding(t *testing.T) {
	cases := map[string]struct {
		reason, script, want string
	}{
		"Well":   {"Who has ended well says nothing.", "exit 0", ""},
		"Failed": {"Who has failed has said why.", "exit 1", errSaid.Error()},
		"Killed": {"Who was killed couldn't.", "kill -9 $$", "the demo in the background has ended: signal: killed"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := ending(exec.Command("/bin/sh", "-c", tc.script).Run()); err != nil { //nolint:gosec // The cases' own.
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nending: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	if err := ending(errBoom); !errors.Is(err, errBoom) || !strings.Contains(err.Error(), "background") {
		t.Errorf("another error is said: %v", err)
	}
}

var errBoom = errors.New("boom")
