package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
)

func parse(t *testing.T, args ...string) *cli {
	t.Helper()
	c := &cli{}
	p, err := kong.New(c, kong.Vars{"version": "v", "hostname": "node-1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Parse(args); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestConfig(t *testing.T) {
	got, err := parse(t,
		"--plans-dir", "/plans", "--dhcp-interface", "eth1", "--dhcp-interface", "eth2", "--advertise-address", "10.77.0.5",
		"--artifact-range", "10.9.0.0/16", "--node-label", "rack=r7", "--allow-loopback-artifacts", "--log-level", "debug", "--health-listen", "",
		"--tftp-mtu", "1400", "--tftp-single-port", "--cache-bytes", "1000",
	).config()
	if err != nil {
		t.Fatal(err)
	}
	if got.Name != "node-1" || got.Namespace != "baremetal-boot" || got.Kube != nil || len(got.DHCPInterfaces) != 2 || got.HealthListen != "" ||
		got.TFTPMTU != 1400 || !got.TFTPSinglePort || got.CacheBytes != 1000 ||
		got.Advertise.String() != "10.77.0.5" || len(got.Artifacts.Allowed) != 1 || !got.Artifacts.Local || got.NodeLabels["rack"] != "r7" {
		t.Errorf("%+v", got)
	}
}

func TestBadFlags(t *testing.T) {
	for says, args := range map[string][]string{
		`"here" isn't an address`:                           {"--plans-dir", "/x", "--advertise-address", "here"},
		`"ten" isn't a CIDR`:                                {"--plans-dir", "/x", "--artifact-range", "ten"},
		"cannot use kubeconfig":                             {"--kubeconfig", "/does/not/exist"},
		`--dhcp6-listen "foo" isn't an address and a port`:  {"--plans-dir", "/x", "--dhcp6-listen", "foo"},
		`--proxy-listen "0.0.0.0:70000" isn't an address`:   {"--plans-dir", "/x", "--proxy-listen", "0.0.0.0:70000"},
		`--http-listen "host:80" isn't an address`:          {"--plans-dir", "/x", "--http-listen", "host:80"},
		"--http-listen and --health-listen are both :18480": {"--plans-dir", "/x", "--http-listen", ":18480", "--health-listen", ":18480"},
		"there's nothing to serve":                          {"--plans-dir", "/x", "--dhcp-listen=", "--dhcp6-listen=", "--tftp-listen=", "--http-listen="},
		"--advertise-address 224.0.0.1 is no machine's":     {"--plans-dir", "/x", "--advertise-address", "224.0.0.1"},
		"--advertise-address 0.0.0.0 is no machine's":       {"--plans-dir", "/x", "--advertise-address", "0.0.0.0"},
		"--cache-bytes must not be negative":                {"--plans-dir", "/x", "--cache-bytes=-5"},
		"--trace-bytes must not be negative":                {"--plans-dir", "/x", "--trace-bytes=-1"},
		"--drain must not be negative":                      {"--plans-dir", "/x", "--drain=-5s"},
	} {
		if _, err := parse(t, args...).config(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v, want %q", args, err, says)
		}
	}
}

// TestWrongFlags: a flag that kong refuses ends bootd as one does that bootd refuses itself.
func TestWrongFlags(t *testing.T) {
	for says, args := range map[string][]string{
		"unknown flag --bogus": {"--bogus"},
		`--log-level: "loud" is no level: debug, info, warn or error`: {"--log-level", "loud"},
		"missing flags: --mac":  {"confirm", "edge/node-1"},
		"unexpected argument x": {"trace", "x"},
	} {
		p, err := kong.New(&program{}, kong.Vars{"version": "v", "hostname": "node-1"})
		if err != nil {
			t.Fatal(err)
		}
		_, err = told(p, args)
		wrong, ok := errors.AsType[misused](err)
		if !ok || wrong.ExitCode() != 2 || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v, want %q", args, err, says)
		}
	}
}

func TestFailpoint(t *testing.T) {
	if failpoint("", nil) != nil {
		t.Error("no failpoint is named")
	}
	var codes []int
	f := failpoint("bootd-after-log,bootd-after-consume", func(code int) { codes = append(codes, code) })
	f("bootd-before-consume")
	f("bootd-after-log")
	if len(codes) != 1 || codes[0] != crashed {
		t.Errorf("exits: %v", codes)
	}
}

func TestSource(t *testing.T) {
	got, err := parse(t, "--source", "dir:/etc/bootd", "--no-install", "--dhcp", "10.0.0.1:67", "--tftp", "10.0.0.1:69", "--http", "10.0.0.1:80").config()
	if err != nil || got.SpecDir != "/etc/bootd" || !got.NoInstall || got.DHCPListen+got.TFTPListen+got.HTTPListen != "10.0.0.1:6710.0.0.1:6910.0.0.1:80" || got.NewSite || got.Kube != nil {
		t.Errorf("%+v, %v", got, err)
	}
	for says, args := range map[string][]string{
		`not "dir:"`:                           {"--source", "dir:"},
		`not "/etc"`:                           {"--source", "/etc"},
		"go with":                              {"--plans-dir", "/x", "--new-site"},
		"kubeconfig":                           {"--source", "kubernetes", "--kubeconfig", "/does/not/exist"},
		`--peer "z" isn't a server's address`:  {"--source", "dir:/x", "--peer", "z"},
		`--peer "::" isn't a server's address`: {"--source", "dir:/x", "--peer", "::"},
		`--peer "duid:00:03" isn't a DUID`:     {"--source", "dir:/x", "--peer", "duid:00:03"},
		"isn't an address":                     {"--source", "dir:/x", "--advertise-address", "y"},
	} {
		if _, err := parse(t, args...).config(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v, want %q", args, err, says)
		}
	}
}

// TestFoldersApart: the state folder is none of specs, whatever path names it; a folder within, which isn't looked into, may be.
func TestFoldersApart(t *testing.T) {
	specs, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	if err := errors.Join(os.Symlink(specs, link), os.Mkdir(filepath.Join(specs, "state"), 0o700)); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason, state string
		wrong         bool
	}{
		"Record": {"the other half of the records", filepath.Join(specs, ".bootd"), true},
		"Linked": {"be it by a symbolic link", filepath.Join(link, ".bootd"), true},
		"Same":   {"one folder", specs, true},
		"Dotted": {"by another path", specs + "/state/..", true},
		"Link":   {"by a symbolic link", link, true},
		"Within": {"a folder within isn't read", filepath.Join(specs, "state"), false},
		"Absent": {"what isn't there yet is another", filepath.Join(specs, ".state"), false},
		"Other":  {"one elsewhere", t.TempDir(), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := parse(t, "--source", "dir:"+specs, "--state-dir", tc.state).config()
			if (err != nil) != tc.wrong || err != nil && !strings.Contains(err.Error(), "--source dir:"+specs) {
				t.Errorf("%s: %v", tc.reason, err)
			}
			if !tc.wrong {
				return
			}
			if wrong, ok := errors.AsType[misused](parse(t, "--source", "dir:"+specs, "--state-dir", tc.state).Run()); !ok || wrong.ExitCode() != 2 {
				t.Errorf("%s: it doesn't end with 2", tc.reason)
			}
		})
	}
}

// TestGrace: bootd's DaemonSets let it stop for longer than it takes by itself.
func TestGrace(t *testing.T) {
	const last = 5 * time.Second // What is written at the end, and connections that are closed.
	want := parse(t, "--plans-dir", "/x").Drain + last
	for file, key := range map[string]string{
		"../../package/bootd/bootd.yaml":                         `(?m)^      terminationGracePeriodSeconds: (\d+)$`,
		"../../package/charts/baremetal-bootd-chart/values.yaml": `(?m)^terminationGracePeriodSeconds: (\d+)$`,
	} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(key).FindSubmatch(b)
		if found == nil {
			t.Errorf("%s doesn't say it", file)
			continue
		}
		if n, err := strconv.Atoi(string(found[1])); err != nil || time.Duration(n)*time.Second < want {
			t.Errorf("%s: %d s, and bootd takes up to %s (%v)", file, n, want, err)
		}
	}
}
