package composition

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/types/known/structpb"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// An output is what is desired of a composite.
type output struct {
	resources  map[string]desired
	status     any
	conditions []xpv2.Condition
	networks   map[string]schemaName
}

// A schemaName is the namespace and name of a BootNetwork that must be fetched.
type schemaName struct {
	namespace, name string
}

// desired is one composed resource.
type desired struct {
	object map[string]any
	ready  bool
}

// write puts the output into a response.
func (o *output) write(rsp *fnv1.RunFunctionResponse) error {
	status, err := toMap(o.status)
	if err != nil {
		return fmt.Errorf("cannot encode status: %w", err)
	}
	xr, err := structpb.NewStruct(map[string]any{"status": status})
	if err != nil {
		return fmt.Errorf("cannot encode composite: %w", err)
	}
	state := &fnv1.State{Composite: &fnv1.Resource{Resource: xr}, Resources: map[string]*fnv1.Resource{}}
	for name, d := range o.resources {
		s, err := structpb.NewStruct(d.object)
		if err != nil {
			return fmt.Errorf("cannot encode composed resource %q: %w", name, err)
		}
		state.Resources[name] = &fnv1.Resource{Resource: s, Ready: readiness(d.ready)}
	}
	rsp.Desired = state
	for _, c := range o.conditions {
		rsp.Conditions = append(rsp.Conditions, condition(c))
	}
	rsp.Requirements = o.requirements()
	return nil
}

// requirements asks Crossplane for the networks.
func (o *output) requirements() *fnv1.Requirements {
	if len(o.networks) == 0 {
		return nil
	}
	out := &fnv1.Requirements{Resources: map[string]*fnv1.ResourceSelector{}}
	for _, key := range slices.Sorted(maps.Keys(o.networks)) {
		n := o.networks[key]
		out.Resources[key] = &fnv1.ResourceSelector{
			ApiVersion: networkKind.GroupVersion().String(),
			Kind:       networkKind.Kind,
			Match:      &fnv1.ResourceSelector_MatchName{MatchName: n.name},
			Namespace:  &n.namespace,
		}
	}
	return out
}

// readiness says it in the protocol's words.
func readiness(ready bool) fnv1.Ready {
	if ready {
		return fnv1.Ready_READY_TRUE
	}
	return fnv1.Ready_READY_FALSE
}

// condition says it in the protocol's words, for composite and claim.
func condition(c xpv2.Condition) *fnv1.Condition {
	status := map[corev1.ConditionStatus]fnv1.Status{
		corev1.ConditionTrue:  fnv1.Status_STATUS_CONDITION_TRUE,
		corev1.ConditionFalse: fnv1.Status_STATUS_CONDITION_FALSE,
	}[c.Status]
	if status == fnv1.Status_STATUS_CONDITION_UNSPECIFIED {
		status = fnv1.Status_STATUS_CONDITION_UNKNOWN
	}
	out := &fnv1.Condition{
		Type:   string(c.Type),
		Status: status,
		Reason: string(c.Reason),
		Target: fnv1.Target_TARGET_COMPOSITE_AND_CLAIM.Enum(),
	}
	if c.Message != "" {
		out.Message = &c.Message
	}
	return out
}

// render turns a typed object into what Crossplane applies: without status, and without what only a server writes.
func render(o client.Object, kind schema.GroupVersionKind) (map[string]any, error) {
	o.GetObjectKind().SetGroupVersionKind(kind)
	out, err := toMap(o)
	if err != nil {
		return nil, fmt.Errorf("cannot encode %s %q: %w", kind.Kind, o.GetName(), err)
	}
	delete(out, "status")
	if m, ok := out["metadata"].(map[string]any); ok {
		delete(m, "creationTimestamp")
	}
	return out, nil
}

// toMap encodes by the JSON tags.
func toMap(v any) (map[string]any, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("cannot encode %T as JSON: %w", v, err)
	}
	out := map[string]any{}
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, fmt.Errorf("cannot decode %T as a map: %w", v, err)
	}
	return out, nil
}
