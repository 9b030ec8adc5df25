package boot

import (
	"encoding/json"
	"flag"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden digests anew: each grant that isn't used yet is then issued anew, and bootds of before hold its machine")

// golden are plans of all kinds that were ever granted, by a name that tells what's special about each.
func golden() map[string]*Plan {
	addr := netip.MustParseAddr
	return map[string]*Plan{
		"Zero":    {},
		"Fixture": plan(),
		"NoGateway": plan(func(p *Plan) {
			p.Network.Gateway = netip.Addr{}
		}),
		"WholeNetwork": plan(func(p *Plan) {
			p.Network.Gateway = addr("10.77.0.1")
			p.Network.DNS = []netip.Addr{addr("10.77.0.2"), addr("10.77.0.3")}
			p.Network.NTP = []netip.Addr{addr("10.77.0.4")}
			p.Network.Domain, p.Network.MTU, p.Network.Lease = "rack7.example", 9000, 12*time.Hour
		}),
		"IPv6": plan(func(p *Plan) {
			p.Network.Address, p.Network.Gateway = netip.MustParsePrefix("2001:db8::11/64"), addr("fe80::1%eth0")
		}),
		"BothFamilies": plan(func(p *Plan) {
			p.Network.DNS = []netip.Addr{addr("10.77.0.2")}
			p.Network.Six = &Place{netip.MustParsePrefix("2001:db8::11/64"), addr("2001:db8::1"), []netip.Addr{addr("2001:db8::53")}, nil}
		}),
		"RawMACs": plan(func(p *Plan) {
			p.Bound, p.HostUID, p.Serial, p.UUID = false, "macs-0123456789abcdef0123456789abcdef", "", "4c4c4544-0042-3010-8031-b7c04f4d3732"
		}),
		"Words": plan(func(p *Plan) {
			p.CommandLine = []string{"console=ttyS1,115200n8", `quote="x"`, "<&>", "straße", ""}
		}),
		"NoWords":  plan(func(p *Plan) { p.CommandLine = []string{} }),
		"Hostname": plan(func(p *Plan) { p.Hostname = "web-1" }),
		"UserData": plan(func(p *Plan) {
			p.UserDataFormat, p.UserDataSecret, p.UserDataDigest = "CloudInit", "entry-x", "sha256:u"
		}),
		"NoData": plan(func(p *Plan) { p.UserDataFormat = "None" }),
		"Kernel": plan(func(p *Plan) { p.Method = MethodKernel; p.Artifacts[0].Image = nil }),
		"Live": plan(func(p *Plan) {
			p.Mode, p.Method, p.InstallGeneration = ModeLive, MethodKernel, 0
			p.Artifacts[0].Image = nil
		}),
		"NoInitrds": plan(func(p *Plan) { p.Artifacts[0].Initrds = nil }),
		"TwoArchitectures": plan(func(p *Plan) {
			p.Artifacts[0].Image.Format, p.Artifacts[0].Image.Compression = "Raw", "Zstd"
			p.Artifacts = append(p.Artifacts, Artifacts{
				Arch: ARM64, Kernel: Artifact{URL: "https://x/k?a=b&c=d", Digest: "sha512:k"},
				Initrds: []Artifact{{URL: "http://x/1", Digest: "sha256:1"}, {URL: "http://x/2", Digest: "sha256:2"}},
			})
		}),
		"WhatDoesNotCount": plan(func(p *Plan) {
			p.Entry, p.Since, p.MACs, p.ProfileDigest, p.InstallGeneration = Name{"b", "x"}, noon.Add(time.Hour), nil, "sha256:p", 7
			p.InstalledGeneration, p.Otherwise, p.LocalBoot, p.InstallTimeout, p.UserDataSecret = 6, OtherwiseHold, LocalBootExit, time.Hour, "x"
			p.FirstStage = FirstStageShim
			f := &p.Artifacts[0]
			f.Kernel.PullSecret, f.Initrds[0].PullSecret, f.Image.PullSecret = "pull-x", "pull-x", "pull-x"
		}),
	}
}

// TestGoldenDigests: a plan has the digest that it had in all versions before. A grant holds it: were it another for the same plan, each
// grant that isn't used would be issued anew, and a bootd and a provider of different versions would never agree on one.
func TestGoldenDigests(t *testing.T) {
	got := map[string]string{}
	for name, p := range golden() {
		got[name] = p.Digest()
	}
	got["data of nothing"] = DataDigest(nil)
	got["data"] = DataDigest(map[string][]byte{"user-data": []byte("#cloud-config\n"), "meta-data": []byte("instance-id: x\n")})
	compare(t, got)
}

func compare(t *testing.T, got map[string]string) {
	t.Helper()
	path := filepath.Join("testdata", "digests.json")
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
	want := map[string]string{}
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the digest of a plan that didn't change did: every unused grant would be issued anew. A new field must be left out where it's empty (omitzero). -want, +got:\n%s", diff)
	}
}
