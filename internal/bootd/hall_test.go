package bootd

import (
	"os"
	"path/filepath"
	"testing"
)

func TestCrowded(t *testing.T) {
	cases := map[string]struct {
		reason string
		files  map[string]int64 // Sizes.
		want   bool
	}{
		"Nothing":  {"A bootd that starts for the first time stays small.", nil, false},
		"Few":      {"A rack's specs and its snapshot are little.", map[string]int64{"specs/rack.yaml": 50_000, "state/snapshot": 9_000}, false},
		"Snapshot": {"Ten thousand machines of an earlier life.", map[string]int64{"state/snapshot": 1_381_168}, true},
		"Earlier":  {"Of an earlier program's, too.", map[string]int64{"state/snapshot.json": 9_000_000}, true},
		"Specs":    {"Thousands in one file.", map[string]int64{"specs/hall.yaml": 2_000_000}, true},
		"Files":    {"Or in many.", map[string]int64{"specs/a.yaml": 700_000, "specs/b.yaml": 700_000}, true},
		"Kernels":  {"What else lies in the state's folder says nothing.", map[string]int64{"state/artifacts/vmlinuz": 80_000_000, "specs/old/hall.yaml": 2_000_000}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			at := t.TempDir()
			for f, size := range tc.files {
				path := filepath.Join(at, f)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, nil, 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.Truncate(path, size); err != nil {
					t.Fatal(err)
				}
			}
			c := Config{StateDir: filepath.Join(at, "state"), SpecDir: filepath.Join(at, "specs")}
			if got := c.Crowded(); got != tc.want {
				t.Errorf("\n%s\nCrowded() = %v", tc.reason, got)
			}
		})
	}
}
