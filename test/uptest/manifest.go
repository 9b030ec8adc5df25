package uptest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Annotations that uptest reads. They're put on here and don't stand in examples: people copy those.
const (
	conditionsAnnotation = "uptest.upbound.io/conditions"
	postAssertAnnotation = "uptest.upbound.io/post-assert-hook"
	preDeleteAnnotation  = "uptest.upbound.io/pre-delete-hook"
)

// Manifest is the name of what uptest is given, in a folder.
const Manifest = "manifest.yaml"

// Write writes objects for uptest into a folder, with scripts that call those of the folder hooks. Objects keep annotations of uptest that
// they have.
func (o Objects) Write(dir, hooks string) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("cannot make a folder for uptest: %w", err)
	}
	var b strings.Builder
	for i, u := range o.Copy() {
		for annotation, call := range annotations(u) {
			a := u.GetAnnotations()
			if a == nil {
				a = map[string]string{}
			}
			if a[annotation] != "" {
				continue
			}
			if a[annotation] = call; annotation != conditionsAnnotation {
				a[annotation] = fmt.Sprintf("%s-%d.sh", strings.TrimPrefix(annotation, "uptest.upbound.io/"), i)
				script := "#!/bin/sh\nexec " + filepath.Join(hooks, call) + "\n"
				if err := os.WriteFile(filepath.Join(dir, a[annotation]), []byte(script), 0o700); err != nil { //nolint:gosec // It's run.
					return fmt.Errorf("cannot write a hook: %w", err)
				}
			}
			u.SetAnnotations(a)
		}
		text, err := yaml.Marshal(u.Object)
		if err != nil {
			return fmt.Errorf("cannot write %s %s: %w", u.GetKind(), u.GetName(), err)
		}
		b.WriteString("---\n" + string(text))
	}
	if err := os.WriteFile(filepath.Join(dir, Manifest), []byte(b.String()), 0o600); err != nil {
		return fmt.Errorf("cannot write what uptest is given: %w", err)
	}
	return nil
}

// annotations of an object: conditions that must be True, and what a hook calls.
func annotations(u *unstructured.Unstructured) map[string]string {
	kind, group := strings.ToLower(u.GetKind()), u.GroupVersionKind().Group
	resource := kind + "." + group + "/" + u.GetName()
	out := map[string]string{}
	switch roles()[u.GetKind()] {
	case managed:
		out[conditionsAnnotation] = "Synced,Ready"
		out[postAssertAnnotation] = fmt.Sprintf("look-again.sh %s %s", u.GetNamespace(), resource)
	case claim:
		out[conditionsAnnotation] = "Synced,Ready"
		label := "crossplane.io/claim-name"
		if strings.Contains(group, ".m.") {
			label = "crossplane.io/composite"
		}
		out[postAssertAnnotation] = fmt.Sprintf("look-again.sh %s -l %s=%s", u.GetNamespace(), label, u.GetName())
	}
	if u.GetKind() == "HostClaim" { // It's neither managed nor composed of anything.
		out = map[string]string{conditionsAnnotation: "Ready"}
	}
	if nested(u.Object, "spec", "protection") != nil {
		out[preDeleteAnnotation] = fmt.Sprintf("unprotect.sh %s %s", u.GetNamespace(), resource)
	}
	return out
}
