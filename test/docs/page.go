package docs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Languages of fenced blocks.
const (
	shell = "sh"
	// Either of these, after one that is run, is what a person sees then.
	output, session = "text", "console"
)

// Attributes that a block's first line may have after its language, which renderers of Markdown leave out.
const (
	// noRun says why nobody runs a block.
	noRun = "norun"
	// on names the stage that runs a block; without it, that of its page does.
	on = "on"
	// fails says why a block's commands are to fail.
	fails = "fails"
	// as names who types a block; without it, that's who administers the cluster.
	as = "as"
)

// A Block is one fenced block of a page.
type Block struct {
	// Page is the file's name, Section the heading above the block, Line that of its fence.
	Page, Section string
	Line          int
	Lang          string
	Attrs         map[string]string
	Text          string
}

// String is where a block stands.
func (b Block) String() string { return fmt.Sprintf("%s:%d", b.Page, b.Line) }

// NoRun says why a block isn't run; "" where it is.
func (b Block) NoRun() string { return b.Attrs[noRun] }

// Fails says why a block's commands are to fail; "" where they mustn't.
func (b Block) Fails() string { return b.Attrs[fails] }

// As is who types a block; "" is who administers the cluster.
func (b Block) As() string { return b.Attrs[as] }

// A Step is what is done next on the way through a page: an act of whoever tries it, or commands and what is seen after them.
type Step struct {
	// Act names what happens beside the commands, such as a cable that breaks; "" where there's a block. Line is its comment's. On names the
	// stage whose it is, where that isn't the page's.
	Act  string
	On   string
	Line int
	// Run is a block of commands, and Want what must be among their output, nil where nothing is said.
	Run  *Block
	Want *Block
}

// Needed says whether what follows rests on the step: what was only looked for in vain is missed by nobody further on.
func (st Step) Needed() bool { return st.Run == nil || !Reads(st.Run.Text) }

// A Page is one file of docs/operations, or a section of another.
type Page struct {
	Name string
	// Stage that runs it: "lab" or "cluster".
	Stage string
	Text  string
	Steps []Step
	// Other are the blocks that nobody runs: those that say why, and those whose commands do.
	Other []Block
}

var (
	// stageComment and actComment are invisible to readers.
	stageComment = regexp.MustCompile(`^<!-- tried on: ([a-z]+) -->$`)
	actComment   = regexp.MustCompile(`^<!-- act(?: on ([a-z]+))?: ([A-Za-z0-9 '-]+) -->$`)
	heading      = regexp.MustCompile(`^#+ (.+)$`)
	attribute    = regexp.MustCompile(`^\s*([a-z]+)="([^"]+)"`)
)

// Read parses all pages of a folder, by name.
func Read(dir string) (map[string]Page, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.md"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("cannot find pages in %q: %w", dir, errors.Join(err, os.ErrNotExist))
	}
	out := map[string]Page{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return nil, fmt.Errorf("cannot read a page: %w", err)
		}
		p, err := Parse(filepath.Base(f), string(b))
		if err != nil {
			return nil, err
		}
		out[p.Name] = p
	}
	return out, nil
}

// ReadSection parses one section of a file, down to the next heading of its level: the rest of the file is about something else. Lines
// keep their numbers.
func ReadSection(file, heading string) (Page, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return Page{}, fmt.Errorf("cannot read a page: %w", err)
	}
	level, _, _ := strings.Cut(heading, " ")
	lines, inside, found := strings.Split(string(b), "\n"), false, false
	for i, line := range lines {
		if strings.HasPrefix(line, level+" ") {
			inside = line == heading
			found = found || inside
		}
		if !inside {
			lines[i] = ""
		}
	}
	if !found {
		return Page{}, fmt.Errorf("%s has no heading %q", file, heading)
	}
	return Parse(filepath.Base(file), strings.Join(lines, "\n"))
}

