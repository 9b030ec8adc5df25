package render_test

import (
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

// The numbers of crossplane.render.v1alpha1's fields in use: RenderRequest, CompositeInput, FunctionInput, RenderResponse,
// CompositeOutput and Event of Crossplane v2.4.0's proto/render/v1alpha1/render.proto. Written out here because the generated
// code would bring in the whole of Crossplane's module.
const (
	requestComposite = 2

	inputComposite   = 1
	inputComposition = 2
	inputFunctions   = 3
	inputObserved    = 4
	inputRequired    = 5
	inputDefinition  = 8

	functionName    = 1
	functionAddress = 2

	responseComposite = 2

	outputComposite = 1
	outputComposed  = 2
	outputDeleted   = 3
)

// functionRef is the name by which the compositions call the function.
const functionRef = "function-baremetal"

// An input is what Crossplane's reconciler renders from.
type input struct {
	composite, composition, definition map[string]any
	observed, required                 []map[string]any
	function                           string
}

// An output is what it would do.
type output struct {
	composite         map[string]any
	composed, deleted []map[string]any
}

// encode writes a RenderRequest.
func (in input) encode(t *testing.T) []byte {
	t.Helper()
	var body []byte
	add := func(number protowire.Number, docs ...map[string]any) {
		for _, d := range docs {
			s, err := structpb.NewStruct(d)
			if err != nil {
				t.Fatal(err)
			}
			raw, err := proto.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			body = bytesField(body, number, raw)
		}
	}
	add(inputComposite, in.composite)
	add(inputComposition, in.composition)
	add(inputObserved, in.observed...)
	add(inputRequired, in.required...)
	add(inputDefinition, in.definition)
	f := bytesField(nil, functionName, []byte(functionRef))
	body = bytesField(body, inputFunctions, bytesField(f, functionAddress, []byte(in.function)))
	return bytesField(nil, requestComposite, body)
}

// bytesField appends one length-delimited field.
func bytesField(b []byte, number protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), value)
}

// decodeOutput reads a RenderResponse.
func decodeOutput(t *testing.T, raw []byte) output {
	t.Helper()
	out := output{}
	for _, body := range fields(t, raw)[responseComposite] {
		for number, values := range fields(t, body) {
			for _, v := range values {
				switch number {
				case outputComposite:
					out.composite = document(t, v)
				case outputComposed:
					out.composed = append(out.composed, document(t, v))
				case outputDeleted:
					out.deleted = append(out.deleted, document(t, v))
				default: // Events and requirements are the function's own tests' business.
				}
			}
		}
	}
	return out
}

// fields splits a message into its length-delimited fields, in order.
func fields(t *testing.T, raw []byte) map[protowire.Number][][]byte {
	t.Helper()
	out := map[protowire.Number][][]byte{}
	for len(raw) > 0 {
		number, kind, n := protowire.ConsumeTag(raw)
		if n < 0 || kind != protowire.BytesType {
			t.Fatalf("cannot read render response: field %d of type %d", number, kind)
		}
		value, m := protowire.ConsumeBytes(raw[n:])
		if m < 0 {
			t.Fatalf("cannot read render response: field %d is cut short", number)
		}
		out[number] = append(out[number], value)
		raw = raw[n+m:]
	}
	return out
}

// document reads a google.protobuf.Struct.
func document(t *testing.T, raw []byte) map[string]any {
	t.Helper()
	s := &structpb.Struct{}
	if err := proto.Unmarshal(raw, s); err != nil {
		t.Fatal(err)
	}
	return s.AsMap()
}
