package boot

import (
	"net/netip"
	"strings"
	"testing"
)

// scripted makes the plan of a profile with templates.
func scripted(ipxe, grub string, change func(*Profile, *Entry, *Machine)) (*Plan, *Problem) {
	p := Profile{
		Name: Name{"infra", "own"}, Mode: ModeInstall, Method: MethodScript, ScriptTemplate: ipxe, GrubTemplate: grub,
		Parameters: []Parameter{{Name: "role", Default: new("none"), Pattern: "[^ ]*"}},
		Artifacts: []Artifacts{
			{Arch: AMD64, Kernel: Artifact{Digest: "k"}, Initrds: []Artifact{{Digest: "a"}, {Digest: "b"}}},
			{Arch: ARM64, Kernel: Artifact{Digest: "k"}, Initrds: []Artifact{{Digest: "a"}}},
		},
	}
	e := Entry{Name: Name{"team", "web"}, Addresses: prefixes("10.77.0.11/24"), Hostname: "web-1", InstallGeneration: 1}
	m := Machine{HostUID: "host", MACs: []string{"52:54:00:00:00:01"}, Serial: "ABC-1"}
	if change != nil {
		change(&p, &e, &m)
	}
	return Resolve(e, p, SegmentConfig{Name: Name{"infra", "rack"}, Subnets: []Subnet{{CIDR: netip.MustParsePrefix("10.77.0.0/24"), DNS: []netip.Addr{netip.MustParseAddr("10.77.0.2"), netip.MustParseAddr("10.77.0.3")}}}}, m)
}

