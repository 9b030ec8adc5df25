package bios

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxShown is how many choices a sentence lists.
const maxShown = 12

// coerce returns the value as the attribute takes it, or what it takes where
// the value isn't that.
func (e entry) coerce(v Value) (out Value, takes string) {
	switch e.kind {
	case typeEnumeration:
		return e.choose(v)
	case typeInteger:
		return e.count(v)
	case typeBoolean:
		return e.flag(v)
	case typeString:
		return e.text(v)
	}

	return v, ""
}

func (e entry) choose(v Value) (out Value, takes string) {
	if len(e.choices) == 0 {
		return v, "" // A registry that lists none: the BMC will say.
	}
	if c, ok := e.find(v.Text); ok && v.Kind != Null {
		return Value{Kind: Text, Text: c.name}, ""
	}

	return Value{}, "one of " + e.listed()
}

func (e entry) listed() string {
	names := make([]string, 0, maxShown)
	for _, c := range e.choices {
		if len(names) == maxShown {
			return strings.Join(names, ", ") + fmt.Sprintf(" and %d more", len(e.choices)-maxShown)
		}
		names = append(names, strconv.Quote(c.name))
	}

	return strings.Join(names, ", ")
}

func (e entry) count(v Value) (out Value, takes string) {
	n := number(v.Text)
	f, err := strconv.ParseFloat(n.Text, 64)
	if v.Kind == Flag || n.Kind != Number || err != nil || math.Trunc(f) != f || !e.inRange(f) {
		return Value{}, e.span()
	}

	return n, ""
}

func (e entry) inRange(f float64) bool {
	if e.low.Known && f < e.low.Value || e.bounded() && f > e.high.Value {
		return false
	}
	if step := e.step.Value; e.step.Known && step > 1 && e.low.Known {
		return math.Mod(f-e.low.Value, step) == 0
	}

	return true
}

// bounded says whether there is an upper bound: where both are 0 the registry
// has none.
func (e entry) bounded() bool {
	return e.high.Known && (!e.low.Known || e.high.Value > e.low.Value)
}

func (e entry) span() string {
	takes := "a whole number"
	if e.low.Known && e.bounded() {
		takes += fmt.Sprintf(" from %s to %s", shortest(e.low.Value), shortest(e.high.Value))
	} else if e.low.Known && e.low.Value != 0 {
		takes += " from " + shortest(e.low.Value)
	}
	if e.step.Known && e.step.Value > 1 {
		takes += " in steps of " + shortest(e.step.Value)
	}

	return takes
}

func shortest(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// flag takes true and false, and the words that a registry has for them
// (BlueField: 1 is Enabled).
func (e entry) flag(v Value) (out Value, takes string) {
	if t := truth(v.Text); t.Kind == Flag {
		return t, ""
	}
	if c, ok := e.find(v.Text); ok && v.Kind != Null {
		if t := truth(c.name); t.Kind == Flag {
			return t, ""
		}
		switch c.name {
		case "1":
			return truth("true"), ""
		case "0":
			return truth("false"), ""
		}
	}

	return Value{}, "true or false"
}

func (e entry) text(v Value) (out Value, takes string) {
	n := float64(utf8.RuneCountInString(v.Text))
	switch {
	case v.Kind == Null:
		return Value{}, "a text"
	case e.short.Known && n < e.short.Value:
		return Value{}, fmt.Sprintf("a text of at least %s characters", shortest(e.short.Value))
	case e.long.Known && e.long.Value > 0 && n > e.long.Value:
		return Value{}, fmt.Sprintf("a text of at most %s characters", shortest(e.long.Value))
	case e.expression != "" && !matches(e.expression, v.Text):
		return Value{}, "a text like " + e.expression
	}

	return Value{Kind: Text, Text: v.Text}, ""
}

// matches takes what an expression can't be asked about: registries hold
// expressions of other dialects, and the BMC has the last word.
func matches(expression, s string) bool {
	const longest = 512
	if len(expression) > longest {
		return true
	}
	re, err := regexp.Compile("^(?:" + expression + ")$")

	return err != nil || re.MatchString(s)
}

// likeCurrent is coerce where there is no registry: of the type that is in
// force.
func likeCurrent(v, current Value) (out Value, takes string) {
	switch current.Kind {
	case Number:
		if n := number(v.Text); v.Kind != Flag && n.Kind == Number {
			return n, ""
		}

		return Value{}, "a number"
	case Flag:
		if t := truth(v.Text); t.Kind == Flag {
			return t, ""
		}

		return Value{}, "true or false"
	case Text:
		if v.Kind != Null {
			return Value{Kind: Text, Text: v.Text}, ""
		}

		return Value{}, "a text"
	case Null:
	}

	return v, ""
}
