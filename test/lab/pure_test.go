package lab

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
)

func TestSubstitute(t *testing.T) {
	a := Addresses{
		NetBox: "http://127.0.0.1:1/", Token: "T", User: "U", Password: "P",
		BMC:   map[string]string{"h1": "127.0.0.1:2"},
		Files: map[string]File{"kernel": {"K", "KD"}, "initrd": {"I", "ID"}, "image": {"M", "MD"}},
	}
	cases := map[string]struct {
		reason, in, want string
		without          bool
	}{
		"Secret": {
			reason: "Credentials are those of the emulators; what isn't a credential stays.",
			in:     "kind: Secret\nstringData: {token: x, userData: y}",
			want:   "kind: Secret\nstringData: {token: T, userData: y}",
		},
		"TestsOwnSecret": {
			reason:  "Without credentials, a test's own wrong password stays.",
			in:      "kind: Secret\nstringData: {password: wrong}",
			want:    "kind: Secret\nstringData: {password: wrong}",
			without: true,
		},
		"NetBox": {
			reason: "The URL is the emulator's.",
			in:     "kind: ClusterProviderConfig\nspec: {netbox: {url: https://netbox.example/}}",
			want:   "kind: ClusterProviderConfig\nspec: {netbox: {url: 'http://127.0.0.1:1/'}}",
		},
		"Redfish": {
			reason: "Emulated BMCs are on loopback.",
			in:     "kind: ProviderConfig\nspec: {redfish: {allowedAddresses: [10.0.7.0/24]}}",
			want:   "kind: ProviderConfig\nspec: {redfish: {allowedAddresses: [127.0.0.0/8], requestsPerSecond: 50}}",
		},
		"Profile": {
			reason: "Artifacts are the lab's, with their digests; a test's own file with its digest stays.",
			in: "kind: BootProfile\nspec: {artifacts: [{kernel: {url: 'https://x/k', digest: d}, initrds: [{url: 'https://x/i', digest: d}], " +
				"image: {url: 'http://127.0.0.1:9/m', digest: wrong}}]}",
			want: "kind: BootProfile\nspec: {artifacts: [{kernel: {url: K, digest: KD}, initrds: [{url: I, digest: ID}], " +
				"image: {url: 'http://127.0.0.1:9/m', digest: wrong}}]}",
		},
		"Pool": {
			reason: "Hosts that are emulated get their BMC's address, and the network trusts the relay.",
			in:     "kind: RackPool\nspec: {hosts: [{name: h1, address: 10.0.7.1}, {name: h2, address: 10.0.7.2}], network: {dhcp: {relays: [10.77.0.1/32]}}}",
			want:   "kind: RackPool\nspec: {hosts: [{name: h1, address: '127.0.0.1:2'}, {name: h2, address: 10.0.7.2}], network: {dhcp: {relays: [127.0.0.0/8]}}}",
		},
		"RelaysOfBothFamilies": {
			reason: "a network with IPv6 is asked by a relay of IPv6, too",
			in:     "kind: BootNetwork\nspec: {subnets: [{cidr: 10.77.0.0/24}, {cidr: 'fd00:77::/64'}, {cidr: 'fd00:78::/64'}], dhcp: {relays: [10.77.0.1/32]}}",
			want:   "kind: BootNetwork\nspec: {subnets: [{cidr: 10.77.0.0/24}, {cidr: 'fd00:77::/64'}, {cidr: 'fd00:78::/64'}], dhcp: {relays: [127.0.0.0/8, '::1/128']}}",
		},
		"Host": {
			reason: "So do hosts by themselves.",
			in:     "kind: RedfishHost\nmetadata: {name: h1}\nspec: {forProvider: {address: 10.0.7.1}}",
			want:   "kind: RedfishHost\nmetadata: {name: h1}\nspec: {forProvider: {address: '127.0.0.1:2'}}",
		},
		"DeadHost": {
			reason: "A test may point at a BMC of its own.",
			in:     "kind: RedfishHost\nmetadata: {name: h1}\nspec: {forProvider: {address: '127.0.0.1:3'}}",
			want:   "kind: RedfishHost\nmetadata: {name: h1}\nspec: {forProvider: {address: '127.0.0.1:3'}}",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := a
			if tc.without {
				a.Token, a.User, a.Password = "", "", ""
			}
			got, want := decode(t, tc.in), decode(t, tc.want)
			Substitute(got, a)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s\nSubstitute: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func decode(t *testing.T, s string) []*unstructured.Unstructured {
	t.Helper()
	us, err := local.Decode([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return us
}

func TestChecks(t *testing.T) {
	u := decode(t, "kind: X\nstatus: {phase: Ready, conditions: [{type: Ready, status: 'True', reason: Available}, {type: Synced, status: 'False', message: boom}]}")[0]
	cases := map[string]struct {
		reason string
		check  Check
		want   bool
	}{
		"Is":      {"A condition with that status.", Is("Ready", "True"), true},
		"IsNot":   {"A condition with another.", Is("Synced", "True"), false},
		"Absent":  {"A condition that isn't there.", Is("Installed", "False"), false},
		"Because": {"A condition with that reason.", Because("Ready", "Available"), true},
		"Field":   {"A field with that value.", Field("Ready", "status", "phase"), true},
		"All":     {"One of them isn't so.", All(Is("Ready", "True"), Field("x", "status", "phase")), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.check(u); got != tc.want {
				t.Errorf("%s\nwant %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
	if diff := cmp.Diff("X : phase \"Ready\"\n  Synced=False : boom\n", describeObject(u)); diff != "" {
		t.Errorf("describeObject: -want, +got:\n%s", diff)
	}
}

func TestIsLoopback(t *testing.T) {
	cases := map[string]bool{
		"127.0.0.1:1":          true,
		"http://127.0.0.1:1/x": true,
		"https://127.0.0.2:1":  true,
		"10.0.0.1":             false,
		"https://images/x":     false,
		"":                     false,
	}
	for in, want := range cases {
		if got := isLoopback(in); got != want {
			t.Errorf("isLoopback(%q): want %t, got %t", in, want, got)
		}
	}
}
