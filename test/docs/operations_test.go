package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	root       = "../.."
	operations = root + "/docs/operations"
)

func pages(t *testing.T) map[string]Page {
	t.Helper()
	all, err := Read(operations)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// tried are all pages whose commands are typed: those, and what the README says of a cluster.
func tried(t *testing.T) map[string]Page {
	t.Helper()
	all := pages(t)
	readme, err := ReadSection(filepath.Join(root, "README.md"), "## On your cluster")
	if err != nil {
		t.Fatal(err)
	}
	all[readme.Name] = readme
	return all
}

// TestEveryBlockIsTried holds that each block of each page is run by a stage that there is, or says why not: reading it refuses any other.
func TestEveryBlockIsTried(t *testing.T) {
	for name, p := range tried(t) {
		for _, s := range p.Steps {
			where := p.Where(s)
			if _, err := os.Stat("on" + where); err != nil || where == "" {
				t.Errorf("%s:%d: nobody tries it: there's no stage %q", name, s.Line, where)
			}
		}
	}
}

// silentReasons are those that no page has to explain, and why.
func silentReasons() map[string]string {
	return map[string]string{
		"Applied": "nothing is to be done", "Available": "nothing is to be done", "Bound": "nothing is to be done", "Stopped": "it's what was asked for",
		"AmbiguousDisk":   "nobody says it yet: root devices aren't chosen by the product",
		"Rotating":        "nobody says it yet",
		"WaitingForReset": "nobody says it yet", "WaitingForMaintenance": "nobody says it yet",
		"WaitingForConfirmation": "nobody says it: the reason is NeedsConfirmation",
		"Applying":               "over in a moment",
		"WaitingForBinding":      "over in a moment",
		"WaitingForAssignment":   "over in a moment: what is in the way of an assignment has a reason of its own",
		"WaitingForScript":       "a step of a boot that is told in docs/boot.md",
	}
}

// TestReasonsAreExplained holds that whoever reads a reason finds it on a page.
func TestReasonsAreExplained(t *testing.T) {
	var text strings.Builder
	for _, p := range pages(t) {
		text.WriteString(p.Text)
	}
	all := reasons(t)
	for _, r := range all {
		said := strings.Contains(text.String(), "`"+r+"`")
		switch why := silentReasons()[r]; {
		case !said && why == "":
			t.Errorf("no page of docs/operations says what to do about the reason `%s`", r)
		case said && why != "":
			t.Errorf("reason %q is on a page, and excused because %s: take the excuse away", r, why)
		}
	}
	for r := range silentReasons() {
		if !slices.Contains(all, r) {
			t.Errorf("there's no reason %q to be excused", r)
		}
	}
}

// reasons are the values of all Reason constants of the API.
func reasons(t *testing.T) (out []string) {
	t.Helper()
	for name, value := range constants(t, filepath.Join(root, "apis", "v1alpha1", "conditions.go")) {
		if strings.HasPrefix(name, "Reason") {
			out = append(out, value)
		}
	}
	if len(out) < 40 {
		t.Fatalf("conditions.go isn't understood any more: %v", out)
	}
	slices.Sort(out)
	return out
}

// constants of a file that are strings, by their names.
func constants(t *testing.T, file string) map[string]string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || len(v.Values) != len(v.Names) {
			return true
		}
		for i, x := range v.Values {
			if l, ok := x.(*ast.BasicLit); ok && l.Kind == token.STRING {
				out[v.Names[i].Name], _ = strconv.Unquote(l.Value)
			}
		}
		return true
	})
	return out
}

// named is how the monitoring page writes one, at the beginning of a table's row.
var named = regexp.MustCompile("(?m)^\\| `([A-Z][A-Za-z]+)` \\|")

// TestEventsExist holds that an event which the page on monitoring names is one that somebody may send.
func TestEventsExist(t *testing.T) {
	known := reasons(t)
	for _, dir := range []string{"redfishhost", "bootentry", "netboxipaddress"} {
		files, err := filepath.Glob(filepath.Join(root, "internal", "controller", dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(`(?:event\.(?:Normal|Warning)\(|event\.Reason = )"([A-Za-z]+)"`).FindAllStringSubmatch(string(b), -1) {
				known = append(known, m[1])
			}
		}
	}
	found := named.FindAllStringSubmatch(pages(t)["monitoring.md"].Text, -1)
	for _, m := range found {
		if !slices.Contains(known, m[1]) {
			t.Errorf("monitoring.md names event %s, which nobody sends", m[1])
		}
	}
	if len(found) < 5 {
		t.Errorf("only %d events are named", len(found))
	}
}

// TestLinks holds that what a page links to is there, down to the heading.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]*)(?:#([^)]+))?\)`)
	all := pages(t)
	for name, p := range all {
		for _, m := range link.FindAllStringSubmatch(p.Text, -1) {
			to := m[1]
			if to == "" {
				to = name
			}
			if _, err := os.Stat(filepath.Join(operations, to)); err != nil {
				t.Errorf("%s links to %q, which isn't there", name, m[1])
				continue
			}
			if other, ok := all[to]; ok && m[2] != "" && !slices.Contains(anchors(other.Text), m[2]) {
				t.Errorf("%s links to %s#%s, and there's no such heading", name, to, m[2])
			}
		}
	}
}

// anchors of a page's headings, as GitHub makes them.
func anchors(text string) (out []string) {
	for line := range strings.SplitSeq(text, "\n") {
		m := heading.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		a := strings.ReplaceAll(strings.ToLower(m[1]), " ", "-")
		out = append(out, regexp.MustCompile(`[^\p{L}\p{N}_-]`).ReplaceAllString(a, ""))
	}
	return out
}

// TestActsAreKnown holds that what happens beside the commands of a page is something that its stage knows how to do.
func TestActsAreKnown(t *testing.T) {
	sources := map[string]string{}
	for name, p := range tried(t) {
		for _, s := range p.Steps {
			where := p.Where(s)
			if _, ok := sources[where]; !ok {
				sources[where] = source(t, "on"+where)
			}
			if s.Act != "" && !strings.Contains(sources[where], strconv.Quote(s.Act)+":") {
				t.Errorf("%s:%d: nobody on a %s knows how to do %q", name, s.Line, where, s.Act)
			}
		}
	}
}

// source of a folder's package.
func source(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(b)
	}
	return out.String()
}
