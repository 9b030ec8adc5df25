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
	"time"
)

func main() {
	failed := flag.String("failed", "", "write the tests that failed, as lines of package and test, to this file")
	flag.Parse()
	name := "tests"
	if flag.NArg() > 0 {
		name = flag.Arg(0)
	}
	v := newVerdict()
	err := run(os.Stdin, os.Stdout, v, name, os.Getenv("CI") == "true", time.Tick(patience))
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

// patience is how long nothing may be shown before a line says that the tests go on: a first build is silent for minutes.
const patience = 20 * time.Second

// run copies the stream's plain form while it comes, and returns an error when anything failed. At a tick since whose forerunner
// nothing was shown it says that the tests go on.
func run(in io.Reader, out io.Writer, v *verdict, name string, ci bool, tick <-chan time.Time) error {
	start, shown := time.Now(), false
	lines, done := make(chan []byte), make(chan error, 1)
	go func() { done <- split(in, lines) }()
	for lines != nil {
		var said string
		select {
		case line, more := <-lines:
			if !more {
				lines = nil
				continue
			}
			said = v.take(line)
			shown = shown || said != ""
		case <-tick:
			if !shown {
				said = fmt.Sprintf("%s: still going after %s, %d packages done\n", name, time.Since(start).Round(time.Second), v.packages)
			}
			shown = false
		}
		if _, err := io.WriteString(out, said); err != nil {
			return fmt.Errorf("cannot write: %w", err)
		}
	}
	if err := <-done; err != nil {
		return fmt.Errorf("cannot read what go test says: %w", err)
	}
	fmt.Fprintln(out, v.faultTable()+v.summary(name))
	return v.failure(ci)
}

// split sends each line of in, and closes lines at its end.
func split(in io.Reader, lines chan<- []byte) error {
	defer close(lines)
	r := bufio.NewReader(in)
	for {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 {
			lines <- line
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