// TestTemplates: what is wrong with a template is told by its field, its line and its column, where its plan is made.
func TestTemplates(t *testing.T) {
	role := func(v string) func(*Profile, *Entry, *Machine) {
		return func(_ *Profile, e *Entry, _ *Machine) { e.Parameters = map[string]string{"role": v} }
	}
	cases := map[string]struct {
		reason     string
		ipxe, grub string
		change     func(*Profile, *Entry, *Machine)
		problem    string
	}{
		"All":     {reason: "each name of the list", ipxe: "kernel {{ .kernel }} {{ .commandLine }} r={{.role}}\ninitrd {{ .initrd0 }}\necho {{ .serial }} {{ .mac }} {{ .ip }} {{ .address }} {{ .prefixLength }} {{ .dns }} {{ .hostname }} {{ .arch }} {{ .namespace }} {{ .name }} {{ .callback }} {{ .userData }} {{ .server }} {{ .wait }}\n"},
		"Unknown": {reason: "a name that nobody has", ipxe: "#!ipxe\n  echo {{ .colour }}\n", problem: "BootProfile infra/own: scriptTemplate, line 2, column 8: {{ .colour }} is neither a parameter of the profile nor one of address, "},
		"Grub":    {reason: "which template it is", grub: "echo {{ .colour }}", problem: "grubTemplate, line 1, column 6: "},
		"NoIPXE": {
			reason: "what this machine's loader needs", grub: "echo", problem: "has no scriptTemplate, which this machine's iPXE needs",
			change: func(p *Profile, _ *Entry, _ *Machine) { p.Artifacts = p.Artifacts[:1] },
		},
		"Code":      {reason: "no code", ipxe: "a\n{{ if .role }}x{{ end }}", problem: "scriptTemplate, line 2, column 1: it's no plain {{ .name }}"},
		"Function":  {reason: "no function", ipxe: `{{ printf "%s" .role }}`, problem: "it's no plain {{ .name }}"},
		"Unclosed":  {reason: "no end", ipxe: "echo {{ .role", problem: "line 1, column 6: it's no plain {{ .name }}"},
		"Control":   {reason: "what no loader reads", ipxe: "echo\r\n", problem: `line 1, column 5: '\r' isn't printable ASCII`},
		"Umlaut":    {reason: "nor that", ipxe: "echo a\n\tfür", problem: `line 2, column 3: 'ü' isn't printable ASCII`},
		"Long":      {reason: "bounded", ipxe: strings.Repeat("a", MaxTemplate+1), problem: "a template has 16384 at most"},
		"Grows":     {reason: "bounded by what it comes to, too", ipxe: strings.Repeat("{{.role}}", 200), change: role(strings.Repeat("a", 1000)), problem: "comes to 200000 bytes by its parameters"},
		"Taken":     {reason: "a parameter that hides what is known", ipxe: "x", change: func(p *Profile, _ *Entry, _ *Machine) { p.Parameters[0].Name = "kernel" }, problem: `parameter "kernel" has the name of what each template may say`},
		"NoGateway": {reason: "what isn't known of this machine", ipxe: "echo {{ .gateway }}", problem: "line 1, column 6: {{ .gateway }} isn't known of this machine"},
		"NoInitrd":  {reason: "of one architecture", ipxe: "initrd {{ .initrd1 }}", problem: "line 1, column 8: {{ .initrd1 }} is an initrd that the profile doesn't have: of arm64 it has one, {{ .initrd0 }}; correct it there"},
		"NoInitrds": {reason: "nor of one without any", ipxe: "initrd {{ .initrd0 }}", change: func(p *Profile, _ *Entry, _ *Machine) { p.Artifacts[0].Initrds = nil }, problem: "{{ .initrd0 }} is an initrd that the profile doesn't have: of amd64 it has none; "},
		"Two":       {reason: "nor the one behind the last", ipxe: "initrd {{ .initrd2 }}", change: func(p *Profile, _ *Entry, _ *Machine) { p.Artifacts = p.Artifacts[:1] }, problem: "of amd64 it has 2, {{ .initrd0 }} to {{ .initrd1 }}; "},
		"Serial": {
			reason: "a machine's own words aren't a loader's", ipxe: "imgfree\necho {{ .serial }}", problem: `line 2, column 6: {{ .serial }} is "A || shell", which a loader could take for more`,
			change: func(_ *Profile, _ *Entry, m *Machine) { m.Serial = "A || shell" },
		},
		"Setting":  {reason: "nor is an entry's parameter an iPXE setting", ipxe: "echo {{ .role }}", change: role("${net0/mac}"), problem: "which a loader could take for more"},
		"Command":  {reason: "nor a second command of grub", ipxe: "echo {{ .role }}", change: role("a;reboot"), problem: "which a loader could take for more"},
		"Quote":    {reason: "nor the end of what its author quoted", ipxe: "echo {{ .role }}", change: role("a'b"), problem: "which a loader could take for more"},
		"Option":   {reason: "nor an option of a command", ipxe: "sanboot {{ .role }}", change: role("--drive=0x80"), problem: "and no - in front"},
		"Template": {reason: "nor another place", ipxe: "echo {{ .role }}", change: role("{{.serial}}"), problem: "which a loader could take for more"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p, prob := scripted(tc.ipxe, tc.grub, tc.change)
			switch {
			case prob == nil && tc.problem != "":
				t.Errorf("%s: no problem, want %q", tc.reason, tc.problem)
			case prob != nil && (tc.problem == "" || !strings.Contains(prob.Message, tc.problem) || prob.Reason != ProblemInvalid):
				t.Errorf("%s: %v, want %q", tc.reason, prob, tc.problem)
			case prob == nil && (strings.Contains(p.Script, ".role") || !strings.Contains(p.Script, "r=none") || !strings.Contains(p.Script, "{{ .kernel }}")):
				t.Errorf("%s: parameters are filled in, and what a boot alone knows isn't:\n%s", tc.reason, p.Script)
			}
		})
	}
	if _, prob := scripted("", "echo", nil); prob != nil {
		t.Errorf("one of ARM64 may have grub: %v", prob)
	}
	if p, prob := scripted("{{ bad", "", func(p *Profile, _ *Entry, _ *Machine) { p.Method = MethodKernel }); prob != nil || p.Script != "" {
		t.Errorf("a template of another method is nobody's: %v, %q", prob, p.Script)
	}
}

// TestScriptIsGranted: an edit of what a machine would be told is another install.
func TestScriptIsGranted(t *testing.T) {
	a, _ := scripted("echo a", "", nil)
	b, _ := scripted("echo b", "", nil)
	if a.Digest() == b.Digest() || !a.KernelDestroys() {
		t.Error("a script destroys as its author wants, and its digest is granted")
	}
}

// FuzzFillScript: whatever a value is, it never becomes more than itself.
func FuzzFillScript(f *testing.F) {
	for _, v := range []string{"a", "", "a b", "${x}", "a;b", "a||b", "'", "\\", "{{ .x }}", "-x", "#", "\n", "ä"} {
		f.Add("echo {{ .x }}\necho '{{.x}}' {{", v)
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		out, err := FillScript("echo {{ .x }}\n", map[string]string{"x": value}, nil)
		if err == nil && (out != "echo "+value+"\n" || strings.ContainsAny(value, " \t\r\n;|&$'\"`\\{}<>()#!*?[]~%^") || strings.HasPrefix(value, "-") || value == "") {
			t.Errorf("%q is told: %q", value, out)
		}
		if _, err := FillScript(text, map[string]string{"x": value}, nil); err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("an error of more than one line: %q", err)
		}
		_ = CheckTemplates(Profile{Method: MethodScript, ScriptTemplate: text, GrubTemplate: value})
	})
}
