package boot

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	// MaxTemplate is how many bytes a script template may have.
	MaxTemplate = 16 << 10
	// maxScript is how many a script may have that one comes to.
	maxScript = 64 << 10
	// maxInitrds of a profile.
	maxInitrds = 16
)

var (
	templatePlace = regexp.MustCompile(`^\{\{[ \t]*\.([A-Za-z0-9]+)[ \t]*\}\}`)
	// templateValue is what neither iPXE nor grub takes for anything but itself, wherever in a line it stands.
	templateValue = regexp.MustCompile(`^[A-Za-z0-9._:/,=+@][A-Za-z0-9._:/,=+@-]*$`)
)

// What a loader alone knows of a boot: names that a template may say beside those of a plan's values and its profile's parameters.
const (
	ValueKernel      = "kernel"
	ValueCommandLine = "commandLine"
	ValueCallback    = "callback"
	ValueUserData    = "userData"
	ValueServer      = "server"
	ValueWait        = "wait"
)

// ValueInitrd names the n-th initrd, from 0.
func ValueInitrd(n int) string { return "initrd" + strconv.Itoa(n) }

// ScriptValues are what a script template may say as {{ .name }} of a machine, whatever loads it. What isn't known is "".
func (p *Plan) ScriptValues(a Arch) map[string]string {
	v := p.NetworkValues()
	for _, list := range []string{"dns", "ntp", "dns" + suffixSix, "ntp" + suffixSix} {
		v[list] = strings.ReplaceAll(v[list], " ", "")
	}
	v["mac"], v["serial"], v["uuid"], v["arch"] = "", p.Serial, p.UUID, string(a)
	v["namespace"], v["name"] = p.Entry.Namespace, p.Entry.Name
	if len(p.MACs) > 0 {
		v["mac"] = string(p.MACs[0])
	}
	return v
}

// FillScript puts values into the text of a plan's script. It's no template engine: the names of the values can be said, and nothing else. It
// fails where one isn't known, or is made of anything that a loader could take for more than a value. raw are values of our own, which are
// let through as they are.
func FillScript(text string, values, raw map[string]string) (string, error) {
	out, wrong := fillTemplate(text, func(name string) (string, bool, string) {
		if v, ok := raw[name]; ok {
			return v, false, ""
		}
		v, wrong := scriptValue(name, values)
		return v, false, wrong
	})
	switch {
	case wrong != "":
		return "", fmt.Errorf("the script's %s", wrong)
	case len(out) > maxScript:
		return "", fmt.Errorf("the script comes to %d bytes, and a loader is given %d at most", len(out), maxScript)
	}
	return out, nil
}

// scriptValue gives a value, or what is wrong with it.
func scriptValue(name string, values map[string]string) (value, wrong string) {
	v, known := values[name]
	switch {
	case !known:
		return "", "is neither a parameter of the profile nor one of " + strings.Join(slices.Sorted(maps.Keys(values)), ", ")
	case v == "":
		return "", "isn't known of this machine"
	case !templateValue.MatchString(v):
		return "", fmt.Sprintf("is %q, which a loader could take for more than a value: letters, digits and ._:/,=+@- alone are told, and no - in front", v)
	}
	return v, ""
}

// fillTemplate puts values into a text, or leaves a place as it is where keep says so. wrong begins with the line and column.
func fillTemplate(text string, value func(name string) (v string, keep bool, wrong string)) (filled, wrong string) {
	var out strings.Builder
	at := 0
	for {
		i := strings.Index(text[at:], "{{")
		if i < 0 {
			out.WriteString(text[at:])
			return out.String(), ""
		}
		out.WriteString(text[at : at+i])
		at += i
		m := templatePlace.FindStringSubmatch(text[at:])
		if m == nil {
			return "", placeIn([]byte(text), at) + ": it's no plain {{ .name }}"
		}
		v, keep, wrong := value(m[1])
		switch {
		case wrong != "":
			return "", fmt.Sprintf("%s: {{ .%s }} %s", placeIn([]byte(text), at), shortened(m[1]), wrong)
		case keep:
			v = m[0]
		}
		out.WriteString(v)
		at += len(m[0])
	}
}

// shortened is a name as it's quoted.
func shortened(name string) string {
	if len(name) > maxQuoted {
		return name[:maxQuoted] + "…"
	}
	return name
}

