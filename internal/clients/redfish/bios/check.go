package bios

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Reason why an attribute can't be set.
type Reason string

// Values of Reason.
const (
	// Unknown: the machine has no attribute of that name.
	Unknown Reason = "Unknown"
	// ReadOnly: the registry says that it can't be changed.
	ReadOnly Reason = "ReadOnly"
	// Invalid: not a value that the attribute takes.
	Invalid Reason = "Invalid"
	// Dependent: another attribute's value decides it, or forbids to change it.
	Dependent Reason = "Dependency"
	// Secret: a password, which doesn't belong into a spec.
	Secret Reason = "Password"
	// NotTaken: it was staged, the machine booted, and it is as it was.
	NotTaken Reason = "NotTaken"
)

// Problem is why one attribute can't be set as declared.
type Problem struct {
	Name            string
	Reason          Reason
	Wanted, Current Value
	// Takes says what values the attribute takes (Invalid).
	Takes string
	// Nearest names (Unknown), 3 at most.
	Nearest []string
	// Because of other attributes' values, it's read-only, or becomes Becomes (Dependent).
	Because string
	Becomes Value
}

// String returns the problem for people, without what to do. A password isn't
// shown.
func (p Problem) String() string {
	switch p.Reason {
	case Unknown:
		if len(p.Nearest) == 0 {
			return fmt.Sprintf("%q isn't an attribute of this machine", p.Name)
		}
		near := make([]string, len(p.Nearest))
		for i, n := range p.Nearest {
			near[i] = strconv.Quote(n)
		}

		return fmt.Sprintf("%q isn't an attribute of this machine, nearest are %s", p.Name, strings.Join(near, ", "))
	case ReadOnly:
		return fmt.Sprintf("%q is read-only and has %s, not %s", p.Name, p.Current, p.Wanted)
	case Invalid:
		return fmt.Sprintf("%q takes %s, not %s", p.Name, p.Takes, p.Wanted)
	case Dependent:
		if p.Becomes.Kind != Null {
			return fmt.Sprintf("%q becomes %s, not %s, where %s", p.Name, p.Becomes, p.Wanted, p.Because)
		}

		return fmt.Sprintf("%q can't be changed from %s to %s while %s", p.Name, p.Current, p.Wanted, p.Because)
	case Secret:
		return fmt.Sprintf("%q is a password: those aren't set from a spec", p.Name)
	case NotTaken:
		return fmt.Sprintf("%q is %s after the boot, not %s", p.Name, p.Current, p.Wanted)
	}

	return fmt.Sprintf("%q: %s", p.Name, p.Reason)
}

// Plan compares a declared map with what is in force. Changes are the values
// to stage, as the machine takes them; none means that all is as declared.
// Where there are problems nothing should be staged: half of a map is worse
// than none. Both are decided with the registry where there is one, else by
// the names and types that are in force. An attribute that has its declared
// value is neither, whatever else is true of it.
func Plan(r Registry, declared, current map[string]Value) (changes map[string]Value, problems []Problem) {
	changes, wishes := map[string]Value{}, map[string]Value{}
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		v, p := r.check(name, declared[name], current)
		if p.Reason != "" {
			problems = append(problems, p)

			continue
		}
		wishes[name] = v
		if !r.same(name, v, current[name]) {
			changes[name] = v
		}
	}
	planned, overruled := r.follow(current, wishes)
	for _, name := range slices.Sorted(maps.Keys(wishes)) {
		p, bad := overruled[name]
		_, differs := changes[name]
		if d, ok := r.locked(name, planned); !bad && differs && ok {
			bad, p = true, Problem{Name: name, Reason: Dependent, Wanted: wishes[name], Current: current[name], Because: d.because(planned)}
		}
		if bad {
			problems = append(problems, p)
			delete(changes, name)
		}
	}

	return changes, problems
}

// check returns the value as the machine takes it, or the problem that it has
// on its own.
func (r Registry) check(name string, wanted Value, current map[string]Value) (Value, Problem) {
	is, inForce := current[name]
	e, described := r.entries[name]
	p := Problem{Name: name, Wanted: wanted, Current: is}
	var v Value
	switch {
	case described && e.kind == typePassword, !described && is.Kind != Number && is.Kind != Flag && namesPassword(name):
		p.Reason, p.Wanted, p.Current = Secret, Value{}, Value{}

		return v, p
	case !inForce: // Registries describe more than one machine has.
		p.Reason, p.Nearest = Unknown, r.nearest(name, current)

		return v, p
	case described:
		v, p.Takes = e.coerce(wanted)
	default:
		v, p.Takes = likeCurrent(wanted, is)
	}
	switch {
	case p.Takes != "":
		p.Reason = Invalid
	case described && e.readOnly && !r.same(name, v, is):
		p.Reason = ReadOnly
	}
	if p.Reason == "" {
		p = Problem{}
	}

	return v, p
}

// namesPassword says whether an attribute that nobody describes is a password by
// its name: UefiPassword, Setup_Password_0123.
func namesPassword(name string) bool {
	name = strings.TrimRight(strings.ToLower(name), "0123456789abcdef_")

	return strings.HasSuffix(name, "passwor") || strings.HasSuffix(name, "password")
}

// same compares two values of an attribute by what they mean: an enumeration's
// by any name that the registry has for them.
func (r Registry) same(name string, a, b Value) bool {
	if Same(a, b) {
		return true
	}
	if a.Kind == Null || b.Kind == Null {
		return false
	}
	e, ok := r.entries[name]
	if !ok || e.kind == typePassword {
		return false
	}
	x, takesX := e.coerce(a)
	y, takesY := e.coerce(b)

	return takesX == "" && takesY == "" && x == y
}

// TakenBack are the declared attributes that are as declared and have something
// else staged, by an earlier wish: what is declared has to be staged over it.
func TakenBack(r Registry, declared, current, settings map[string]Value) map[string]Value {
	out := map[string]Value{}
	for name := range declared {
		is, v := current[name], settings[name]
		if !r.entries[name].readOnly && is.Kind != Null && v.Kind != Null && !r.same(name, v, is) && r.same(name, declared[name], is) {
			out[name] = is
		}
	}

	return out
}

// Staged compares the settings resource with changes. Missing are the changes
// that it doesn't hold; foreign are the attributes that others have staged:
// not declared, and other than what is in force. Resources that show all
// attributes (HPE, Lenovo) and those that show staged ones alone are read
// alike.
func Staged(r Registry, changes, declared, current, settings map[string]Value) (missing, foreign []string) {
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		if v, ok := settings[name]; !ok || !r.same(name, v, changes[name]) {
			missing = append(missing, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		_, ours := declared[name]
		is, known := current[name]
		if !ours && known && settings[name].Kind != Null && !r.same(name, settings[name], is) && r.entries[name].kind != typePassword {
			foreign = append(foreign, name)
		}
	}

	return missing, foreign
}
