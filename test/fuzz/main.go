// Command fuzz runs each fuzz target of this module for some time, one after another, and says how many executions that came to. A target
// that fails is said with what go says of it, and the others are run all the same.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	each := flag.Duration("time", 10*time.Second, "how long each target is run")
	only := flag.String("run", "", "run those targets alone whose package and name match this expression")
	root := flag.String("root", ".", "folder of the module")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, os.Stdout, *root, *only, *each)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		os.Exit(1)
	}
}

// run runs the targets below a folder.
func run(ctx context.Context, out io.Writer, root, only string, each time.Duration) error {
	chosen, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-run %q: %w", only, err)
	}
	all, err := targets(root)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(t target) bool { return !chosen.MatchString(t.String()) })
	if len(all) == 0 {
		return fmt.Errorf("no fuzz target matches %q", only)
	}
	total, broken := 0, []string{}
	for _, t := range all {
		n, text, err := t.fuzz(ctx, root, each)
		if ctx.Err() != nil {
			break
		}
		total += n
		_, _ = fmt.Fprintf(out, "%-60s %12d executions\n", t, n) // Who reads may have gone.
		if err != nil {
			broken = append(broken, t.String())
			_, _ = fmt.Fprintf(out, "%s: %v\n%s", t, err, text)
		}
	}
	_, _ = fmt.Fprintf(out, "figure fuzz_execs %d executions\n", total)
	if len(broken) > 0 {
		return fmt.Errorf("%d of %d targets failed: %s", len(broken), len(all), strings.Join(broken, ", "))
	}
	return ctx.Err()
}

// fuzz runs a target, and says how often it was executed.
func (t target) fuzz(ctx context.Context, root string, each time.Duration) (execs int, text string, err error) {
	args := []string{"test", "-vet=off", "-run", "^$", "-fuzz", "^" + t.name + "$", "-fuzztime", each.String(), "./" + t.folder}
	cmd := exec.CommandContext(ctx, goProgram(), args...) //nolint:gosec // The names are those of this module's own functions.
	cmd.Dir = root
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) } // It ends its workers.
	cmd.WaitDelay = time.Minute
	b, err := cmd.CombinedOutput()
	return executions(string(b)), string(b), err
}

// goProgram is the one that this was called with, where make was given another.
func goProgram() string {
	if g := os.Getenv("GO"); g != "" {
		return g
	}
	return "go"
}

// counted is how go says the number so far: fuzz: elapsed: 3s, execs: 8435 (2811/sec), new interesting: 0 (total: 13).
var counted = regexp.MustCompile(`^fuzz: elapsed: .*\bexecs: (\d+) `)

// executions is the last number that go said.
func executions(text string) (n int) {
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		m := counted.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		if x, err := strconv.Atoi(m[1]); err == nil {
			n = max(n, x)
		}
	}
	return n
}
