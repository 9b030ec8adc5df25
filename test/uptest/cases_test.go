package uptest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
)

const root = "../.."

// TestEveryExampleHasItsPlace holds it for the examples that there are: what isn't tested is configuration.
func TestEveryExampleHasItsPlace(t *testing.T) {
	files, err := Read(root)
	if err != nil {
		t.Fatal(err)
	}
	cases, err := files.Cases()
	if err != nil {
		t.Fatal(err)
	}
	tested := map[string]bool{}
	for _, c := range cases {
		for _, n := range c.Files {
			if tested[n] {
				t.Errorf("%s is tested twice", n)
			}
			tested[n] = true
		}
	}
	for _, n := range files.Names() {
		if files[n].tested() != tested[n] && Aside()[n] == "" && !strings.HasPrefix(n, besideFolder+"/") {
			t.Errorf("%s: has something to test %t, is tested %t", n, files[n].tested(), tested[n])
		}
	}
}

// TestPowerIsOnesOwn holds that no example shares a machine with one that switches it, whose order may be carried out when the other looks.
func TestPowerIsOnesOwn(t *testing.T) {
	files, err := Read(root)
	if err != nil {
		t.Fatal(err)
	}
	at, switched := map[string][]string{}, map[string]bool{}
	for n, o := range files {
		for _, u := range o {
			if u.GetKind() != "RedfishHost" {
				continue
			}
			bmc := text(u.Object, "spec", "forProvider", "address")
			at[bmc] = append(at[bmc], n)
			switched[bmc] = switched[bmc] || text(u.Object, "spec", "forProvider", "power") != ""
		}
	}
	for bmc, of := range at {
		if switched[bmc] && len(of) > 1 {
			t.Errorf("the BMC at %s is that of %v, of which one says power: give it a host of its own", bmc, of)
		}
	}
}

// TestNewExample holds what is said of a file that somebody adds.
func TestNewExample(t *testing.T) {
	const host = `{apiVersion: baremetal.m.crossplane.io/v1alpha1, kind: RedfishHost, metadata: {namespace: infra, name: new}, spec: {
		providerConfigRef: {kind: ClusterProviderConfig, name: bmc-rack-7}, forProvider: {address: 10.0.7.99}}}`
	cases := map[string]struct {
		reason, manifest string
		want             []string
	}{
		"Known":         {"What needs nothing but Setup is tested.", host, nil},
		"Configuration": {"What isn't tested has to be said why.", `{apiVersion: v1, kind: Secret, metadata: {namespace: infra, name: new}}`, []string{"kinds/new.yaml", "Setup or Aside"}},
		"UnknownObject": {
			"What it names must be there.", strings.ReplaceAll(host, "bmc-rack-7", "bmc-rack-70"),
			[]string{"kinds/new.yaml: RedfishHost new names ClusterProviderConfig bmc-rack-70", "beside()"},
		},
		"UnknownKey": {
			"A reference of a new kind has to be understood first.", strings.ReplaceAll(host, "address: 10.0.7.99", "address: 10.0.7.99, witnessRef: {name: x}"),
			[]string{"kinds/new.yaml: RedfishHost new names what witnessRef means"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			files, err := Read(root)
			if err != nil {
				t.Fatal(err)
			}
			files["kinds/new.yaml"] = decode(t, tc.manifest)
			_, err = files.Cases()
			if (err != nil) != (tc.want != nil) {
				t.Fatalf("%s\nwant an error %t, got %v", tc.reason, tc.want != nil, err)
			}
			for _, w := range tc.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%s\nthe error lacks %q: %v", tc.reason, w, err)
				}
			}
		})
	}
}

func TestReferences(t *testing.T) {
	o := decode(t, `
kind: BareMetalNode
metadata: {namespace: team-a, name: web}
spec:
  host: {ref: {namespace: infra, name: r1}}
  profileRef: {namespace: infra, name: p}
  userDataSecretRef: {name: s, key: userData}
  networks: [{networkRef: {namespace: infra, name: net}, addresses: [{ref: {name: a}}]}]
  providerConfigRef: {kind: ProviderConfig, name: mine}
`)
	want := []Reference{
		{"BootNetwork", "infra", "net"},
		{"BootProfile", "infra", "p"},
		{"NetBoxIPAddress", "team-a", "a"},
		{"ProviderConfig", "team-a", "mine"},
		{"RedfishHost", "infra", "r1"},
		{"Secret", "team-a", "s"},
	}
	if diff := cmp.Diff(want, references(o[0])); diff != "" {
		t.Errorf("references: -want, +got:\n%s", diff)
	}
}

