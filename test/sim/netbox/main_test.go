package netbox_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// TestMain holds, where all tests ran, that they applied every address of examples/netbox as it stands there, until it was Ready. What a test
// names without applying it doesn't count.
func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 && whole() {
		if err := unapplied(filepath.Join("..", "..", "..", "examples", "netbox")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// whole says that no test was left out.
func whole() bool {
	for _, name := range []string{"run", "skip", "list", "fuzz"} {
		if f := flag.Lookup("test." + name); f != nil && f.Value.String() != "" {
			return false
		}
	}
	return flag.Lookup("test.count").Value.String() != "0"
}

// readied are wishes of which an address came to be Ready in a lab of this run.
var readied sync.Map

// served notes what a resource that is Ready was made with.
func (l *lab) served(mg *v1alpha1.NetBoxIPAddress) {
	if mg != nil && ready(mg) {
		readied.Store(l.wishes[mg.GetName()], true)
	}
}

// wished is what a resource asks for, as text.
func wished(mg *v1alpha1.NetBoxIPAddress) string {
	p := mg.Spec.ForProvider.DeepCopy()
	p.Status = cmp.Or(p.Status, "active") // As the API server fills it in.
	b, err := json.Marshal(p)
	if err != nil {
		panic(err) // It came from JSON.
	}
	return string(b)
}

// unapplied names the addresses of a folder's files that came to be Ready nowhere, and the files that have none.
func unapplied(folder string) error {
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no examples in %s: %w", folder, err)
	}
	var errs []error
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		some := false
		for doc := range bytes.SplitSeq(b, []byte("\n---\n")) {
			mg := &v1alpha1.NetBoxIPAddress{}
			if err := yaml.Unmarshal(doc, mg); err != nil || mg.Kind != v1alpha1.NetBoxIPAddressKind {
				continue // The schemas' tests judge what it is.
			}
			some = true
			if _, ok := readied.Load(wished(mg)); !ok {
				errs = append(errs, fmt.Errorf("no test applied %s of %s as it stands there until it was Ready: add the file to TestExamplesOfConfigs, or to the test of what it shows", mg.Name, file))
			}
		}
		if !some {
			errs = append(errs, fmt.Errorf("%s has no NetBoxIPAddress: nothing shows that it works", file))
		}
	}
	return errors.Join(errs...)
}

// TestUnapplied: a file that somebody adds is missed until it's applied as it stands there, whatever else names it.
func TestUnapplied(t *testing.T) {
	const like = `kind: NetBoxIPAddress
metadata: {name: %s}
spec: {forProvider: {address: %s}}
`
	served := &v1alpha1.NetBoxIPAddress{}
	served.Spec.ForProvider.Address = "192.0.2.1/24"
	readied.Store(wished(served), true)
	cases := map[string]struct {
		reason, file string
		ok           bool
	}{
		"Applied": {"it was Ready", fmt.Sprintf(like, "one", "192.0.2.1/24"), true},
		"Other":   {"another wish was", fmt.Sprintf(like, "two", "192.0.2.2/24"), false},
		"Second":  {"each of a file is to be", fmt.Sprintf(like, "one", "192.0.2.1/24") + "---\n" + fmt.Sprintf(like, "two", "192.0.2.2/24"), false},
		"None":    {"nothing of it can be Ready", "kind: Secret\n", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "new.yaml"), []byte(tc.file), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := unapplied(dir); (err == nil) != tc.ok {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
}
