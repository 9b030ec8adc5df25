package composition

import (
	"encoding/json"
	"fmt"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// An owner is who asks: the claim of the v1 flavour, the composite itself of the v2 flavour. Everything composed lives in its
// namespace and is named after it.
type owner struct {
	Namespace string
	Name      string
}

// An input is a request, as far as it is the same for every kind.
type input struct {
	owner

	kind      string
	composite *structpb.Struct
	observed  map[string]*fnv1.Resource
	required  map[string]*fnv1.Resources
}

// header is what read needs to know of a composite: who asks.
type header struct {
	metav1.TypeMeta `json:",inline"`

	Metadata struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Spec struct {
		ClaimRef *struct {
			Name      string `json:"name"`
			Namespace string `json:"namespace"`
		} `json:"claimRef"`
	} `json:"spec"`
}

// read finds out who asks. A composite without a namespace and without a claim is an error: a composed namespaced kind without a
// namespace wedges its composite for good.
func read(req *fnv1.RunFunctionRequest) (*input, error) {
	xr := req.GetObserved().GetComposite().GetResource()
	h := header{}
	if err := decode(xr, &h); err != nil {
		return nil, fmt.Errorf("cannot read composite: %w", err)
	}
	in := &input{
		kind:      h.Kind,
		composite: xr,
		observed:  req.GetObserved().GetResources(),
		required:  req.GetRequiredResources(),
	}
	switch {
	case h.Metadata.Namespace != "":
		in.owner = owner{Namespace: h.Metadata.Namespace, Name: h.Metadata.Name}
	case h.Spec.ClaimRef != nil && h.Spec.ClaimRef.Namespace != "" && h.Spec.ClaimRef.Name != "":
		in.owner = owner{Namespace: h.Spec.ClaimRef.Namespace, Name: h.Spec.ClaimRef.Name}
	default:
		return nil, fmt.Errorf("cannot compose %s %q: it has no claim, so there is no namespace to compose in; make a claim instead", h.Kind, h.Metadata.Name)
	}
	return in, nil
}

// decode reads a struct into a Go type, leniently: an object of a newer version may have fields that we don't know.
func decode(s *structpb.Struct, into any) error {
	raw, err := protojson.Marshal(s)
	if err != nil {
		return fmt.Errorf("cannot encode as JSON: %w", err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("cannot decode as %T: %w", into, err)
	}
	return nil
}

// observe decodes an observed composed resource; nil where there is none.
func observe[T any](in *input, name string) (*T, error) {
	r, ok := in.observed[name]
	if !ok {
		return nil, nil //nolint:nilnil // Nothing observed is neither an error nor a value.
	}
	out := new(T)
	if err := decode(r.GetResource(), out); err != nil {
		return nil, fmt.Errorf("cannot read composed resource %q: %w", name, err)
	}
	return out, nil
}

// require decodes a required resource. Crossplane answers a requirement in a later call: asked is false until then, and out is nil
// where the resource doesn't exist.
func require[T any](in *input, name string) (out *T, asked bool, err error) {
	rs, ok := in.required[name]
	if !ok {
		return nil, false, nil
	}
	if len(rs.GetItems()) == 0 {
		return nil, true, nil
	}
	out = new(T)
	if err := decode(rs.GetItems()[0].GetResource(), out); err != nil {
		return nil, true, fmt.Errorf("cannot read required resource %q: %w", name, err)
	}
	return out, true, nil
}
