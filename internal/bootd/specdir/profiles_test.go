package specdir

import (
	"strings"
	"testing"
)

// TestProfileThatNobodyBoots: what is wrong with a profile's template is said before an entry names it, by line and column, and others are served.
func TestProfileThatNobodyBoots(t *testing.T) {
	r := newRig(t, all(1))
	r.write("z.yaml", `apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: BootProfile
metadata: {namespace: edge, name: broken}
spec:
  mode: Install
  method: Script
  userDataFormat: None
  scriptTemplate: |
    #!ipxe
    kernel {{ .kernl }}
  artifacts:
    - arch: amd64
      kernel: {url: "https://images.example/vmlinuz", digest: "sha256:a4052e51598b257621edc75bc019c759bc478338f99aa7e230bfc6e7862988e2"}
`)
	r.start()
	said := r.said.String()
	if !strings.Contains(said, "z.yaml:1: BootProfile edge/broken: Invalid: ") || !strings.Contains(said, "line 2, column 8") {
		t.Errorf("it isn't told:\n%s", said)
	}
	if r.granted() == nil {
		t.Errorf("the others aren't installed:\n%s", said)
	}
}
