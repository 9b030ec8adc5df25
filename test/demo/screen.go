package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// A screen shows stories: as lines that change in place on a terminal, else as one line a milestone.
type screen struct {
	out io.Writer
	// width of the terminal; 0 where out isn't one.
	width int
	// drawn is how many lines are to be drawn over.
	drawn int
}

func newScreen(out *os.File) *screen {
	s := &screen{out: out}
	if fd := int(out.Fd()); term.IsTerminal(fd) {
		s.width = 80
		if w, _, err := term.GetSize(fd); err == nil && w > 0 {
			s.width = w
		}
	}
	return s
}

// sayf prints a line that stays.
func (s *screen) sayf(format string, args ...any) {
	s.drawn = 0
	fmt.Fprintf(s.out, format+"\n", args...)
}

// show draws all stories where out is a terminal, and prints what is new of one elsewhere.
func (s *screen) show(all []*story, one *story, fresh []milestone) {
	if s.width == 0 {
		for _, m := range fresh {
			fmt.Fprintln(s.out, one.plain(m))
		}
		return
	}
	var b strings.Builder
	if s.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", s.drawn)
	}
	for _, st := range all {
		b.WriteString(st.live(s.width) + "\x1b[K\n")
	}
	s.drawn = len(all)
	fmt.Fprint(s.out, b.String())
}
