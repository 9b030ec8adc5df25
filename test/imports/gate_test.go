package imports

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// door are the folders that may use a grant: the gate, and the session that it asks.
var door = []string{"internal/bootd/gate", "internal/bootd/session", "internal/boot"}

// TestOneGate: nobody but the gate opens, uses or delivers on a grant. A second way to a machine's disk would have to be right about
// all that the first one is right about.
func TestOneGate(t *testing.T) {
	seen := 0
	for _, root := range []string{"internal", "cmd"} {
		err := filepath.WalkDir(filepath.Join("..", "..", root), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			folder, err := filepath.Rel("../..", filepath.Dir(path))
			if err != nil {
				return err
			}
			for _, call := range uses(t, path) {
				seen++
				if !below(filepath.ToSlash(folder), door) {
					t.Errorf("%s uses a grant past the gate (internal/bootd/gate): %s", path, call)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen == 0 {
		t.Error("not even the gate uses a grant: this test looks for the wrong words")
	}
}

// uses are the calls in a file that open or use a grant. Open has a name that others have, too: it's known by its four arguments.
func uses(t *testing.T, path string) (calls []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		s, ok := c.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		switch s.Sel.Name {
		case "Consume", "OpenAndConsume":
			calls = append(calls, s.Sel.Name)
		case "Open":
			if len(c.Args) == 4 {
				calls = append(calls, s.Sel.Name)
			}
		case "Deliver":
			// httpboot's is the gate's own, with two.
			if len(c.Args) == 3 {
				calls = append(calls, s.Sel.Name)
			}
		}
		return true
	})
	return calls
}
