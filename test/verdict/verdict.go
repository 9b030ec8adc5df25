package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// elsewhere marks a test whose recordings aren't part of the repository: missing them is no machine's fault.
const elsewhere = "../shared/"

// slow is how many seconds a test takes that is shown by itself though it passed: who waits wants to see what for.
const slow = 5

var (
	errFailed  = errors.New("tests failed")
	errSkipped = errors.New("tests were skipped, which counts as failed under CI=true")
)

// An event is one line of "go test -json" (see "go doc test2json").
type event struct {
	Action     string `json:"Action"`
	Package    string `json:"Package"`
	ImportPath string `json:"ImportPath"`
	Test       string `json:"Test"`
	Output     string `json:"Output"`
	// Elapsed is in seconds.
	Elapsed float64 `json:"Elapsed"`
}

// A key names one test of one package; the package itself has no test.
type key struct{ pkg, test string }

// A verdict collects events.
type verdict struct {
	output                  map[key][]string
	passed, failed, skipped int
	packages                int
	excused                 int
	// broken are the tests that failed, subtests by their parents, as lines of package and test; a package that failed by itself
	// has a dot for its test.
	broken []string
	// faults are the rows of one table, which stands at the end: what went wrong in tests, how often it was made to, and how often met.
	faults []fault
	// secrets are what no output may have in it, and told is how many lines had a secret in them.
	secrets []string
	told    int
}

// A fault is a row that a passed test has of that table: "| WORDS | 3 | 3 |".
type fault struct {
	words         string
	injected, met int
}

func newVerdict() *verdict { return &verdict{output: map[key][]string{}, secrets: forms()} }

// take returns what is to be shown once that line has come.
func (v *verdict) take(line []byte) string {
	var e event
	if err := json.Unmarshal(line, &e); err != nil || e.Action == "" {
		return string(line) // What isn't an event is the go command's own word.
	}
	k := key{pkg: e.Package, test: e.Test}
	switch e.Action {
	case "output":
		v.output[k] = append(v.output[k], e.Output)
		return v.scan(k, e.Output)
	case "build-output":
		return e.Output
	case "build-fail":
		v.breaks(e.ImportPath)
		return ""
	case "pass", "fail", "skip":
		return v.end(k, e)
	default:
		return ""
	}
}

// end counts a test or package that has ended, forgets its output and returns what of it is to be shown.
func (v *verdict) end(k key, e event) string {
	out := v.output[k]
	delete(v.output, k)
	if k.test == "" {
		v.packages++
		if e.Action == "fail" {
			v.breaks(k.pkg)
		}
		return closing(out)
	}
	switch e.Action {
	case "fail":
		v.failed++
		if !strings.Contains(k.test, "/") {
			v.broken = append(v.broken, k.pkg+" "+k.test+"\n")
		}
		return strings.Join(out, "")
	case "skip":
		return v.skip(k, out)
	default:
		v.passed++
		if e.Elapsed < slow {
			return v.tables(out)
		}
		return fmt.Sprintf("--- PASS: %s (%.1fs)\n", k.test, e.Elapsed) + v.tables(out)
	}
}

// row of the table of faults.
var row = regexp.MustCompile(`^\| +(\S.*?) +\| +(\d{1,9}) +\| +(\d{1,9}) +\|$`)

// figure is a line that says what a test has measured, behind where it's logged.
var figure = regexp.MustCompile(`^(?:\w+\.go:\d+: )?(figure [a-z][a-z0-9_]* [0-9.]+ \S.*)$`)

// tables are the rows of a passed test's tables, which it shows whoever runs it: its lines that begin with "| ", and its figures. Rows of
// faults are kept for the end.
func (v *verdict) tables(out []string) string {
	var b strings.Builder
	for l := range strings.Lines(strings.Join(out, "")) {
		l = strings.TrimLeft(l, " ")
		if m := row.FindStringSubmatch(strings.TrimSpace(l)); m != nil {
			f := fault{words: m[1]}
			f.injected, _ = strconv.Atoi(m[2]) // They are digits.
			f.met, _ = strconv.Atoi(m[3])
			v.add(f)
		} else if m := figure.FindStringSubmatch(strings.TrimSpace(l)); m != nil {
			b.WriteString(m[1] + "\n")
		} else if strings.HasPrefix(l, "| ") {
			b.WriteString(l)
		}
	}
	return b.String()
}

// add counts a fault with those of the same words: each subtest has a row of its own.
func (v *verdict) add(f fault) {
	if i := slices.IndexFunc(v.faults, func(known fault) bool { return known.words == f.words }); i >= 0 {
		v.faults[i].injected += f.injected
		v.faults[i].met += f.met
		return
	}
	v.faults = append(v.faults, f)
}

// faultTable is that of all faults, in the order of their words; "" where there are none.
func (v *verdict) faultTable() string {
	if len(v.faults) == 0 {
		return ""
	}
	slices.SortFunc(v.faults, func(a, b fault) int { return strings.Compare(a.words, b.words) })
	all := fault{words: fmt.Sprintf("%d faults", len(v.faults))}
	width := len(all.words)
	for _, f := range v.faults {
		all.injected, all.met = all.injected+f.injected, all.met+f.met
		width = max(width, len(f.words))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| %-*s | injected |      met |\n| %s | -------: | -------: |\n", width, "fault", strings.Repeat("-", width))
	for _, f := range append(v.faults, all) {
		fmt.Fprintf(&b, "| %-*s | %8d | %8d |\n", width, f.words, f.injected, f.met)
	}
	return b.String()
}

// breaks counts a package that failed without a test of its own that did.
func (v *verdict) breaks(pkg string) {
	if !slices.ContainsFunc(v.broken, func(b string) bool { return strings.HasPrefix(b, pkg+" ") }) {
		v.failed++
		v.broken = append(v.broken, pkg+" .\n")
	}
}

func (v *verdict) skip(k key, out []string) string {
	why := reason(out)
	v.skipped++
	if strings.Contains(why, elsewhere) {
		v.excused++
	}
	return fmt.Sprintf("--- SKIP: %s: %s\n", k.test, why)
}

// closing are the lines of a package itself: "ok", "FAIL", what a failed TestMain said. "PASS" alone says nothing, nor does a
// package without tests.
func closing(out []string) string {
	var b strings.Builder
	for _, o := range out {
		if o == "PASS\n" || strings.Contains(o, "[no test files]") {
			continue
		}
		b.WriteString(o)
	}
	return b.String()
}

// reason is the sentence of a skipped test in one line: its last line that isn't the framework's.
func reason(out []string) string {
	lines := strings.Split(strings.Join(out, ""), "\n")
	for _, l := range slices.Backward(lines) {
		l = strings.TrimSpace(l)
		if l == "" || strings.HasPrefix(l, "---") || strings.HasPrefix(l, "===") {
			continue
		}
		if _, said, ok := strings.Cut(l, ".go:"); ok {
			_, l, _ = strings.Cut(said, ": ")
		}
		return strings.TrimPrefix(l, "skipped: ")
	}
	return "no reason given"
}

func (v *verdict) summary(name string) string {
	return fmt.Sprintf("%s: %d passed, %d failed, %d skipped in %d packages", name, v.passed, v.failed, v.skipped, v.packages)
}

func (v *verdict) failure(ci bool) error {
	if v.failed > 0 || v.packages == 0 {
		return errFailed
	}
	if v.told > 0 {
		return errSecret
	}
	if ci && v.skipped > v.excused {
		return errSkipped
	}
	return nil
}
