package docs

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A Shell runs what a page says, in one folder and with one environment, as a person's terminal would.
type Shell struct {
	// Dir is where commands are run, and Env what they are given.
	Dir string
	Env []string
	// As has the kubeconfig of each person who types blocks that say so.
	As map[string]string
	// Table replaces what a page makes up, in pairs: its word, and what there is here.
	Table []string
	// Transcript, if set, is given what was typed and what was printed.
	Transcript io.Writer
	// Patience is how long something read may take to become what the page says, Limit how long any block may run.
	Patience, Limit time.Duration
}

// Fill replaces what a page makes up.
func (s Shell) Fill(text string) string { return strings.NewReplacer(s.Table...).Replace(text) }

// Do takes a step: it types a block, or lets happen what the page says happens. what is the step in a few words.
func (s Shell) Do(ctx context.Context, st Step, acts map[string]func(context.Context) error) (what string, err error) {
	if st.Run != nil {
		what, _, _ = strings.Cut(st.Run.Text, "\n")
		return what, s.Try(ctx, st)
	}
	act := acts[st.Act]
	if act == nil {
		return st.Act, fmt.Errorf("nobody knows how to do %q", st.Act)
	}
	return st.Act, act(ctx)
}

// Try runs a step's commands. Its error says what failed, or what a person would have looked for in vain. What only reads is
// repeated until it's seen, as a person would.
func (s Shell) Try(ctx context.Context, st Step) error {
	script := s.Fill(st.Run.Text)
	if who := st.Run.As(); who != "" {
		if s.As[who] == "" {
			return fmt.Errorf("%s: nobody here is %q", st.Run, who)
		}
		s.Env = append(slices.Clone(s.Env), "KUBECONFIG="+s.As[who]) // The last one counts.
	}
	deadline := time.Now().Add(s.Patience)
	for {
		out, err := s.run(ctx, script)
		s.note(script, out, err)
		err = s.judge(st, out, err)
		if err == nil {
			return nil
		}
		if !Reads(script) || time.Now().After(deadline) || ctx.Err() != nil {
			return fmt.Errorf("%s (%s):\n%s%w\nit printed:\n%s", st.Run, st.Run.Section, script, err, out)
		}
		time.Sleep(300 * time.Millisecond)
	}
}

func (s Shell) note(script, out string, err error) {
	if s.Transcript == nil {
		return
	}
	if err != nil {
		out += err.Error() + "\n"
	}
	_, _ = fmt.Fprintf(s.Transcript, "%s $ %s%s\n", time.Now().Format(time.TimeOnly), script, out) // Who reads it sees what is missing.
}

func (s Shell) judge(st Step, out string, err error) error {
	switch {
	case err == nil && st.Run.Fails() != "":
		return fmt.Errorf("it succeeds, and %s", st.Run.Fails())
	case err != nil && st.Run.Fails() == "":
		return err
	case st.Want == nil:
		return nil
	}
	return Missing(s.Fill(st.Want.Text), out)
}

func (s Shell) run(ctx context.Context, script string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.Limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", script) //nolint:gosec // That is what the pages are for.
	cmd.Dir, cmd.Env = s.Dir, s.Env
	cmd.WaitDelay = 5 * time.Second // What it left in the background doesn't hold us.
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		err = fmt.Errorf("it didn't end within %s", s.Limit)
	}
	return string(out), err
}

var (
	// reading commands change nothing, so that they can be repeated.
	reading = regexp.MustCompile(`^(kubectl( -n [a-z0-9-]+)? (get|describe|events|logs|explain|auth)|crossplane beta trace|helm (list|status)|curl) `)
	// writing is what makes even such a line one that is run once.
	writing = regexp.MustCompile(`[^|]\||>|;|&&|\$\(`)
)

// Reads says whether all commands of a block only read.
func Reads(script string) bool {
	script = strings.ReplaceAll(script, "\\\n", " ")
	for line := range strings.SplitSeq(strings.TrimSpace(script), "\n") {
		if c, _, _ := strings.Cut(line, " #"); !reading.MatchString(c) || writing.MatchString(unquoted(c)) {
			return false
		}
	}
	return true
}

// unquoted is a line without what stands in quotes, and without filters of its output, which change nothing either.
func unquoted(line string) string {
	line = regexp.MustCompile(`'[^']*'|"[^"]*"`).ReplaceAllString(line, "''")
	return regexp.MustCompile(`\| (grep|sort|head|tail|jq)( [^|;>&]+)?`).ReplaceAllString(line, "")
}
