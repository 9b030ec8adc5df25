package specdir

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestPartsOfData: a machine is given each part of its data from the Secret that its entry names for it, and nothing is installed while one
// of them is in doubt.
func TestPartsOfData(t *testing.T) {
	entry := strings.Replace(entryYAML("m1", mac1, "10.77.0.11", 1), "    install:",
		"    networkDataSecretRef: {name: m1, key: net}\n    vendorDataSecretRef: {name: ours, key: vendor}\n    install:", 1)
	given := strings.Replace(givenYAML, `{userData: "#cloud-config\n"}`, `{userData: "#cloud-config\n", net: "version: 2\n", other: x}`, 1)
	ours := "apiVersion: v1\nkind: Secret\nmetadata: {namespace: lab, name: ours}\nstringData: {vendor: \"#cloud-config\\nntp: {}\\n\"}\n"

	r := newRig(t, strings.Join([]string{networkYAML, profileYAML, given, ours, entry}, "---\n"))
	r.start()
	r.granted()
	p := r.plan()
	served, err := r.src.Data(t.Context(), p.UserDataSecret)
	if err != nil {
		t.Fatal(err)
	}
	data := maps.Clone(served)
	meta := string(data["meta-data"])
	delete(data, "meta-data")
	want := map[string][]byte{"user-data": []byte("#cloud-config\n"), "network-config": []byte("version: 2\n"), "vendor-data": []byte("#cloud-config\nntp: {}\n")}
	if diff := cmp.Diff(want, data); diff != "" || !strings.Contains(meta, "instance-id") {
		t.Errorf("-want, +got:\n%s\n%s", diff, meta)
	}

	r.write("twice.yaml", strings.Replace(ours, "ntp: {}", "ntp: {servers: [10.0.0.1]}", 1))
	r.turn()
	if !r.src.Held(r.plan()) {
		t.Errorf("its vendor data is there twice, and it's installed by it\n%s", r.said.String())
	}
}

// TestPlaceFilledIn: a network config is given as it was written, and its place filled in by its plan.
func TestPlaceFilledIn(t *testing.T) {
	entry := strings.Replace(entryYAML("m1", mac1, "10.77.0.11", 0), "    install:", "    networkDataSecretRef: {name: m1, key: net}\n    install:", 1)
	given := strings.Replace(givenYAML, `{userData: "#cloud-config\n"}`, `{userData: "#cloud-config\n", net: "version: 2 # {{ .address }} {{ .gateway }}\n"}`, 1)
	r := newRig(t, strings.Join([]string{networkYAML, profileYAML, given, entry}, "---\n"))
	r.start()
	p := r.plan()
	data, err := r.src.Data(t.Context(), p.UserDataSecret)
	if err != nil {
		t.Fatal(err)
	}
	filled, _ := boot.FillNetworkConfig(data["network-config"], p.NetworkValues(), "")
	if got := string(filled); got != "version: 2 # 10.77.0.11/24 10.77.0.1\n" || boot.DataDigest(data) != p.UserDataDigest {
		t.Errorf("%q, digest %s, planned %s", got, boot.DataDigest(data), p.UserDataDigest)
	}
}
