package examples_test

import (
	"encoding/json"
	"path"
	"reflect"
	"strings"
	"testing"

	xv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
	"github.com/google/go-cmp/cmp"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	platform "github.com/crossplane-contrib/provider-baremetal/apis/platform/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// TestExplained proves that kubectl explain has a sentence for every field.
func TestExplained(t *testing.T) {
	for name, root := range written(t) {
		var walk func(at string, s *apiextv1.JSONSchemaProps)
		walk = func(at string, s *apiextv1.JSONSchemaProps) {
			if at != "" && !strings.HasSuffix(at, "[]") && len(strings.Fields(s.Description)) < 2 {
				t.Errorf("%s: %s has the description %q", name, at, s.Description)
			}
			for k := range s.Properties {
				if p := s.Properties[k]; at+"."+k != ".metadata" {
					walk(at+"."+k, &p)
				}
			}
			if s.Items != nil && s.Items.Schema != nil {
				walk(at+"[]", s.Items.Schema)
			}
			if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
				walk(at+"[]", s.AdditionalProperties.Schema)
			}
		}
		walk("", root)
	}
}

// written are the schemas that this project writes, by file name: those of CRDs, and of XRDs without what Crossplane adds to them.
func written(t *testing.T) map[string]*apiextv1.JSONSchemaProps {
	t.Helper()
	out := map[string]*apiextv1.JSONSchemaProps{}
	for _, file := range glob(t, "package/provider/crds/*.yaml") {
		crd := &apiextv1.CustomResourceDefinition{}
		load(t, file, crd)
		out[path.Base(file)] = crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	}
	for _, file := range glob(t, "package/configuration*/zz_*.yaml") {
		xrd := &xv1.CompositeResourceDefinition{}
		load(t, file, xrd)
		out[path.Base(file)] = &apiextv1.JSONSchemaProps{}
		if err := json.Unmarshal(xrd.Spec.Versions[0].Schema.OpenAPIV3Schema.Raw, out[path.Base(file)]); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestRead proves that whatever is admitted can be read: a program that lists a kind reads all of its objects or none, so that one
// duration of "1d" or one 31 February, in whoever's namespace, would blind it for everybody's.
func TestRead(t *testing.T) {
	read := map[string]any{
		"BootEntry": v1alpha1.BootEntrySpec{}, "BootNetwork": v1alpha1.BootNetworkSpec{}, "BootProfile": v1alpha1.BootProfileSpec{},
		"BootSession":           v1alpha1.BootSessionSpec{},
		"ClusterProviderConfig": v1alpha1.ProviderConfigSpec{}, "HostClaim": v1alpha1.HostClaimSpec{},
		"NetBoxIPAddress": v1alpha1.NetBoxIPAddressSpec{}, "ProviderConfig": v1alpha1.ProviderConfigSpec{},
		"RedfishHost": v1alpha1.RedfishHostSpec{}, "BareMetalNode": platform.BareMetalNodeSpec{}, "RackPool": platform.RackPoolSpec{},
	}
	// excepted are fields that nobody but the provider writes: an admission policy sees to it.
	excepted := map[string]bool{"BootSession.spec.grant.expires": true}
	for _, crd := range definitions(t) {
		kind := crd.Spec.Names.Kind
		spec, ok := read[kind]
		if !ok {
			continue
		}
		s := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
		for _, p := range unread(kind+".spec", reflect.TypeOf(spec), &s) {
			if !excepted[p] {
				t.Errorf("%s: the schema admits values that its Go type can't read", p)
			}
		}
	}
}

// unread lists the fields of a type whose schema admits more than the type can hold.
func unread(at string, t reflect.Type, s *apiextv1.JSONSchemaProps) []string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	bound := true
	switch reflect.Zero(t).Interface().(type) {
	case metav1.Duration, metav1.Time:
		bound = len(s.XValidations) > 0
	case resource.Quantity:
		bound = s.Pattern != ""
	case apiextv1.JSON:
	default:
		return unreadIn(at, t, s)
	}
	if bound {
		return nil
	}
	return []string{at}
}

// unreadIn goes into a type.
func unreadIn(at string, t reflect.Type, s *apiextv1.JSONSchemaProps) []string {
	var out []string
	switch t.Kind() {
	case reflect.Int, reflect.Int32, reflect.Int64:
		if s.Maximum == nil && s.Format == "" {
			out = append(out, at)
		}
	case reflect.Slice:
		return unread(at+"[]", t.Elem(), s.Items.Schema)
	case reflect.Map:
		return unread(at+"[]", t.Elem(), s.AdditionalProperties.Schema)
	case reflect.Struct:
		for f := range t.Fields() {
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if options == "inline" {
				out = append(out, unreadIn(at, f.Type, s)...)
				continue
			}
			p, ok := s.Properties[name]
			if !ok {
				out = append(out, at+"."+name+" (no schema)")
				continue
			}
			out = append(out, unread(at+"."+name, f.Type, &p)...)
		}
	default: // Strings and booleans hold whatever their schemas admit.
	}
	return out
}

// TestColumns proves that kubectl get answers what one asks at night; a star marks those of -o wide.
func TestColumns(t *testing.T) {
	node := "PHASE HOST ADDRESS REASON SINCE *MESSAGE *PROFILE"
	pool := "HOSTS AVAILABLE CLAIMED PROBLEMS *FIRST-PROBLEM"
	want := map[string]string{
		"BootEntry":             "READY SYNCED STAGE ADDRESS MAC *REASON *EXTERNAL-NAME AGE",
		"BootNetwork":           "READY MODE SUBNETS SERVERS MACHINES AGE",
		"BootProfile":           "READY MODE METHOD ARCHS CACHED USED AGE",
		"BootServer":            "LAST-SEEN ADDRESSES NETWORKS REVISION VERSION AGE",
		"BootSession":           "STAGE GRANTED CONSUMED INSTALLED BOOTS AGE",
		"ClusterProviderConfig": "READY USERS REASON AGE",
		"HostClaim":             "READY PHASE HOST REASON AGE *MESSAGE",
		"NetBoxIPAddress":       "READY SYNCED ADDRESS PREFIX EXTERNAL-NAME *REASON AGE",
		"ProviderConfig":        "READY USERS REASON AGE",
		"ProviderConfigUsage":   "CONFIG-KIND CONFIG-NAME RESOURCE-KIND RESOURCE-NAME AGE",
		"RedfishHost":           "READY PHASE POWER HEALTH CLAIM REASON AGE *MODEL *SERIAL *BMC *POOL *SYNCED",
		"BareMetalNode":         node, "XBareMetalNode": node, "RackPool": pool, "XRackPool": pool,
	}
	// Crossplane's own columns stand around those of a composite.
	ours := map[string]bool{"SYNCED": true, "READY": true, "COMPOSITION": true, "COMPOSITIONREVISION": true, "CONNECTION-SECRET": true, "AGE": true}
	got := map[string]string{}
	for _, crd := range definitions(t) {
		var names []string
		for _, c := range crd.Spec.Versions[0].AdditionalPrinterColumns {
			if ours[c.Name] && strings.HasPrefix(crd.Spec.Group, "platform.") {
				continue
			}
			if c.Priority > 0 {
				c.Name = "*" + c.Name
			}
			names = append(names, c.Name)
		}
		got[crd.Spec.Names.Kind] = strings.Join(names, " ")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
}

// TestNames proves that every kind has a short name of its own and is found by its categories.
func TestNames(t *testing.T) {
	short := map[string]string{}
	for name, crd := range definitions(t) {
		n := crd.Spec.Names
		for _, s := range n.ShortNames {
			key := path.Join(crd.Spec.Group, n.Kind)
			if other, taken := short[s]; taken && path.Base(other) != n.Kind {
				t.Errorf("%s: short name %q is %s's too", name, s, other)
			}
			short[s] = key
		}
		var found bool
		for _, c := range n.Categories {
			found = found || c == "baremetal"
		}
		if !found {
			t.Errorf("%s: kubectl get baremetal doesn't show it: categories %v", name, n.Categories)
		}
	}
}

// TestRulesLetOldObjectsGo proves that no rule but those of names stands at an object's root. The API server lets a stored object be
// that a newer rule would refuse, as long as the part that the rule is about doesn't change; an object as a whole changes with each
// status and each finalizer, and one that was made before the rule could never be released.
func TestRulesLetOldObjectsGo(t *testing.T) {
	for name, root := range written(t) {
		for _, r := range root.XValidations {
			if !strings.HasPrefix(r.Rule, "!self.metadata.name.") {
				t.Errorf("%s: the rule %q is about the whole object; put it on the field that it's about", name, r.Rule)
			}
		}
	}
}
