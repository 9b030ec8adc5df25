package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestServe asks for the service root of what is served without TLS.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "redfish", "v1"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "redfish", "v1", "index.json"), []byte(`{"Name":"Made"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		args   []string
		root   string // part of it
	}{
		"Model": {reason: "One of ours.", args: []string{"-model", "ES-2000"}, root: "Emulated Systems"},
		"Tree":  {reason: "A captured one.", args: []string{"-tree", dir}, root: "Made"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			r, w := io.Pipe()
			ended := make(chan error, 1)
			go func() { ended <- run(ctx, append(tc.args, "-http"), w) }()
			line, err := bufio.NewReader(r).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			url, _, _ := strings.Cut(line, " ")
			answer, err := http.Get(url + "/redfish/v1/")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = answer.Body.Close() }()
			if body, _ := io.ReadAll(answer.Body); !strings.Contains(string(body), tc.root) {
				t.Errorf("\n%s\nservice root: got %s, want %q in it", tc.reason, body, tc.root)
			}
			stop()
			if err := <-ended; err != nil {
				t.Errorf("run(...): %v", err)
			}
		})
	}
}

func TestBadInput(t *testing.T) {
	for name, args := range map[string][]string{
		"Model": {"-model", "ES-9"}, "Tree": {"-tree", t.TempDir()}, "Address": {"-addr", "nowhere", "-http"}, "AddressTLS": {"-addr", "nowhere"}, "Flag": {"-what"},
	} {
		if err := run(t.Context(), args, io.Discard); err == nil {
			t.Errorf("%s: run(%v): want an error", name, args)
		}
	}
}
