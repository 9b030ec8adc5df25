package bootspec

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

func TestCheckData(t *testing.T) {
	const secret = "do-not-quote-me"
	parts := func(f v1alpha1.UserDataFormat, data map[string][]byte) Parts {
		p := Parts{Entry: &v1alpha1.BootEntry{}, Profile: &v1alpha1.BootProfile{}, Network: &v1alpha1.BootNetwork{}, Secrets: map[string]map[string][]byte{"web-1": data}}
		p.Profile.Namespace, p.Profile.Name, p.Profile.Spec.UserDataFormat = "infra", "x", f
		p.Entry.Spec.ForProvider.UserDataSecretRef = &v1alpha1.LocalKeyReference{Name: "web-1", Key: "a"}
		return p
	}
	holds := func(s string) map[string][]byte { return map[string][]byte{"a": []byte(s)} }
	unnamed := func(p Parts) Parts { p.Entry.Spec.ForProvider.UserDataSecretRef = nil; return p }
	keys := func(p Parts) Parts {
		p.Entry.Spec.ForProvider.SSHAuthorizedKeys = []string{"ssh-ed25519 AAAA"}
		return p
	}
	network := func(f v1alpha1.UserDataFormat, config string) Parts {
		user := "#cloud-config\n"
		if f == v1alpha1.UserDataIgnition {
			user = `{"ignition": {"version": "3.4.0"}}`
		}
		p := parts(f, map[string][]byte{"a": []byte(user), "b": []byte(config)})
		p.Entry.Spec.ForProvider.NetworkDataSecretRef = &v1alpha1.LocalKeyReference{Name: "web-1", Key: "b"}
		return p
	}
	vendor := func(p Parts, name string) Parts {
		p.Entry.Spec.ForProvider.VendorDataSecretRef = &v1alpha1.LocalKeyReference{Name: name, Key: "v"}
		p.Secrets["ours"] = map[string][]byte{"v": []byte(strings.Repeat("x", MaxUserData/2))}
		return p
	}
	wired := func(p Parts) Parts {
		p.Entry.Spec.ForProvider.Networks = []v1alpha1.EntryNetwork{{Name: "boot", Interface: &v1alpha1.EntryInterface{}}}
		return p
	}
	plain := func(p Parts) Parts {
		p.Entry.Spec.ForProvider.Networks = []v1alpha1.EntryNetwork{{Name: "boot"}}
		return p
	}
	cases := map[string]struct {
		reason string
		in     Parts
		want   string
	}{
		"TalosPlace":      {"its network has a place", wired(parts(v1alpha1.UserDataTalos, holds("machine:\n  network: {{ .talosNetwork }}\n"))), ""},
		"TalosNoPlace":    {"a bond that nobody would make", wired(parts(v1alpha1.UserDataTalos, holds(secret))), `network "boot" has an interface, and key "a" of Secret "web-1" doesn't say where it belongs; write network: {{ .talosNetwork }} below machine`},
		"NoInterface":     {"nothing would be put there", plain(parts(v1alpha1.UserDataIgnition, holds(`{"ignition": {"version": "3.4.0"}, "url": "{{ .nmstateURL }}"}`))), `key "a" of Secret "web-1" says {{ .nmstateURL }}, and network "boot" has no interface`},
		"OtherBraces":     {"what others mean by braces is theirs", plain(parts(v1alpha1.UserDataCloudInit, holds("#cloud-config\nx: '{{ .hostname }}'\n"))), ""},
		"Autoinstall":     {"as Ubuntu's installer reads it", parts(v1alpha1.UserDataAutoinstall, holds("#cloud-config\nautoinstall: {version: 1}\n")), ""},
		"AutoinstallBare": {"its first line isn't there", parts(v1alpha1.UserDataAutoinstall, holds("autoinstall: {version: 1, x: "+secret+"}\n")), "isn't a cloud-config"},
		"AutoinstallZip":  {"what's packed isn't looked into", parts(v1alpha1.UserDataAutoinstall, holds("\x1f\x8b\x08")), ""},
		"IgnitionAhead":   {"Ignition would refuse it on the machine", parts(v1alpha1.UserDataIgnition, holds(`{"ignition": {"version": "99.0.0"}}`)), "isn't an Ignition config, a JSON object whose ignition.version is one of 2 or 3"},
		"IgnitionNext":    {"what the newest Ignition tries is known to it", parts(v1alpha1.UserDataIgnition, holds(`{"ignition": {"version": "3.7.0-experimental"}}`)), ""},
		"IgnitionWired":   {"it may fetch it, or not", wired(parts(v1alpha1.UserDataIgnition, holds(`{"ignition": {"version": "3.4.0"}}`))), ""},
		"Network":         {"of version 2", network(v1alpha1.UserDataCloudInit, "version: 2\nethernets: {}\n"), ""},
		"NetworkNested":   {"or so", network(v1alpha1.UserDataAutoinstall, "network: {version: 1, config: []}"), ""},
		"NetworkOther":    {"the one that others mean by it", network(v1alpha1.UserDataCloudInit, `{"links": [], "networks": [], "services": ["`+secret+`"]}`), "isn't a network config of cloud-init"},
		"NetworkTalos":    {"who reads it?", network(v1alpha1.UserDataIgnition, "version: 2"), `networkDataSecretRef is for cloud-init, and BootProfile "infra/x" has userDataFormat Ignition`},
		"Vendor":          {"of a Secret of its own", vendor(parts(v1alpha1.UserDataCloudInit, holds("")), "ours"), ""},
		"VendorMissing":   {"it isn't there", vendor(parts(v1alpha1.UserDataCloudInit, holds("")), "theirs"), `Secret "theirs" isn't there; create it, or name another in vendorDataSecretRef`},
		"VendorNoKey":     {"nor is its key", vendor(parts(v1alpha1.UserDataCloudInit, holds("")), "web-1"), `has no key "v"; add it, or name another in vendorDataSecretRef.key`},
		"Together":        {"one Secret holds all of it", vendor(parts(v1alpha1.UserDataCloudInit, holds(strings.Repeat("x", MaxUserData/2+1))), "ours"), "hold 983041 bytes, and it's given 983040 at most"},
		"CloudInit":       {"anything is taken", parts(v1alpha1.UserDataCloudInit, holds(secret)), ""},
		"CloudInitNone":   {"nothing is needed", unnamed(parts(v1alpha1.UserDataCloudInit, nil)), ""},
		"CloudInitEmpty":  {"nor is anything in it", parts(v1alpha1.UserDataCloudInit, holds("")), ""},
		"Unset":           {"None is the default", unnamed(parts("", nil)), ""},
		"NoSecret":        {"it isn't there", parts(v1alpha1.UserDataTalos, nil), `Secret "web-1" isn't there`},
		"NoKey":           {"nor is its key", parts(v1alpha1.UserDataTalos, map[string][]byte{}), `has no key "a"`},
		"Talos":           {"a machine config", parts(v1alpha1.UserDataTalos, holds(secret)), ""},
		"TalosNone":       {"a machine that waits for ever", unnamed(parts(v1alpha1.UserDataTalos, nil)), `BootProfile "infra/x" has userDataFormat Talos, and its machine does nothing without any; set userDataSecretRef`},
		"KickstartEmpty":  {"nor does it do anything by nothing", parts(v1alpha1.UserDataKickstart, holds("")), `key "a" of Secret "web-1" is empty`},
		"Ignition":        {"of any version", parts(v1alpha1.UserDataIgnition, holds(`{"ignition": {"version": "3.4.0"}}`)), ""},
		"Butane":          {"the mistake that everybody makes", parts(v1alpha1.UserDataIgnition, holds("variant: fcos\npassword_hash: "+secret)), "translate Butane's YAML"},
		"IgnitionVersion": {"JSON isn't enough", parts(v1alpha1.UserDataIgnition, holds(`{"passwd": "`+secret+`"}`)), "isn't an Ignition config"},
		"Largest":         {"as much as fits", parts(v1alpha1.UserDataPreseed, holds(strings.Repeat("x", MaxUserData))), ""},
		"TooLarge":        {"and no more", parts(v1alpha1.UserDataCloudInit, holds(strings.Repeat("x", MaxUserData+1))), "hold 983041 bytes, and it's given 983040 at most"},
		"Keys":            {"cloud-init brings them", keys(parts(v1alpha1.UserDataCloudInit, holds(secret))), ""},
		"KeysElsewhere":   {"others don't", keys(parts(v1alpha1.UserDataAutoinstall, holds(secret))), "has userDataFormat Autoinstall; name a profile with CloudInit"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if p := CheckData(tc.in); p != nil {
				got = p.Message
			}
			if (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
			}
			if strings.Contains(got, secret) {
				t.Errorf("%s: what a machine is given stands in a condition: %s", tc.reason, got)
			}
		})
	}
}

