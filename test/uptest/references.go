package uptest

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A Reference names an object.
type Reference struct{ Kind, Namespace, Name string }

// String is how it's read.
func (r Reference) String() string {
	if r.Namespace == "" {
		return r.Kind + " " + r.Name
	}
	return r.Kind + " " + r.Namespace + "/" + r.Name
}

// provide are the objects, and those that pools make of themselves.
func (o Objects) provide() map[Reference]bool {
	out := map[Reference]bool{}
	for _, u := range o {
		out[Reference{u.GetKind(), u.GetNamespace(), u.GetName()}] = true
		if u.GetKind() != "RackPool" {
			continue
		}
		for _, h := range each(u.Object, "spec", "hosts") {
			out[Reference{"RedfishHost", u.GetNamespace(), text(h, "name")}] = true
		}
		if nested(u.Object, "spec", "network") != nil {
			out[Reference{"BootNetwork", u.GetNamespace(), u.GetName()}] = true
		}
	}
	return out
}

// clusterConfig is the kind that a provider config is of where a reference doesn't say it.
const clusterConfig = "ClusterProviderConfig"

// kinds that a key of a reference means where it doesn't say one.
func kinds() map[string]string {
	return map[string]string{
		"profileRef": "BootProfile", "networkRef": "BootNetwork", "bootEntryRef": "BootEntry", "hostClaimRef": "HostClaim", "hostRef": "RedfishHost",
		"host.ref": "RedfishHost", "addresses.ref": "NetBoxIPAddress",
		"providerConfigRef": clusterConfig, "redfishProviderConfigRef": clusterConfig, "netboxProviderConfigRef": clusterConfig,
		"secretRef": "Secret", "credentialsSecretRef": "Secret", "userDataSecretRef": "Secret", "networkDataSecretRef": "Secret", "vendorDataSecretRef": "Secret",
	}
}

// references of an object to others, in order. A key that ends like one and isn't known has a Kind that nothing has, so that it's noticed.
func references(u *unstructured.Unstructured) []Reference {
	var out []Reference
	walk(nested(u.Object, "spec"), "", func(parent, key string, value map[string]any) {
		if key != "ref" && !strings.HasSuffix(key, "Ref") {
			return
		}
		r := Reference{Kind: text(value, "kind"), Namespace: text(value, "namespace"), Name: text(value, "name")}
		for _, k := range []string{parent + "." + key, key} {
			if r.Kind == "" {
				r.Kind = kinds()[k]
			}
		}
		if r.Kind == "" {
			r.Kind = "what " + key + " means (kinds() of test/uptest/references.go doesn't know it),"
		}
		if r.Namespace == "" && r.Kind != clusterConfig {
			r.Namespace = u.GetNamespace()
		}
		if !slices.Contains(out, r) {
			out = append(out, r)
		}
	})
	slices.SortFunc(out, func(a, b Reference) int { return strings.Compare(a.String(), b.String()) })
	return out
}

// walk visits each object below one, with its key, and its parent's; those in a list have the list's.
func walk(o map[string]any, at string, visit func(parent, key string, value map[string]any)) {
	for key, v := range o {
		switch v := v.(type) {
		case map[string]any:
			visit(at, key, v)
			walk(v, key, visit)
		case []any:
			for _, e := range v {
				if m, ok := e.(map[string]any); ok {
					walk(m, key, visit)
				}
			}
		}
	}
}

func nested(o map[string]any, path ...string) map[string]any {
	m, _, _ := unstructured.NestedMap(o, path...) // What isn't there, or isn't one, is none.
	return m
}

// each is the objects of a list.
func each(o map[string]any, path ...string) []map[string]any {
	all, _, _ := unstructured.NestedSlice(o, path...) // What isn't there, or isn't one, is none.
	var out []map[string]any
	for _, e := range all {
		if m, ok := e.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

func text(o map[string]any, path ...string) string {
	s, _, _ := unstructured.NestedString(o, path...) // What isn't there, or isn't one, is none.
	return s
}