func TestMachines(t *testing.T) {
	const pool = `
kind: RackPool
metadata: {namespace: infra, name: rack}
spec: {hosts: [{name: a-1, address: 10.0.7.2, macs: ["52:54:00:00:07:02"]}, {name: a-2, address: "https://10.0.7.1/", system: {serial: S2}}]}
`
	const claim = `
---
kind: BareMetalNode
metadata: {namespace: team-a, name: web}
spec: {installGeneration: 1, host: {ref: {name: a-2}}}
`
	cases := map[string]struct {
		reason, manifest string
		want             []string
		err              string
	}{
		"Pool":  {"A machine has what its host says, and the rest by its name.", pool, []string{"a-2 S2 10.0.7.1:443 false", "a-1 A1 10.0.7.2:443 false"}, ""},
		"Claim": {"One that is to be installed has firmware.", pool + claim, []string{"a-2 S2 10.0.7.1:443 true", "a-1 A1 10.0.7.2:443 false"}, ""},
		"Twice": {"The same host may stand in two files.", pool + "\n---" + pool, []string{"a-2 S2 10.0.7.1:443 false", "a-1 A1 10.0.7.2:443 false"}, ""},
		"Name":  {"Nobody resolves names.", strings.ReplaceAll(pool, "10.0.7.2", "bmc.example"), nil, `a-1: address "bmc.example" isn't an IP address`},
		"Clash": {"A BMC is one machine's.", strings.ReplaceAll(pool, "10.0.7.2", "10.0.7.1"), nil, "the BMC of a-2 has the address of a-1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			machines, err := decode(t, tc.manifest).Machines()
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("%s\nwant %q, got %v", tc.reason, tc.err, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range machines {
				boots := " false"
				if m.Boots {
					boots = " true"
				}
				got = append(got, m.Name+" "+m.Serial+" "+m.BMC.String()+boots)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestPut(t *testing.T) {
	values := Values{
		"https://images.example/k": {Text: "http://192.0.2.1/k", Digest: "sha256:1"},
		"https://netbox.example/":  {Text: "http://192.0.2.1:1/"},
	}
	cases := map[string]struct {
		reason, manifest, want, err string
	}{
		"File":   {"A file has its digest.", `{spec: {kernel: {url: "https://images.example/k", digest: "sha512:0"}}}`, `{spec: {kernel: {url: "http://192.0.2.1/k", digest: "sha256:1"}}}`, ""},
		"URL":    {"What has no digest gets none.", `{spec: {url: "https://netbox.example/"}}`, `{spec: {url: "http://192.0.2.1:1/"}}`, ""},
		"Secret": {"BMCs take one account.", `{kind: Secret, stringData: {username: x, password: y}}`, `{kind: Secret, stringData: {username: me, password: mine}}`, ""},
		"Token":  {"Another Secret is as it is.", `{kind: Secret, stringData: {token: y}}`, `{kind: Secret, stringData: {token: y}}`, ""},
		"Other":  {"Names that aren't known here would be waited for.", `{kind: X, metadata: {name: x}, spec: {urls: ["https://x.example/y"]}}`, "", "X x names https://x.example/y"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := decode(t, tc.manifest)
			err := values.Put(o, Account{"me", "mine"})
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("%s\nwant %q, got %v", tc.reason, tc.err, err)
				}
				return
			}
			if diff := cmp.Diff(decode(t, tc.want)[0].Object, o[0].Object); diff != "" || err != nil {
				t.Errorf("%s\n%v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}

func TestWrite(t *testing.T) {
	o := decode(t, `
apiVersion: platform.baremetal.m.crossplane.io/v1alpha1
kind: BareMetalNode
metadata: {namespace: team-a, name: web, annotations: {uptest.upbound.io/conditions: Synced}}
spec: {protection: {reason: r}}
---
apiVersion: platform.baremetal.crossplane.io/v1alpha1
kind: RackPool
metadata: {namespace: team-a, name: rack}
---
apiVersion: baremetal.m.crossplane.io/v1alpha1
kind: NetBoxIPAddress
metadata: {namespace: infra, name: a}
---
apiVersion: v1
kind: Secret
metadata: {namespace: infra, name: s}
`)
	dir := t.TempDir()
	if err := o.Write(dir, "/hooks"); err != nil {
		t.Fatal(err)
	}
	written, err := local.Load(filepath.Join(dir, Manifest))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]map[string]string{}
	for _, u := range written {
		got[u.GetName()] = u.GetAnnotations()
	}
	want := map[string]map[string]string{
		"web":  {conditionsAnnotation: "Synced", preDeleteAnnotation: "pre-delete-hook-0.sh"},
		"rack": {conditionsAnnotation: "Synced,Ready", postAssertAnnotation: "post-assert-hook-1.sh"},
		"a":    {conditionsAnnotation: "Synced,Ready", postAssertAnnotation: "post-assert-hook-2.sh"},
		"s":    nil,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("hooks are added, each namespace is looked at again once, and an object's own conditions stay: -want, +got:\n%s", diff)
	}
	for name, call := range map[string]string{
		"post-assert-hook-1.sh": "exec '/hooks'/look-again.sh team-a crossplane.io/composite=web crossplane.io/claim-name=rack\n",
		"post-assert-hook-2.sh": "exec '/hooks'/look-again.sh infra netboxipaddress.baremetal.m.crossplane.io/a\n",
		"pre-delete-hook-0.sh":  "exec '/hooks'/unprotect.sh team-a baremetalnode.platform.baremetal.m.crossplane.io/web\n",
	} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.HasSuffix(string(b), call) {
			t.Errorf("%s: want it to call %q, got %q, %v", name, call, b, err)
		}
	}
	if len(o[0].GetAnnotations()) != 1 {
		t.Error("the objects themselves were changed")
	}
}

func decode(t *testing.T, manifest string) Objects {
	t.Helper()
	o, err := local.Decode([]byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	return o
}
