// Command verdict shows what "go test -json" says on standard input as plain "go test" would, with one line for each test that
// this machine skipped, and decides: under CI=true a skipped test is a failure.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
)

func main() {
	name := "tests"
	if len(os.Args) > 1 {
		name = os.Args[1]
	}
	if err := run(os.Stdin, os.Stdout, name, os.Getenv("CI") == "true"); err != nil {
		fmt.Fprintln(os.Stderr, "verdict:", err)
		os.Exit(1)
	}
}

// run copies the stream's plain form while it comes, and returns an error when anything failed.
func run(in io.Reader, out io.Writer, name string, ci bool) error {
	v := newVerdict()
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