// CheckTemplates says what is wrong with a profile's templates, whatever machine boots it; "": nothing. It begins with the template's
// field, line and column.
func CheckTemplates(p Profile) string {
	known := (&Plan{}).ScriptValues("")
	for n := range loaderValues(maxInitrds) {
		known[n] = ""
	}
	for _, x := range p.Parameters {
		if _, taken := known[x.Name]; taken && p.Method == MethodScript && !ofSix(x.Name) {
			return fmt.Sprintf("parameter %q has the name of what each template may say; give it another", x.Name)
		}
	}
	for _, x := range p.Parameters {
		known[x.Name] = ""
	}
	for _, t := range p.templates() {
		if wrong := plainText(t.text); wrong != "" {
			return t.field + ", " + wrong
		}
		_, wrong := fillTemplate(t.text, func(name string) (string, bool, string) {
			if _, ok := known[name]; !ok {
				_, wrong := scriptValue(name, known)
				return "", false, wrong
			}
			return "", false, ""
		})
		if wrong != "" {
			return t.field + ", " + wrong
		}
	}
	return ""
}

// ofSix says whether a name is one of IPv6's values. Profiles of before may have a parameter of that name, which then counts.
func ofSix(name string) bool {
	values := map[string]string{}
	Place{}.values(values, suffixSix)
	_, ok := values[name]
	return ok
}

// A template of a profile, by the name of its field.
type template struct{ field, text string }

func (p Profile) templates() []template {
	return []template{{"scriptTemplate", p.ScriptTemplate}, {"grubTemplate", p.GrubTemplate}}
}

// plainText says where a text isn't one that a loader reads line by line, or that it's too long.
func plainText(text string) string {
	if len(text) > MaxTemplate {
		return fmt.Sprintf("line 1, column 1: it has %d bytes, and a template has %d at most", len(text), MaxTemplate)
	}
	for i, r := range text {
		if r != '\n' && r != '\t' && (r < ' ' || r > '~') {
			return fmt.Sprintf("%s: %q isn't printable ASCII, a tab or the end of a line", placeIn([]byte(text), i), r)
		}
	}
	return ""
}

// loaderValues stand for what a loader knows, where it's tried whether a template can be filled in.
func loaderValues(initrds int) map[string]string {
	v := map[string]string{ValueKernel: "x", ValueCommandLine: "x", ValueCallback: "x", ValueUserData: "x", ValueServer: "x", ValueWait: "1"}
	for n := range initrds {
		v[ValueInitrd(n)] = "x"
	}
	return v
}

// counted says which initrds a profile has.
func counted(initrds int) string {
	switch initrds {
	case 0:
		return "none"
	case 1:
		return "one, {{ ." + ValueInitrd(0) + " }}"
	}
	return fmt.Sprintf("%d, {{ .%s }} to {{ .%s }}", initrds, ValueInitrd(0), ValueInitrd(initrds-1))
}

// fillScripts puts an entry's parameters into a plan's scripts, and tries whether all the rest will be known for each architecture.
func fillScripts(p *Plan, from Profile, given map[string]string) *Problem {
	if p.Method != MethodScript {
		return nil
	}
	if wrong := CheckTemplates(from); wrong != "" {
		return &Problem{ProblemInvalid, fmt.Sprintf("BootProfile %s: %s; correct it there", from.Name, wrong)}
	}
	if from.ScriptTemplate == "" && byIPXE(p.Artifacts, p.FirstStage) {
		return &Problem{ProblemInvalid, fmt.Sprintf(
			"BootProfile %s has no scriptTemplate, which this machine's iPXE needs; give one, or set its host's firstStage to Shim, so that grub boots it", from.Name)}
	}
	parameters, prob := parameterValues(from, given)
	if prob != nil {
		return prob
	}
	for i, into := range []*string{&p.Script, &p.GrubScript} {
		t := from.templates()[i]
		for _, a := range p.Artifacts {
			values := p.ScriptValues(a.Arch)
			maps.Copy(values, parameters)
			if _, wrong := fillTemplate(t.text, func(name string) (string, bool, string) {
				if _, ok := loaderValues(len(a.Initrds))[name]; ok {
					return "", false, ""
				}
				if _, ok := loaderValues(maxInitrds)[name]; ok { // An initrd's.
					return "", false, fmt.Sprintf("is an initrd that the profile doesn't have: of %s it has %s", a.Arch, counted(len(a.Initrds)))
				}
				v, wrong := scriptValue(name, values)
				return v, false, wrong
			}); wrong != "" {
				return &Problem{ProblemInvalid, fmt.Sprintf("BootProfile %s: %s, %s; correct it there, or what the machine, its entry or its network says", from.Name, t.field, wrong)}
			}
		}
		*into, _ = fillTemplate(t.text, func(name string) (string, bool, string) {
			v, ok := parameters[name]
			return v, !ok, ""
		})
		if len(*into) > maxScript {
			return &Problem{ProblemInvalid, fmt.Sprintf("BootProfile %s: %s comes to %d bytes by its parameters, and a script has %d at most", from.Name, t.field, len(*into), maxScript)}
		}
	}
	return nil
}
