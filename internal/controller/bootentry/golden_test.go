package bootentry

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootspec"
)

var update = flag.Bool("update", false, "write the golden digests anew: each grant that isn't used yet is then issued anew")

func raw(in *inputs) {
	in.entry.Namespace = "infra"
	in.entry.Spec.ForProvider.Machine = v1alpha1.MachineSelector{MACs: []string{"52-54-00-00-00-0A", "52:54:00:00:00:09"}, UUID: "u", Serial: "s"}
	in.entry.Spec.ForProvider.Networks[0].Addresses[0] = v1alpha1.EntryAddress{Address: "10.77.0.99/24"}
	in.claim, in.host, in.addresses = nil, nil, nil
}

// goldenWorlds are objects of all kinds as the API server gives them, and nothing of them is ever read otherwise.
func goldenWorlds() map[string]inputs {
	role := "none"
	withInit := func(in *inputs) { in.profile.Spec.UserDataFormat = v1alpha1.UserDataCloudInit }
	return map[string]inputs{
		"Bound":    world(),
		"Raw":      world(raw),
		"UserData": world(withUserData),
		"Keys":     world(withKeys, withInit),
		"All":      world(withKeys, withInit, withUserData),
		"Parameter": world(func(in *inputs) {
			in.profile.Spec.Parameters = []v1alpha1.ProfileParameter{{Name: "role", Default: &role, Pattern: "^[a-z]{1,8}$"}}
			in.profile.Spec.CommandLine = []string{"role={{ .role }}", "quiet"}
			in.entry.Spec.ForProvider.Parameters = map[string]string{"role": "web"}
		}),
		"Network": world(func(in *inputs) {
			n := &in.network.Spec
			n.NTP, n.Domain, n.MTU = []string{"10.77.0.4"}, "rack7.example", 9000
			n.DHCP = &v1alpha1.NetworkDHCP{Mode: v1alpha1.DHCPRelayOnly, LeaseDuration: &metav1.Duration{Duration: time.Hour + time.Millisecond}}
		}),
		"Live": world(func(in *inputs) {
			in.profile.Spec.Mode, in.profile.Spec.Method = v1alpha1.BootModeLive, v1alpha1.BootMethodKernel
			in.profile.Spec.Artifacts[0].Image = nil
			in.profile.Spec.Timeouts = &v1alpha1.ProfileTimeouts{Install: &metav1.Duration{Duration: time.Hour}}
		}),
		"Otherwise": world(func(in *inputs) {
			in.entry.Spec.ForProvider.Otherwise, in.host.Spec.ForProvider.LocalBoot = v1alpha1.OtherwiseHold, v1alpha1.LocalBoot("Exit")
		}),
	}
}

// TestGoldenTranslation: what objects say becomes the plan that it became in all versions before, with its digest.
func TestGoldenTranslation(t *testing.T) {
	got := map[string]*v1alpha1.Plan{}
	for name, in := range goldenWorlds() {
		p, prob := resolve(in)
		if prob != nil {
			t.Fatalf("%s: %s", name, prob.message)
		}
		got[name] = bootspec.PlanStatus(*p)
	}
	path := filepath.Join("testdata", "plans.json")
	if *update {
		b, err := json.MarshalIndent(got, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(b, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]*v1alpha1.Plan{}
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
