package machine

import (
	"errors"
	"fmt"
	"strings"
)

// This file reads iPXE scripts: the part of the language (https://ipxe.org/scripting) that network boots use.

// command is one command of a line and what joined it to the one before.
type command struct {
	join string   // "" for the first of a line, else "||", "&&" or ";"
	args []string // unexpanded; none: it does nothing, and succeeds
}

// script is a parsed iPXE script: its lines in order, and where its labels are.
type script struct {
	lines  [][]command
	labels map[string]int
}

const ipxeMagic = "#!ipxe"

// parseScript reads a script, or says on which line it can't.
func parseScript(text string) (script, error) {
	if !strings.HasPrefix(text, ipxeMagic) {
		return script{}, errors.New("this is no iPXE script: it doesn't start with #!ipxe")
	}
	s := script{labels: map[string]int{}}
	for i, line := range strings.Split(strings.ReplaceAll(text, "\\\n", " "), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if line[0] == ':' {
			s.labels[strings.TrimSpace(line[1:])] = len(s.lines)
			continue
		}
		commands, err := group(split(line))
		if err != nil {
			return script{}, fmt.Errorf("line %d: %w", i+1, err)
		}
		if len(commands) > 0 {
			s.lines = append(s.lines, commands)
		}
	}
	return s, nil
}

// runs tells whether a command is executed, given how the one before it ended.
func (c command) runs(failed bool) bool {
	switch c.join {
	case "||":
		return failed
	case "&&":
		return !failed
	}
	return true
}

func joins(word string) bool { return word == "||" || word == "&&" || word == ";" }

// group cuts the words of a line at ||, && and ;.
func group(words []string) ([]command, error) {
	var out []command
	join, start := "", 0
	for i := 0; i <= len(words); i++ {
		if i < len(words) && !joins(words[i]) {
			continue
		}
		switch {
		case i > start:
			out = append(out, command{join: join, args: words[start:i]})
		case i < len(words) && len(out) == 0:
			return nil, fmt.Errorf("nothing stands before %q", words[i])
		}
		if i < len(words) {
			join, start = words[i], i+1
		}
	}
	if join != "" && start == len(words) {
		out = append(out, command{join: join}) // As in iPXE nothing may stand after a last ||: then a failure is forgotten.
	}
	return out, nil
}

// split cuts a line into words as iPXE does: at white space alone, since it has no quotation, up to a word that begins a
// comment.
func split(line string) []string {
	words := strings.Fields(line)
	for i, w := range words {
		if w[0] == '#' {
			return words[:i]
		}
	}
	return words
}

// expand replaces ${name} and ${name:format} by values, from the innermost outwards; unknown names become nothing.
func expand(word string, value func(name, format string) string) string {
	for {
		start := strings.LastIndex(word, "${")
		if start < 0 {
			return word
		}
		length := strings.IndexByte(word[start:], '}')
		if length < 0 {
			return word
		}
		name, format, _ := strings.Cut(word[start+2:start+length], ":")
		word = word[:start] + strings.ReplaceAll(value(name, format), "${", "$ {") + word[start+length+1:]
	}
}

// options separates a command's flags from its arguments. Flags that take a value swallow it, as --name x or --name=x.
func options(args []string, valued ...string) (flags map[string]string, rest []string) {
	flags = map[string]string{}
	for i := 0; i < len(args); i++ {
		a := args[i]
		if len(a) < 2 || a[0] != '-' {
			return flags, args[i:]
		}
		name, value, given := strings.Cut(strings.TrimLeft(a, "-"), "=")
		for _, v := range valued {
			if v == name && !given && i+1 < len(args) {
				i++
				value = args[i]
			}
		}
		flags[name] = value
	}
	return flags, nil
}
