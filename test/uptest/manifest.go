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
		for annotation, call := range o.annotations(i) {
			a := u.GetAnnotations()
			if a == nil {
				a = map[string]string{}
			}
			if a[annotation] != "" {
				continue
			}
			if a[annotation] = call; annotation != conditionsAnnotation {
				a[annotation] = fmt.Sprintf("%s-%d.sh", strings.TrimPrefix(annotation, "uptest.upbound.io/"), i)
				script := "#!/bin/sh\nexec '" + hooks + "'/" + call + "\n"
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

// annotations of an object: conditions that must be True, and what a hook calls. The last one of a namespace has all looked at again that
// are in it: the provider is started anew once for them.
func (o Objects) annotations(i int) map[string]string {
	u := o[i]
	out := map[string]string{}
	switch {
	case u.GetKind() == "HostClaim": // It's neither managed nor composed of anything.
		out[conditionsAnnotation] = "Ready"
	case roles()[u.GetKind()] != "":
		out[conditionsAnnotation] = "Synced,Ready"
	}
	var again []string
	last := -1
	for n, other := range o {
		if w := found(other); w != "" && other.GetNamespace() == u.GetNamespace() {
			again, last = append(again, w), n
		}
	}
	if i == last {
		out[postAssertAnnotation] = "look-again.sh " + u.GetNamespace() + " " + strings.Join(again, " ")
	}
	if nested(u.Object, "spec", "protection") != nil {
		out[preDeleteAnnotation] = fmt.Sprintf("unprotect.sh %s %s", u.GetNamespace(), resource(u))
	}
	return out
}

// found is how the hook finds the managed resources of an object: itself, or by the label of those that it's composed of.
func found(u *unstructured.Unstructured) string {
	switch {
	case u.GetKind() == "HostClaim" || roles()[u.GetKind()] == "":
		return ""
	case roles()[u.GetKind()] == managed:
		return resource(u)
	case strings.Contains(u.GroupVersionKind().Group, ".m."):
		return "crossplane.io/composite=" + u.GetName()
	}
	return "crossplane.io/claim-name=" + u.GetName()
}

// resource is how kubectl is told of it.
func resource(u *unstructured.Unstructured) string {
	return strings.ToLower(u.GetKind()) + "." + u.GroupVersionKind().Group + "/" + u.GetName()
}
