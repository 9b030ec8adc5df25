package main

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestRun(t *testing.T) {
	const (
		ok       = `{"Action":"output","Package":"p","Output":"PASS\n"}` + "\n" + `{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}` + "\n" + `{"Action":"pass","Package":"p"}` + "\n"
		passed   = `{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}` + "\n" + `{"Action":"pass","Package":"p","Test":"TestA"}` + "\n"
		failed   = `{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:1: boom\n"}` + "\n" + `{"Action":"fail","Package":"p","Test":"TestB"}` + "\n"
		fail     = `{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}` + "\n" + `{"Action":"fail","Package":"p"}` + "\n"
		noRoot   = `{"Action":"output","Package":"p","Test":"TestC","Output":"    c_test.go:12: skipped: needs root\n"}` + "\n" + `{"Action":"output","Package":"p","Test":"TestC","Output":"--- SKIP: TestC (0.00s)\n"}` + "\n" + `{"Action":"skip","Package":"p","Test":"TestC"}` + "\n"
		noShared = `{"Action":"output","Package":"p","Test":"TestD","Output":"    d_test.go:1: ../shared/testdata is missing\n"}` + "\n" + `{"Action":"skip","Package":"p","Test":"TestD"}` + "\n"
		slowTest = `{"Action":"pass","Package":"p","Test":"TestE","Elapsed":12.34}` + "\n"
		table    = `{"Action":"output","Package":"p","Test":"TestF","Output":"    f_test.go:1: 7 of 7\n"}` + "\n" + `{"Action":"output","Package":"p","Test":"TestF","Output":"        | fault | met |\n"}` + "\n" + `{"Action":"pass","Package":"p","Test":"TestF"}` + "\n"
		figures  = `{"Action":"output","Package":"p","Test":"TestM","Output":"    m_test.go:12: figure some_requests 7 requests beyond polling\n"}` + "\n" + `{"Action":"output","Package":"p","Test":"TestM","Output":"    m_test.go:13: a figure of speech\n"}` + "\n" + `{"Action":"pass","Package":"p","Test":"TestM"}` + "\n"
		faults   = `{"Action":"output","Package":"p","Test":"TestG","Output":"        | soak: 429     |   12 |    9 |\n"}` + "\n" + `{"Action":"output","Package":"p","Test":"TestG","Output":"        | client: HTML | 2 | 2 |\n"}` + "\n" + `{"Action":"pass","Package":"p","Test":"TestG"}` + "\n"
		broken   = `{"ImportPath":"p","Action":"build-output","Output":"p/a.go:1: syntax error\n"}` + "\n" + `{"ImportPath":"p","Action":"build-fail"}` + "\n"
	)
	cases := map[string]struct {
		reason, in string
		ci         bool
		want       string
		err        error
	}{
		"Pass": {
			reason: "A package that passes is one line.", in: passed + ok,
			want: "ok  \tp\t0.1s\nx: 1 passed, 0 failed, 0 skipped in 1 packages\n",
		},
		"Slow": {
			reason: "Who waits for a long test sees it pass.", in: slowTest + ok,
			want: "--- PASS: TestE (12.3s)\nok  \tp\t0.1s\nx: 1 passed, 0 failed, 0 skipped in 1 packages\n",
		},
		"Table": {
			reason: "A table is for whoever runs the test.", in: table + ok,
			want: "| fault | met |\nok  \tp\t0.1s\nx: 1 passed, 0 failed, 0 skipped in 1 packages\n",
		},
		"Figure": {
			reason: "So is what it measured.", in: figures + ok,
			want: "figure some_requests 7 requests beyond polling\nok  \tp\t0.1s\nx: 1 passed, 0 failed, 0 skipped in 1 packages\n",
		},
		"Faults": {
			reason: "What went wrong in all tests is one table, at the end.", in: faults + ok,
			want: "ok  \tp\t0.1s\n" +
				"| fault        | injected |      met |\n| ------------ | -------: | -------: |\n" +
				"| client: HTML |        2 |        2 |\n| soak: 429    |       12 |        9 |\n| 2 faults     |       14 |       11 |\n" +
				"x: 1 passed, 0 failed, 0 skipped in 1 packages\n",
		},
		"SameFault": {
			reason: "One fault in two tests is one row.", in: faults + faults + ok,
			want: "ok  \tp\t0.1s\n" +
				"| fault        | injected |      met |\n| ------------ | -------: | -------: |\n" +
				"| client: HTML |        4 |        4 |\n| soak: 429    |       24 |       18 |\n| 2 faults     |       28 |       22 |\n" +
				"x: 2 passed, 0 failed, 0 skipped in 1 packages\n",
		},
		"Fail": {
			reason: "Only a test that fails shows its output.", in: passed + failed + fail,
			want: "    b_test.go:1: boom\nFAIL\tp\t0.1s\nx: 1 passed, 1 failed, 0 skipped in 1 packages\n", err: errFailed,
		},
		"Skip": {
			reason: "What a machine can't run is named and counted.", in: noRoot + ok,
			want: "--- SKIP: TestC: needs root\nok  \tp\t0.1s\nx: 0 passed, 0 failed, 1 skipped in 1 packages\n",
		},
		"SkipInCI": {
			reason: "In CI every machine can run everything.", in: noRoot + ok, ci: true,
			want: "--- SKIP: TestC: needs root\nok  \tp\t0.1s\nx: 0 passed, 0 failed, 1 skipped in 1 packages\n", err: errSkipped,
		},
		"Elsewhere": {
			reason: "Recordings that aren't in the repository may be missing in CI too.", in: noShared + ok, ci: true,
			want: "--- SKIP: TestD: ../shared/testdata is missing\nok  \tp\t0.1s\nx: 0 passed, 0 failed, 1 skipped in 1 packages\n",
		},
		"Broken": {
			reason: "What doesn't compile fails with the compiler's words.", in: broken + fail,
			want: "p/a.go:1: syntax error\nFAIL\tp\t0.1s\nx: 0 passed, 1 failed, 0 skipped in 1 packages\n", err: errFailed,
		},
		"Nothing": {
			reason: "No test at all isn't a success, and what go says is shown.", in: "go: cannot find main module",
			want: "go: cannot find main modulex: 0 passed, 0 failed, 0 skipped in 0 packages\n", err: errFailed,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			err := run(strings.NewReader(tc.in), &out, newVerdict(), "x", tc.ci, nil)
			if diff := cmp.Diff(tc.err, err, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("%s\nrun: -want error, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, out.String()); diff != "" {
				t.Errorf("%s\nrun: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestStillGoing(t *testing.T) {
	r, w := io.Pipe()
	tick, done := make(chan time.Time), make(chan error)
	var out strings.Builder
	go func() { done <- run(r, &out, newVerdict(), "x", false, tick) }()
	tick <- time.Time{} // Nothing came.
	for _, line := range []string{
		`{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}`, `{"Action":"pass","Package":"p"}`,
		`{"Action":"run","Package":"q"}`, // Taken: what came before it is shown.
	} {
		if _, err := w.Write([]byte(line + "\n")); err != nil {
			t.Fatal(err)
		}
	}
	tick <- time.Time{} // Something was shown.
	tick <- time.Time{} // Nothing more.
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	want := "x: still going after 0s, 0 packages done\nok  \tp\t0.1s\nx: still going after 0s, 1 packages done\nx: 0 passed, 0 failed, 0 skipped in 1 packages\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

func FuzzTake(f *testing.F) {
	f.Add([]byte(`{"Action":"skip","Test":"T"}`))
	f.Add([]byte("x\n"))
	f.Fuzz(func(t *testing.T, line []byte) {
		v := newVerdict()
		v.take(line)
		if err := v.failure(false); err != nil && !errors.Is(err, errFailed) && !errors.Is(err, errSecret) {
			t.Error(err)
		}
	})
}

func TestBroken(t *testing.T) {
	cases := map[string]struct {
		reason string
		events []string
		want   []string
	}{
		"Passed":  {"Nothing to try again.", []string{`{"Action":"pass","Package":"p","Test":"T"}`, `{"Action":"pass","Package":"p"}`}, nil},
		"Test":    {"A test is tried again by its name.", []string{`{"Action":"fail","Package":"p","Test":"T/Sub"}`, `{"Action":"fail","Package":"p","Test":"T"}`, `{"Action":"fail","Package":"p"}`}, []string{"p T\n"}},
		"Package": {"A package that fails by itself can't be.", []string{`{"Action":"fail","Package":"p"}`}, []string{"p .\n"}},
		"Both":    {"One package's test doesn't hide another package.", []string{`{"Action":"fail","Package":"p","Test":"T"}`, `{"Action":"fail","Package":"p"}`, `{"Action":"build-fail","ImportPath":"q"}`}, []string{"p T\n", "q .\n"}},
	}
	for name, tc := range cases {
		v := newVerdict()
		for _, e := range tc.events {
			v.take([]byte(e))
		}
		if diff := cmp.Diff(tc.want, v.broken); diff != "" {
			t.Errorf("%s: %s\n-want, +got:\n%s", name, tc.reason, diff)
		}
	}
}
