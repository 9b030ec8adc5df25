package netconfig

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFill(t *testing.T) {
	c := Config{Hostname: "web-1", Ports: machine(bonded).MACs[:1], DHCP: true}
	const network = `{"hostname": "web-1", "interfaces": [{"deviceSelector": {"permanentAddr": "52:54:00:00:07:02"}, "dhcp": true}]}`
	cases := map[string]struct{ reason, in, want string }{
		"None":   {"user data is what it was", "#cloud-config\n{}\n", "#cloud-config\n{}\n"},
		"Talos":  {"a map in one line", "machine:\n  network: {{ .talosNetwork }}\n", "machine:\n  network: " + network + "\n"},
		"URL":    {"where a file is fetched", `"source": "{{.nmstateURL}}"`, `"source": "http://b/n"`},
		"Others": {"braces of other languages are left", "{{ .Values.x }} {{ .nmstate }} {{ .talosNetwork | x }}", "{{ .Values.x }} {{ .nmstate }} {{ .talosNetwork | x }}"},
		"Many":   {"what a tenant writes doesn't grow without end", strings.Repeat("{{.nmstateURL}}", 17), strings.Repeat("http://b/n", 16) + "{{.nmstateURL}}"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, string(c.Fill([]byte(tc.in), "http://b/n"))); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
		})
	}
	if !Says([]byte("a {{ .talosNetwork }}"), PlaceTalos) || Says([]byte("{{ .nmstateURL }}"), PlaceTalos) {
		t.Error("Says() looks for one name")
	}
}
