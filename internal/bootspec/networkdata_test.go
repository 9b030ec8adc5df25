package bootspec

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// placed are the parts of a machine whose network config is a text.
func placed(text string) Parts {
	p := Parts{
		Entry: &v1alpha1.BootEntry{}, Profile: &v1alpha1.BootProfile{}, Network: &v1alpha1.BootNetwork{}, Addresses: []netip.Prefix{netip.MustParsePrefix("10.77.0.11/26")},
		Secrets: map[string]map[string][]byte{"web-1": {"net": []byte(text)}},
	}
	p.Entry.Spec.ForProvider.Hostname = "web-1"
	p.Entry.Spec.ForProvider.NetworkDataSecretRef = &v1alpha1.LocalKeyReference{Name: "web-1", Key: "net"}
	p.Profile.Spec.UserDataFormat = v1alpha1.UserDataCloudInit
	p.Network.Namespace, p.Network.Name, p.Network.Spec.Domain = "infra", "rack-7", "rack7.example"
	p.Network.Spec.Subnets = []v1alpha1.Subnet{
		{CIDR: "10.78.0.0/24", Gateway: "10.78.0.1"}, {CIDR: "10.77.0.0/24", Gateway: "10.77.0.1", DNS: []string{"10.77.0.2", "10.77.0.3"}},
	}
	return p
}

// TestNetworkData: a network config says a machine's place, which NetBox has given, and nothing else.
func TestNetworkData(t *testing.T) {
	cases := map[string]struct {
		reason, text, want, wrong string
	}{
		"Plain": {"nothing to fill in", "version: 2\n", "version: 2\n", ""},
		"All": {
			"with the segment's mask, not that of NetBox's prefix", "version: 2 # {{.address}} {{ .ip }} {{ .prefixLength }} {{ .gateway }} [{{ .dns }}] {{ .domain }} {{ .hostname }}\n",
			"version: 2 # 10.77.0.11/24 10.77.0.11 24 10.77.0.1 [10.77.0.2, 10.77.0.3] rack7.example web-1\n", "",
		},
		"Unknown":  {"a name that isn't there", "version: 2\nethernets: {a: {mac: {{ .mac }}}}\n", "", `key "net" of Secret "web-1": line 2, column 22: {{ .mac }} is none of address, address6, dns, dns6, domain`},
		"Quoted":   {"what stands in a Secret isn't shown to who can't read it", "{{ ." + strings.Repeat("s3cret", 6) + " }}", "", "line 1, column 1: this name is none of"},
		"Unsaid":   {"a value that isn't there", "version: 2\nmtu: {{ .mtu }}\n", "", `line 2, column 6: {{ .mtu }} isn't known: neither BootNetwork "infra/rack-7"`},
		"Function": {"there are none", "{{ .ip }}\n  {{ env \"HOME\" }}\n", "", "line 2, column 3: it's no plain {{ .name }}"},
		"Long":     {"no more is looked at", strings.Repeat("#", maxNetworkConfig+1), "", "longer than the 65536 bytes"},
		"NotOne":   {"what comes of it is cloud-init's", "addresses: [{{ .address }}]\n", "", "isn't a network config of cloud-init"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p, got := placed(tc.text), ""
			if prob := CheckData(p); prob != nil {
				got = prob.Message
			}
			if (got == "") != (tc.wrong == "") || !strings.Contains(got, tc.wrong) {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.wrong)
			}
			if data, _ := p.filled(p.Data()[KeyNetworkConfig]); tc.wrong == "" && string(data) != tc.want {
				t.Errorf("%s: %q, want %q", tc.reason, data, tc.want)
			}
		})
	}
}

// FuzzNetworkData: whatever a tenant writes, it ends, says what is wrong or is filled in whole.
func FuzzNetworkData(f *testing.F) {
	for _, s := range []string{"version: 2\n", "{{ .ip }}{{", "{{{ .ip }}}", "{{ .ip }\n}", "{{.x}}\xff"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p := placed("")
		out, wrong := p.filled(b)
		if wrong == "" && strings.Contains(string(out), "{{") {
			t.Errorf("%q is left in %q", out, b)
		}
	})
}
