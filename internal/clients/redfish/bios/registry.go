// Package bios decides about BIOS attributes: what of a declared map differs
// from what is in force, what can't be set and why, and whether a change is
// staged. It's pure: the resources come from package redfish.
package bios

import (
	"errors"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish/lenient"
)

// ErrNoRegistry says that a body isn't an attribute registry.
var ErrNoRegistry = errors.New("the body isn't an attribute registry")

// Types of attributes (Redfish AttributeRegistry v1.x, AttributeType).
const (
	typeEnumeration = "Enumeration"
	typeString      = "String"
	typeInteger     = "Integer"
	typeBoolean     = "Boolean"
	typePassword    = "Password"
)

// Registry describes the attributes of one BIOS version (Redfish schema
// AttributeRegistry v1.x). The zero one describes nothing.
type Registry struct {
	// ID as the registry calls itself.
	ID           string
	entries      map[string]entry
	dependencies []dependency
}

// Known says whether there is a registry.
func (r Registry) Known() bool { return len(r.entries) > 0 }

type entry struct {
	display    string
	kind       string
	readOnly   bool
	choices    []choice
	low, high  lenient.Number
	step       lenient.Number
	short      lenient.Number
	long       lenient.Number
	expression string
}

// choice is one value of an enumeration.
type choice struct{ name, display string }

type wireRegistry struct {
	ID      lenient.Text `json:"Id"`
	Entries struct {
		Attributes   []wireEntry
		Dependencies []wireDependency
	} `json:"RegistryEntries"`
}

type wireEntry struct {
	Name       lenient.Text `json:"AttributeName"`
	Display    lenient.Text `json:"DisplayName"`
	Type       lenient.Text
	ReadOnly   lenient.Flag
	Immutable  lenient.Flag
	Value      []wireChoice
	Low        lenient.Number `json:"LowerBound"`
	High       lenient.Number `json:"UpperBound"`
	Step       lenient.Number `json:"ScalarIncrement"`
	Short      lenient.Number `json:"MinLength"`
	Long       lenient.Number `json:"MaxLength"`
	Expression lenient.Text   `json:"ValueExpression"`
}

type wireChoice struct {
	Name    lenient.Text `json:"ValueName"`
	Display lenient.Text `json:"ValueDisplayName"`
}

// Parse reads an attribute registry. What doesn't fit is left out; its errors
// are lenient.ErrNotJSON and ErrNoRegistry.
func Parse(body []byte) (Registry, error) {
	var w wireRegistry
	if err := lenient.Decode(body, &w); err != nil {
		return Registry{}, err
	}
	r := Registry{ID: string(w.ID), entries: make(map[string]entry, len(w.Entries.Attributes))}
	for _, e := range w.Entries.Attributes {
		if e.Name != "" {
			r.entries[string(e.Name)] = e.entry()
		}
	}
	if !r.Known() {
		return Registry{}, ErrNoRegistry
	}
	for _, d := range w.Entries.Dependencies {
		if got, ok := d.dependency(); ok {
			r.dependencies = append(r.dependencies, got)
		}
	}

	return r, nil
}

func (w wireEntry) entry() entry {
	e := entry{
		display: string(w.Display), kind: string(w.Type), readOnly: w.ReadOnly.True || w.Immutable.True,
		low: w.Low, high: w.High, step: w.Step, short: w.Short, long: w.Long, expression: string(w.Expression),
	}
	for _, c := range w.Value {
		if c.Name != "" {
			e.choices = append(e.choices, choice{name: string(c.Name), display: string(c.Display)})
		}
	}

	return e
}

// find returns the choice that a text means: by its name, then by either name
// without regard to case (Supermicro mixes Enable, Enabled and ENABLED).
func (e entry) find(s string) (choice, bool) {
	s = strings.TrimSpace(s)
	for _, c := range e.choices {
		if c.name == s {
			return c, true
		}
	}
	for _, c := range e.choices {
		if strings.EqualFold(c.name, s) || c.display != "" && strings.EqualFold(c.display, s) {
			return c, true
		}
	}

	return choice{}, false
}
