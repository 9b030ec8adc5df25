package install_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// badValues gives the chart what people write by mistake. What would be silently nothing, or be refused later in words of somebody else's,
// is refused at once, by its name.
func badValues(t *testing.T, bin string) {
	t.Helper()
	const segment = "segments: [{nodeSelector: {rack: r7}}]\n"
	for name, tc := range map[string]struct {
		reason, values string
		want           []string
	}{
		"Number":       {"A label's value is a text: this one would be 1.1.", "segments: [{nodeSelector: {rack: 1.10}}]", []string{"/segments/0/nodeSelector/rack", "number", "string"}},
		"Large":        {"And this one 1.2345678e+07.", "segments: [{nodeSelector: {rack: 12345678}}]", []string{"/segments/0/nodeSelector/rack", "string"}},
		"Boolean":      {"It's easily written without quotes.", "segments: [{nodeSelector: {baremetal.crossplane.io/bootd: true}}]", []string{"boolean", "string"}},
		"Label":        {"It's no value of a label.", "segments: [{nodeSelector: {rack: row 7}}]", []string{"/segments/0/nodeSelector/rack", "pattern"}},
		"Everywhere":   {"It would run on all nodes.", "segments: [{nodeSelector: {}}]", []string{"/segments/0/nodeSelector", "minProperties"}},
		"NoNodes":      {"It would run on all nodes.", "segments: [{name: r7}]", []string{"/segments/0", "nodeSelector"}},
		"None":         {"Nothing would be installed.", "segments: []", []string{"/segments", "minItems"}},
		"Null":         {"Nor here.", "segments: null", []string{"segments"}},
		"TwoOfAName":   {"One would be the other.", "segments: [{name: r7, nodeSelector: {rack: r7}}, {name: r7, nodeSelector: {rack: r8}}]", []string{"two would be the DaemonSet bootd-r7"}},
		"TwoOfANode":   {"The second would wait for the first one's ports for ever.", "segments: [{name: a, nodeSelector: {rack: r7}}, {name: b, nodeSelector: {rack: r7}}]", []string{"bootd-a and bootd-b choose the same nodes"}},
		"OneInOther":   {"Nodes of the second are the first one's, too.", "segments: [{name: a, nodeSelector: {rack: r7}}, {name: b, nodeSelector: {rack: r7, role: boot}}]", []string{"bootd-a and bootd-b choose the same nodes"}},
		"Key":          {"No label is called so.", "segments: [{nodeSelector: {\"bad key!\": x}}]", []string{"invalid propertyName 'bad key!'"}},
		"Digest":       {"No image has it.", segment + "image: {digest: abc}", []string{"/image/digest", "pattern"}},
		"Both":         {"The tag would do nothing.", segment + "image: {tag: v9.9.9, digest: \"sha256:" + strings.Repeat("a", 64) + "\"}", []string{"image.tag v9.9.9", "which would win"}},
		"Name":         {"A DaemonSet can't be called so.", "segments: [{name: Rack_7, nodeSelector: {rack: r7}}]", []string{"/segments/0/name", "pattern"}},
		"LongName":     {"Nor so.", "segments: [{name: " + strings.Repeat("r", 58) + ", nodeSelector: {rack: r7}}]", []string{"/segments/0/name", "maxLength"}},
		"Interface":    {"bootd would listen on every interface.", "segments: [{nodeSelector: {rack: r7}, interface: [eth1]}]", []string{"/segments/0", "interface"}},
		"NodeSelector": {"It's misspelt.", "segments: [{nodeselector: {rack: r7}}]", []string{"/segments/0", "nodeselector"}},
		"Top":          {"Nobody would hear of it.", segment + "artifactRange: 10.0.7.0/24", []string{"artifactRange"}},
		"Arg":          {"It's a flag without its dashes.", "segments: [{nodeSelector: {rack: r7}, args: [artifact-range=10.0.7.0/24]}]", []string{"/segments/0/args/0", "pattern"}},
		"TLSSecret":    {"Nothing would be served.", "segments: [{nodeSelector: {rack: r7}, tls: {for: [installer]}}]", []string{"/segments/0/tls", "secretName"}},
		"TLSEmpty":     {"No Secret is called so.", "segments: [{nodeSelector: {rack: r7}, tls: {secretName: \"\"}}]", []string{"/segments/0/tls/secretName", "pattern"}},
		"TLSFor":       {"bootd wouldn't start.", "segments: [{nodeSelector: {rack: r7}, tls: {secretName: a, for: [grub]}}]", []string{"/segments/0/tls/for/0", "installer"}},
		"TLSForText":   {"It's a list.", "segments: [{nodeSelector: {rack: r7}, tls: {secretName: a, for: installer}}]", []string{"/segments/0/tls/for", "array"}},
		"TLSPort":      {"HTTP is there already.", "segments: [{nodeSelector: {rack: r7}, tls: {secretName: a, port: 8480}}]", []string{"/segments/0/tls/port", "not"}},
		"TLSNoPort":    {"It's too large.", "segments: [{nodeSelector: {rack: r7}, tls: {secretName: a, port: 84830}}]", []string{"/segments/0/tls/port", "maximum"}},
		"TLSHost":      {"A URL isn't a name.", "segments: [{nodeSelector: {rack: r7}, tls: {secretName: a, host: \"https://boot\"}}]", []string{"/segments/0/tls/host", "pattern"}},
		"TLSTop":       {"A certificate names where a bootd is: it's a segment's.", segment + "tls: {secretName: a}", []string{"tls"}},
		"CASecret":     {"It's a ConfigMap.", segment + "ca: {secretName: mirror}", []string{"/ca", "secretName"}},
		"CAName":       {"No ConfigMap is called so.", segment + "ca: {configMapName: My_CA}", []string{"/ca/configMapName", "pattern"}},
		"OwnLabel":     {"Pods would have it twice.", segment + "podLabels: {app.kubernetes.io/name: mine}", []string{"app.kubernetes.io/name"}},
		"Secret":       {"A Secret is named by an object.", segment + "imagePullSecrets: [registry]", []string{"/imagePullSecrets/0", "object"}},
		"LogLevel":     {"bootd wouldn't start.", segment + "logLevel: loud", []string{"/logLevel"}},
	} {
		t.Run(name, func(t *testing.T) {
			values := filepath.Join(t.TempDir(), "values.yaml")
			must(t, os.WriteFile(values, []byte(tc.values), 0o600))
			out, err := command(t, bin, "template", "bootd", chart, "--namespace=baremetal-boot", kubeVersion, "--values="+values)
			if err == nil {
				t.Fatalf("%s\nthe chart takes it", tc.reason)
			}
			_, said, _ := strings.Cut(out, "Error: ")
			for _, w := range tc.want {
				if !strings.Contains(said, w) {
					t.Errorf("%s\nit's to say %q: %s", tc.reason, w, said)
				}
			}
		})
	}
}
