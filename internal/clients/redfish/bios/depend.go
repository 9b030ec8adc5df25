package bios

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/lenient"
)

// Properties that a dependency reads or changes (Redfish AttributeRegistry
// v1.x, MapFromProperty and MapToProperty). Hidden and GrayOut are for menus:
// such an attribute may be written.
const (
	propertyCurrent  = "CurrentValue"
	propertyReadOnly = "ReadOnly"
)

// maxRounds bounds how far one attribute's value changes others'.
const maxRounds = 16

// dependency says what the values of some attributes do to another one.
type dependency struct {
	from     []term
	to       string
	property string
	value    Value
}

// term is one condition; or joins it to the one before it.
type term struct {
	attribute string
	condition string
	value     Value
	or        bool
}

type wireDependency struct {
	Type       lenient.Text
	Dependency struct {
		From []struct {
			Attribute lenient.Text `json:"MapFromAttribute"`
			Property  lenient.Text `json:"MapFromProperty"`
			Condition lenient.Text `json:"MapFromCondition"`
			Value     Value        `json:"MapFromValue"`
			Terms     lenient.Text `json:"MapTerms"`
		} `json:"MapFrom"`
		To       lenient.Text `json:"MapToAttribute"`
		Property lenient.Text `json:"MapToProperty"`
		Value    Value        `json:"MapToValue"`
	}
}

// dependency returns what is understood of it. What isn't (an expression, a
// condition on another property) binds nobody: the BMC has the last word.
func (w wireDependency) dependency() (dependency, bool) {
	d := dependency{to: string(w.Dependency.To), property: string(w.Dependency.Property), value: w.Dependency.Value}
	if w.Type != "" && w.Type != "Map" || d.to == "" || d.property != propertyCurrent && d.property != propertyReadOnly && d.property != "Immutable" {
		return d, false
	}
	for _, f := range w.Dependency.From {
		if f.Attribute == "" || f.Property != propertyCurrent {
			return d, false
		}
		d.from = append(d.from, term{attribute: string(f.Attribute), condition: string(f.Condition), value: f.Value, or: f.Terms == "OR"})
	}

	return d, len(d.from) > 0
}

// holds says whether the conditions are met by values; AND binds closer.
func (d dependency) holds(values map[string]Value) bool {
	all := true
	for i, t := range d.from {
		if i > 0 && t.or {
			if all {
				return true
			}
			all = true
		}
		all = all && t.holds(values)
	}

	return all
}

func (t term) holds(values map[string]Value) bool {
	v, ok := values[t.attribute]
	if !ok || v.Kind == Null {
		return false
	}
	switch t.condition {
	case "EQU":
		return Same(v, t.value)
	case "NEQ":
		return !Same(v, t.value)
	}
	a, errA := strconv.ParseFloat(v.Text, 64)
	b, errB := strconv.ParseFloat(t.value.Text, 64)
	if errA != nil || errB != nil {
		return false
	}
	switch t.condition {
	case "GTR":
		return a > b
	case "GEQ":
		return a >= b
	case "LSS":
		return a < b
	case "LEQ":
		return a <= b
	}

	return false
}

// because says why a dependency holds.
func (d dependency) because(values map[string]Value) string {
	var parts []string
	for _, t := range d.from {
		if t.holds(values) {
			parts = append(parts, fmt.Sprintf("%q is %s", t.attribute, values[t.attribute]))
		}
	}

	return strings.Join(parts, " and ")
}

// follow returns what attributes will have once wishes are in force, with
// what they change in others, and which of the wishes are overruled, and why.
// A dependency that holds already and isn't followed by the BIOS is not ours
// to enforce.
func (r Registry) follow(current, wishes map[string]Value) (planned map[string]Value, overruled map[string]Problem) {
	planned = make(map[string]Value, len(current)+len(wishes))
	maps.Copy(planned, current)
	maps.Copy(planned, wishes)
	overruled = map[string]Problem{}
	for range maxRounds {
		moved := false
		for _, d := range r.dependencies {
			if d.property != propertyCurrent || d.value.Kind == Null || !d.holds(planned) || d.holds(current) && !Same(current[d.to], d.value) {
				continue
			}
			switch v, ours := wishes[d.to]; {
			case ours && !r.same(d.to, v, d.value):
				overruled[d.to] = Problem{Name: d.to, Reason: Dependent, Wanted: v, Current: current[d.to], Because: d.because(planned), Becomes: d.value}
			case !ours && !Same(planned[d.to], d.value):
				planned[d.to] = d.value
				moved = true
			}
		}
		if !moved {
			break
		}
	}

	return planned, overruled
}

// locked returns the dependency that makes an attribute read-only.
func (r Registry) locked(name string, planned map[string]Value) (dependency, bool) {
	for _, d := range r.dependencies {
		if d.to == name && d.property != propertyCurrent && truth(d.value.Text).Text == "true" && d.holds(planned) {
			return d, true
		}
	}

	return dependency{}, false
}
