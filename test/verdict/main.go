// Command verdict shows what "go test -json" says on standard input as plain "go test" would, with one line for each test that
// this machine skipped, and decides: under CI=true a skipped test is a failure.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	failed := flag.String("failed", "", "write the tests that failed, as lines of package and test, to this file")
	flag.Parse()
	name := "tests"
	if flag.NArg() > 0 {
		name = flag.Arg(0)
	}
	v := newVerdict()
	err := run(os.Stdin, os.Stdout, v, name, os.Getenv("CI") == "true")
	if *failed != "" {
		if werr := os.WriteFile(*failed, []byte(strings.Join(v.broken, "")), 0o600); werr != nil {
			fmt.Fprintln(os.Stderr, "verdict:", werr)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "verdict:", err)
		os.Exit(1)
	}
}

// run copies the stream's plain form while it comes, and returns an error when anything failed.
func run(in io.Reader, out io.Writer, v *verdict, name string, ci bool) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			if _, err := io.WriteString(out, v.take(line)); err != nil {
				return fmt.Errorf("cannot write: %w", err)
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("cannot read what go test says: %w", err)
		}
	}
	fmt.Fprintln(out, v.summary(name))
	return v.failure(ci)
}