// TestDataOf: what is given by format.
func TestDataOf(t *testing.T) {
	e := &v1alpha1.BootEntry{}
	e.UID, e.Spec.ForProvider.Hostname = "uid", "web-1"
	e.Spec.ForProvider.UserDataSecretRef = &v1alpha1.LocalKeyReference{Name: "web-1", Key: "a"}
	secrets := map[string]map[string][]byte{"web-1": {"a": []byte("mine"), "b": []byte("nobody's")}}
	meta := []byte("instance-id: uid\nlocal-hostname: web-1\n")
	for format, want := range map[v1alpha1.UserDataFormat]map[string][]byte{
		v1alpha1.UserDataNone:        {"user-data": []byte("mine")},
		v1alpha1.UserDataCloudInit:   {"user-data": []byte("mine"), "meta-data": meta},
		v1alpha1.UserDataAutoinstall: {"user-data": []byte("mine"), "meta-data": meta},
		v1alpha1.UserDataTalos:       {"user-data": []byte("mine")},
		v1alpha1.UserDataIgnition:    {"user-data": []byte("mine")},
		v1alpha1.UserDataKickstart:   {"user-data": []byte("mine")},
		v1alpha1.UserDataPreseed:     {"user-data": []byte("mine")},
	} {
		p := &v1alpha1.BootProfile{Spec: v1alpha1.BootProfileSpec{UserDataFormat: format}}
		if diff := cmp.Diff(want, Data(e, p, secrets)); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", format, diff)
		}
	}
}

// TestDataParts: each part under the name that a machine asks for, whichever Secret it's of.
func TestDataParts(t *testing.T) {
	e := &v1alpha1.BootEntry{}
	e.Spec.ForProvider.NetworkDataSecretRef = &v1alpha1.LocalKeyReference{Name: "web-1", Key: "net"}
	e.Spec.ForProvider.VendorDataSecretRef = &v1alpha1.LocalKeyReference{Name: "ours", Key: "v"}
	secrets := map[string]map[string][]byte{"web-1": {"net": []byte("version: 2")}, "ours": {"v": []byte("#cloud-config")}}
	p := &v1alpha1.BootProfile{}
	if diff := cmp.Diff(map[string][]byte{"network-config": []byte("version: 2"), "vendor-data": []byte("#cloud-config")}, Data(e, p, secrets)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	delete(secrets, "ours")
	if diff := cmp.Diff(map[string][]byte{"network-config": []byte("version: 2")}, Data(e, p, secrets)); diff != "" {
		t.Errorf("without a Secret, -want, +got:\n%s", diff)
	}
}
