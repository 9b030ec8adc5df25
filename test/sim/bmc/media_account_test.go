package bmc_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/redfish"
	"github.com/crossplane-contrib/provider-baremetal/internal/controller/config"
	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

// accounts are the user names and passwords that the BMC was told with images it
// took.
func accounts(emu *bmc.Server) []string {
	var out []string
	for _, w := range emu.FullWrites() {
		var b struct {
			Image    *string `json:"Image"`
			UserName string  `json:"UserName"`
			Password string  `json:"Password"`
		}
		if json.Unmarshal([]byte(w.Body), &b) == nil && b.Image != nil && w.Status < http.StatusBadRequest {
			out = append(out, b.UserName+" "+b.Password)
		}
	}

	return out
}

// TestMediaAccount: the account of an image's server goes to the BMC with the
// image and nowhere else; without it nothing is inserted, and another password
// takes no image out that is in.
func TestMediaAccount(t *testing.T) {
	const first, second = bmc.Secret + "-image", bmc.Secret + "-image-2"
	l := newTimedLab(t, bmc.ModelInline)
	l.settle()
	l.edit(func(h *v1alpha1.RedfishHost) {
		h.Spec.ForProvider.VirtualMedia = cd(tools)
		h.Spec.ForProvider.VirtualMedia[0].CredentialsSecretRef = &v1alpha1.LocalReference{Name: "images"}
	})
	steps := []struct {
		reason   string
		do       func()
		want     [2]string
		accounts []string
	}{
		{"Nobody knows the password.", func() {}, [2]string{"False", "NotFound"}, nil},
		{"The Secret is there.", func() { l.account = map[string]config.Account{"images": {Username: "robot", Password: first}} }, [2]string{"True", "Applied"}, []string{"robot " + first}},
		{"Another password takes nothing out.", func() { l.account["images"] = config.Account{Username: "robot", Password: second} }, [2]string{"True", "Applied"}, []string{"robot " + first}},
		{"The Secret is gone, and the image is in.", func() { delete(l.account, "images") }, [2]string{"True", "Applied"}, []string{"robot " + first}},
		{"The BMC loses the image: it goes in with the new one.", func() {
			l.account["images"] = config.Account{Username: "robot", Password: second}
			l.edit(func(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.BMCResetGeneration = 1 })
			l.looks(40)
		}, [2]string{"True", "Applied"}, []string{"robot " + first, "robot " + second}},
	}
	for _, s := range steps {
		s.do()
		h := l.looks(30)
		if diff := cmp.Diff(s.want, condition(h, v1alpha1.ConditionMediaInserted)); diff != "" {
			t.Errorf("\n%s\nMediaInserted: -want, +got:\n%s", s.reason, diff)
		}
		if got := accounts(l.emu); !cmp.Equal(s.accounts, got) {
			t.Errorf("\n%s\nthe BMC was told %d accounts, want %d, the last one the newest", s.reason, len(got), len(s.accounts))
		}
		for _, said := range []any{h.Status, h.GetAnnotations()} {
			if leak(said, "robot") != "" {
				t.Errorf("\n%s\nthe account is on the host", s.reason)
			}
		}
	}
}

// TestMediaAccountOfVendors: it goes along whatever body the BMC wants.
func TestMediaAccountOfVendors(t *testing.T) {
	image := redfish.Image{URL: "smb://192.0.2.1/share/a.iso", Username: "robot", Password: bmc.Secret}
	for name, row := range map[string]bmc.Behaviour{"Standard": {}, "Protocol": {MediaProtocol: true}} {
		t.Run(name, func(t *testing.T) {
			emu, _ := emulator(t, bmc.ModelInline, func(c *bmc.Config) { c.Behaviour = &row })
			c := connect(t, settings(emu))
			s := system(t, c)
			drives, err := c.Media(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.InsertMedia(t.Context(), s, drives[0], image); err != nil {
				t.Fatal(err)
			}
			if got := accounts(emu); len(got) != 1 || got[0] != "robot "+bmc.Secret {
				t.Errorf("the BMC wasn't told the account, or more than once: %d", len(got))
			}
		})
	}
}