// Parse reads one page. Its error names the line.
func Parse(name, text string) (Page, error) {
	p := reader{page: Page{Name: name, Text: text}}
	for i, line := range strings.Split(text, "\n") {
		if err := p.line(i+1, line); err != nil {
			return Page{}, fmt.Errorf("%s:%d: %w", name, i+1, err)
		}
	}
	if p.open != nil {
		return Page{}, fmt.Errorf("%s: the block isn't closed", p.open)
	}
	return p.page, nil
}

// A reader is between two lines of a page.
type reader struct {
	page    Page
	section string
	// open is the block whose end wasn't seen yet, lines what it has so far.
	open  *Block
	lines []string
	// last is the step that a block of output would belong to, and skipped says that its commands aren't run.
	last    *Step
	skipped bool
}

func (p *reader) line(n int, line string) error {
	if p.open != nil {
		if strings.TrimRight(line, " ") == "```" {
			p.open.Text = strings.Join(p.lines, "\n") + "\n"
			b := *p.open
			p.open, p.lines = nil, nil
			return p.block(b)
		}
		p.lines = append(p.lines, line)
		return nil
	}
	if info, ok := strings.CutPrefix(line, "```"); ok {
		return p.fence(n, info)
	}
	if strings.Contains(line, "```") {
		return errors.New("a fence starts its line")
	}
	if m := heading.FindStringSubmatch(line); m != nil {
		p.section, p.last, p.skipped = m[1], nil, false
	}
	if !strings.HasPrefix(line, "<!--") {
		return nil
	}
	return p.comment(n, line)
}

func (p *reader) comment(n int, line string) error {
	if untypedComment.MatchString(line) {
		return nil
	}
	if m := stageComment.FindStringSubmatch(line); m != nil {
		p.page.Stage = m[1]
		return nil
	}
	m := actComment.FindStringSubmatch(line)
	if m == nil {
		return fmt.Errorf("%q is neither an act nor a stage, nor a reason why something isn't typed", line)
	}
	p.page.Steps = append(p.page.Steps, Step{Act: m[2], On: m[1], Line: n})
	p.last, p.skipped = nil, false
	return nil
}

func (p *reader) fence(n int, info string) error {
	lang, rest, _ := strings.Cut(info, " ")
	b := &Block{Page: p.page.Name, Section: p.section, Line: n, Lang: lang, Attrs: map[string]string{}}
	for rest != "" {
		m := attribute.FindStringSubmatch(rest)
		if len(m) == 0 || !slices.Contains([]string{noRun, on, fails, as}, m[1]) {
			return fmt.Errorf("%q isn't %s, %s, %s or %s with a value in quotes", rest, noRun, on, fails, as)
		}
		b.Attrs[m[1]], rest = m[2], rest[len(m[0]):]
	}
	p.open = b
	return nil
}

// block takes one that is whole.
func (p *reader) block(b Block) error {
	seen := b.Lang == output || b.Lang == session
	switch {
	case b.NoRun() != "":
		p.page.Other = append(p.page.Other, b)
		p.last, p.skipped = nil, b.Lang == shell
	case seen && p.last != nil && p.last.Want == nil:
		p.last.Want = &b
	case seen && p.skipped:
		p.page.Other = append(p.page.Other, b)
	case seen:
		return fmt.Errorf("this output follows no commands; say why by %s", noRun)
	case b.Lang == shell:
		p.page.Steps = append(p.page.Steps, Step{Run: &b, On: b.Attrs[on], Line: b.Line})
		p.last, p.skipped = &p.page.Steps[len(p.page.Steps)-1], false
	default:
		return fmt.Errorf("nobody runs a block of %q; say why by %s", b.Lang, noRun)
	}
	return nil
}

// For are the steps that a stage takes: all of its own pages but those that another one takes, and of other pages' what names it.
func (p Page) For(stage string) []Step {
	var out []Step
	for _, s := range p.Steps {
		if p.Where(s) == stage {
			out = append(out, s)
		}
	}
	return out
}

// Where is the stage that takes a step.
func (p Page) Where(s Step) string {
	if s.On != "" {
		return s.On
	}
	return p.Stage
}
