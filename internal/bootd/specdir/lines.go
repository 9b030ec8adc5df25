package specdir

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// A fault is what is wrong in a file: where, and why.
type fault struct {
	file    string
	line    int // 0: not known
	field   string
	message string
	// of is the key of the object that it's in; "": which one isn't known.
	of string
	// foreign says that it's an object of somebody else's, and no machine's.
	foreign bool
}

// place is where it is.
func (f fault) place() string {
	if f.line > 0 {
		return f.file + ":" + strconv.Itoa(f.line)
	}
	return f.file
}

// String is one sentence: file, line, field, and what is wrong.
func (f fault) String() string {
	s := f.place()
	if f.field != "" {
		s += ": " + f.field
	}
	return s + ": " + f.message
}

// A base64Error is a value of a Secret's data that can't be decoded. It's never said what it is.
type base64Error struct{ key, secret string }

func (e base64Error) Error() string {
	return fmt.Sprintf("it isn't base64, which the data of Secret %s has to be; encode it, or write it as it is below stringData", e.secret)
}

// encoded is a better error than that something isn't base64: which value of which Secret.
func encoded(err error, raw []byte) error {
	if _, ok := errors.AsType[base64.CorruptInputError](err); !ok {
		return err
	}
	var secret struct {
		Data map[string]any `json:"data"`
	}
	if json.Unmarshal(raw, &secret) != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(secret.Data)) {
		text, _ := secret.Data[key].(string)
		if _, wrong := base64.StdEncoding.DecodeString(text); wrong != nil {
			_, name, _ := strings.Cut(keyOf(secretKind, raw), " ")
			return base64Error{key, name}
		}
	}
	return err
}

// A durationError is a text that is no duration, and of which field.
type durationError struct{ field string }

func (durationError) Error() string {
	return "it must be a duration in hours, minutes and seconds, such as 12h or 30m"
}

// timed is a better error than that a text is no duration: which field's.
func timed(err error, raw []byte) error {
	var o struct {
		Spec struct {
			DHCP struct {
				LeaseDuration json.RawMessage `json:"leaseDuration"`
			} `json:"dhcp"`
			Timeouts struct {
				Install json.RawMessage `json:"install"`
			} `json:"timeouts"`
		} `json:"spec"`
	}
	if json.Unmarshal(raw, &o) != nil {
		return err
	}
	for _, at := range []struct {
		field string
		text  json.RawMessage
	}{{"spec.dhcp.leaseDuration", o.Spec.DHCP.LeaseDuration}, {"spec.timeouts.install", o.Spec.Timeouts.Install}} {
		var d metav1.Duration
		wrong := json.Unmarshal(at.text, &d)
		if _, known := errors.AsType[*json.UnmarshalTypeError](wrong); at.text != nil && wrong != nil && !known && wrong.Error() == err.Error() {
			return durationError{at.field}
		}
	}
	return err
}

// typed is the fault of a value of a wrong type, or of malformed JSON.
func (d document) typed(err error, path string) fault {
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return d.fault(path+t.Field, mistyped(t))
	}
	if x, ok := errors.AsType[base64Error](err); ok {
		return d.fault(path+"data."+x.key, x.Error())
	}
	if x, ok := errors.AsType[durationError](err); ok {
		return d.fault(path+x.field, x.Error())
	}
	return d.fault(strings.TrimSuffix(path, "."), strings.Join(strings.Fields(err.Error()), " "))
}

// mistyped says what kind of value is wanted in the place of what is there, in YAML's words.
func mistyped(t *json.UnmarshalTypeError) string {
	wanted := map[reflect.Kind]string{
		reflect.String: "a text", reflect.Bool: "true or false", reflect.Slice: "a list", reflect.Map: "a map", reflect.Struct: "a map",
		reflect.Int: "a whole number", reflect.Int32: "a whole number", reflect.Int64: "a whole number",
	}[t.Type.Kind()]
	is := map[string]string{"bool": "true or false", "object": "a map", "array": "a list", "string": "a text"}[t.Value]
	if is == "" {
		is = "a " + t.Value // A number, and which.
	}
	if t.Type.Kind() == reflect.String && t.Value == "bool" {
		return `a text is wanted there, and YAML takes a bare Off, No, N, On, Yes or Y for false or true: write it in quotes, such as "Off"`
	}
	return fmt.Sprintf("%s isn't what is wanted there: %s", is, cmp.Or(wanted, t.Type.String()))
}

// strict is the fault of a field that nobody knows, or that is there twice.
func (d document) strict(err error, path string) fault {
	field := ""
	if f, ok := err.(kjson.FieldError); ok { //nolint:errorlint // The library's own list holds them bare.
		field = f.FieldPath()
	}
	text, _, _ := strings.Cut(err.Error(), " \"")
	return d.fault(path+field, text)
}

func (d document) fault(field, message string) fault {
	return fault{line: d.lineOf(field), field: field, message: message}
}

// lineOf finds the line of a field, or of the nearest one above it that is there. It reads the document once more, which only what is
// wrong takes.
func (d document) lineOf(field string) int {
	if field == "" {
		return d.line + leading(d.text)
	}
	var root yaml3.Node
	if yaml3.Unmarshal(d.text, &root) != nil || len(root.Content) == 0 {
		return d.line
	}
	n := root.Content[0]
	line := n.Line
	for _, step := range steps(field) {
		next, at := child(n, step)
		if next == nil {
			break
		}
		n, line = next, at
	}
	return d.line + line - 1
}

// in says in which object a fault is, as far as one that can't be taken says who it is.
func (f fault) in(kind string, raw []byte) []fault {
	f.of = keyOf(kind, raw)
	return []fault{f}
}

// keyOf an object that can't be taken, as far as it says who it is; "": it doesn't.
func keyOf(kind string, raw []byte) string {
	var o struct {
		Metadata struct {
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
		} `json:"metadata"`
	}
	if json.Unmarshal(raw, &o) != nil {
		return ""
	}
	return kind + " " + boot.Name{Namespace: cmp.Or(o.Metadata.Namespace, defaultNamespace), Name: o.Metadata.Name}.String()
}

// leading counts the empty lines and comments that a document begins with.
func leading(b []byte) (n int) {
	for row := range bytes.Lines(b) {
		row = bytes.TrimSpace(row)
		if len(row) > 0 && row[0] != '#' {
			return n
		}
		n++
	}
	return n
}

// steps of a path such as spec.subnets[0].cidr: spec, subnets, 0, cidr.
func steps(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
}

func child(n *yaml3.Node, step string) (found *yaml3.Node, line int) {
	switch n.Kind {
	case yaml3.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == step {
				return n.Content[i+1], n.Content[i].Line
			}
		}
	case yaml3.SequenceNode:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i], n.Content[i].Line
		}
	case yaml3.DocumentNode, yaml3.ScalarNode, yaml3.AliasNode:
	}
	return nil, 0
}
