package main

import (
	"log/slog"
	"net/netip"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
)

func parse(t *testing.T, args ...string) cli {
	t.Helper()
	c := cli{}
	p, err := kong.New(&c, kong.Vars{"version": "test"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Parse(args); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestFlags(t *testing.T) {
	defaults := cli{
		Namespace: "crossplane-system", BootNamespace: "baremetal-boot", Poll: time.Minute, MinPoll: 10 * time.Second, Sync: time.Hour,
		MaxReconcileRate: 200, EnableManagementPolicies: true, ChangelogsSocketPath: "/var/run/changelogs/changelogs.sock",
		MetricsBindAddress: ":8080", HealthProbeBindAddress: ":8081",
	}
	cases := map[string]struct {
		reason string
		env    map[string]string
		args   []string
		want   func(c *cli)
	}{
		"Defaults": {reason: "A provider runs without a flag.", want: func(*cli) {}},
		"Pod": {
			reason: "Crossplane tells a provider's pod its namespace.",
			env:    map[string]string{"POD_NAMESPACE": "xp"},
			want:   func(c *cli) { c.Namespace = "xp" },
		},
		"Flags": {
			reason: "What operators and the demo set.",
			args: []string{
				"--debug", "--leader-election", "--poll=5s", "--max-reconcile-rate=9", "--no-enable-management-policies", "--enable-changelogs",
				"--allow-loopback-targets", "--metrics-bind-address=0", "--health-probe-bind-address=127.0.0.1:0", "--boot-namespace=b",
				"--denied-targets=10.96.0.0/12,fd00:10:96::/112", "--netbox-webhook-address=:9444", "--redfish-events-address=:9445",
			},
			want: func(c *cli) {
				c.Debug, c.LeaderElection, c.Poll, c.MaxReconcileRate = true, true, 5*time.Second, 9
				c.EnableManagementPolicies, c.EnableChangelogs, c.AllowLoopbackTargets = false, true, true
				c.MetricsBindAddress, c.HealthProbeBindAddress, c.BootNamespace = "0", "127.0.0.1:0", "b"
				c.NetBoxWebhookAddress, c.RedfishEventsAddress = ":9444", ":9445"
				c.DeniedTargets = []netip.Prefix{netip.MustParsePrefix("10.96.0.0/12"), netip.MustParsePrefix("fd00:10:96::/112")}
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Setenv("POD_NAMESPACE", "") // So that it's put back.
			if err := os.Unsetenv("POD_NAMESPACE"); err != nil {
				t.Fatal(err)
			}
			for k, v := range tc.env {
				t.Setenv(k, v)
			}
			want := defaults
			tc.want(&want)
			got := parse(t, tc.args...)
			if diff := cmp.Diff(want, got, cmp.Comparer(func(x, y netip.Prefix) bool { return x == y })); diff != "" {
				t.Errorf("%s\nflags: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestFailpoint(t *testing.T) {
	var codes []int
	exit := func(code int) { codes = append(codes, code) }
	if failpoint("", exit) != nil {
		t.Error("without a name there's no failpoint")
	}
	fail := failpoint("redfish-before-call,netboxipaddress.create.after", exit)
	fail("netboxipaddress.create.before")
	fail("netboxipaddress.create.after")
	if !slices.Equal(codes, []int{137}) {
		t.Errorf("exits %v: want one, as kill -9 would end the process, at the named point only", codes)
	}
}

func TestLogger(t *testing.T) {
	cases := map[string]struct {
		reason string
		debug  bool
	}{
		"Info":  {reason: "What crossplane-runtime calls Debug is verbosity 1, which is silent."},
		"Debug": {reason: "And shown where it's asked for.", debug: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := (&cli{Debug: tc.debug}).logger()
			if got := l.V(1).Enabled(); got != tc.debug {
				t.Errorf("%s\nEnabled at V(1): %v", tc.reason, got)
			}
			if !l.V(int(slog.LevelInfo)).Enabled() {
				t.Error("news are always shown")
			}
		})
	}
}

func TestKubeconfig(t *testing.T) {
	if _, err := (&cli{Kubeconfig: "/nowhere/kubeconfig"}).kube(); err == nil {
		t.Error("a kubeconfig that isn't there must be refused, not replaced by another")
	}
}
