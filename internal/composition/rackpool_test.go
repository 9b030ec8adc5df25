package composition

import (
	"maps"
	"slices"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	platform "github.com/crossplane-contrib/provider-baremetal/apis/platform/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// aPool is infra/rack-7 with hosts of those names, and those observed.
func aPool(observed map[string]*v1alpha1.RedfishHost, names ...string) *pool {
	p := &pool{owner: owner{Namespace: "infra", Name: "rack-7"}, hosts: observed}
	p.spec.Defaults = &platform.HostDefaults{RedfishProviderConfigRef: &v1alpha1.ProviderConfigRef{Name: "bmc"}}
	p.spec.AllowedNamespaces = &v1alpha1.AllowedNamespaces{From: v1alpha1.AllowedFromSame}
	for _, n := range names {
		p.spec.Hosts = append(p.spec.Hosts, platform.PoolHost{Name: n, Address: "10.0.0.1"})
	}
	return p
}

// aHost is an observed host that holds everything the lifecycle controllers write.
func aHost(changes ...func(*v1alpha1.RedfishHost)) *v1alpha1.RedfishHost {
	h := &v1alpha1.RedfishHost{}
	h.Spec.ForProvider = v1alpha1.RedfishHostParameters{
		Address: "10.0.0.9", Power: v1alpha1.PoweredOn, PowerOff: &v1alpha1.PowerOff{Then: "Force"}, ResetGeneration: 2,
		Boot: &v1alpha1.HostBoot{Once: &v1alpha1.BootOnce{Target: v1alpha1.BootTargetPxe, Generation: 3}},
	}
	h.Spec.AllowedNamespaces = &v1alpha1.AllowedNamespaces{From: v1alpha1.AllowedFromAll}
	h.Status.Phase = v1alpha1.HostAvailable
	for _, c := range changes {
		c(h)
	}
	return h
}

// bound is held by a claim.
func bound(h *v1alpha1.RedfishHost) {
	h.Spec.ClaimRef = &v1alpha1.ClaimReference{Namespace: "team-a", Name: "web-1", UID: "u"}
}

// closed is out of new claims' reach.
func closed(h *v1alpha1.RedfishHost) { h.Spec.ForProvider.Unschedulable = true }

// with has a condition.
func with(c xpv2.Condition) func(*v1alpha1.RedfishHost) {
	return func(h *v1alpha1.RedfishHost) { h.SetConditions(c) }
}

func TestHostOfAPool(t *testing.T) {
	p := aPool(nil)
	p.spec.Topology = map[string]platform.LabelValue{"rack": "r7"}
	p.spec.Defaults.CommandLine, p.spec.Defaults.LocalBoot = []string{"console=ttyS1"}, v1alpha1.LocalBootAuto
	p.spec.Defaults.FirstStage = v1alpha1.FirstStageShim
	cases := map[string]struct {
		reason string
		host   platform.PoolHost
		want   func(*v1alpha1.RedfishHost)
	}{
		"Defaults": {
			reason: "what a host doesn't say the pool says",
			host:   platform.PoolHost{Name: "a", Address: "10.0.0.1"},
			want: func(h *v1alpha1.RedfishHost) {
				h.Spec.ForProvider.CommandLine, h.Spec.ForProvider.LocalBoot = []string{"console=ttyS1"}, v1alpha1.LocalBootAuto
			},
		},
		"Device": {
			reason: "a host's device in NetBox is the host's to know",
			host:   platform.PoolHost{Name: "a", Address: "10.0.0.1", NetBoxDevice: &v1alpha1.NetBoxDevice{Name: "r7-u12", Site: "fra1"}},
			want: func(h *v1alpha1.RedfishHost) {
				h.Spec.ForProvider.CommandLine, h.Spec.ForProvider.LocalBoot = []string{"console=ttyS1"}, v1alpha1.LocalBootAuto
				h.Spec.ForProvider.NetBoxDevice = &v1alpha1.NetBoxDevice{Name: "r7-u12", Site: "fra1"}
			},
		},
		"Overridden": {
			reason: "every default may be overridden",
			host: platform.PoolHost{Name: "a", Address: "10.0.0.1", HostDefaults: platform.HostDefaults{
				RedfishProviderConfigRef: &v1alpha1.ProviderConfigRef{Kind: "ProviderConfig", Name: "own"},
				CommandLine:              []string{"console=ttyS0"}, LocalBoot: v1alpha1.LocalBootExit,
				FirstStage: v1alpha1.FirstStageAuto,
			}},
			want: func(h *v1alpha1.RedfishHost) {
				h.Spec.ForProvider.FirstStage = v1alpha1.FirstStageAuto
				h.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ProviderConfig", Name: "own"}
				h.Spec.ForProvider.CommandLine, h.Spec.ForProvider.LocalBoot = []string{"console=ttyS0"}, v1alpha1.LocalBootExit
			},
		},
		"Labels": {
			reason: "a host has labels of its own, and can't say that it stands elsewhere",
			host: platform.PoolHost{Name: "a", Address: "10.0.0.1", Labels: map[string]platform.LabelValue{
				"gpu": "no", "topology.baremetal.crossplane.io/rack": "r8", "baremetal.m.crossplane.io/pool": "x",
			}, HostDefaults: platform.HostDefaults{CommandLine: []string{"a"}}},
			want: func(h *v1alpha1.RedfishHost) {
				h.Labels["gpu"] = "no"
				h.Spec.ForProvider.CommandLine, h.Spec.ForProvider.LocalBoot = []string{"a"}, v1alpha1.LocalBootAuto
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			want := &v1alpha1.RedfishHost{ObjectMeta: p.meta("a")}
			want.Labels = map[string]string{"topology.baremetal.crossplane.io/rack": "r7", "baremetal.m.crossplane.io/pool": "rack-7"}
			want.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ClusterProviderConfig", Name: "bmc"}
			want.Spec.AllowedNamespaces = p.spec.AllowedNamespaces
			want.Spec.ForProvider.Address, want.Spec.ForProvider.FirstStage = "10.0.0.1", v1alpha1.FirstStageShim
			tc.want(want)
			got, err := p.hostObject(tc.host)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got.RedfishHost); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRemovedHosts proves that a host that is taken out of the list goes only where the pool says so and nothing is bound to it.
func TestRemovedHosts(t *testing.T) {
	type want struct {
		Rendered []string
		From     v1alpha1.AllowedFrom
	}
	cases := map[string]struct {
		reason string
		policy platform.RemovalPolicy
		host   *v1alpha1.RedfishHost
		want   want
	}{
		"Retained": {
			reason: "the default keeps it, out of anybody's reach",
			policy: platform.RemovalRetain, host: aHost(),
			want: want{[]string{"host-a", "host-gone"}, v1alpha1.AllowedFromNone},
		},
		"RetainedBound": {
			reason: "the claim that holds it keeps its right to it",
			policy: platform.RemovalRetain, host: aHost(bound),
			want: want{[]string{"host-a", "host-gone"}, v1alpha1.AllowedFromAll},
		},
		"Deleted": {
			reason: "a free one is closed first if the pool says so: a claim could be binding it",
			policy: platform.RemovalDelete, host: aHost(),
			want: want{[]string{"host-a", "host-gone"}, v1alpha1.AllowedFromNone},
		},
		"DeletedClosed": {
			reason: "and deleted once it's seen closed and still free",
			policy: platform.RemovalDelete, host: aHost(closed),
			want: want{Rendered: []string{"host-a"}},
		},
		"BoundBeforeItWasClosed": {
			reason: "a claim that was faster keeps it",
			policy: platform.RemovalDelete, host: aHost(closed, bound),
			want: want{[]string{"host-a", "host-gone"}, v1alpha1.AllowedFromAll},
		},
		"DeletedBound": {
			reason: "a bound one is never deleted",
			policy: platform.RemovalDelete, host: aHost(bound),
			want: want{[]string{"host-a", "host-gone"}, v1alpha1.AllowedFromAll},
		},
		"BeforeThePolicy": {
			reason: "a pool without a policy keeps",
			policy: "", host: aHost(),
			want: want{[]string{"host-a", "host-gone"}, v1alpha1.AllowedFromNone},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := aPool(map[string]*v1alpha1.RedfishHost{"a": aHost(), "gone": tc.host}, "a")
			p.spec.RemovalPolicy = tc.policy
			out, err := composePool(p)
			if err != nil {
				t.Fatal(err)
			}
			got := want{Rendered: slices.Sorted(maps.Keys(out.resources))}
			if d, ok := out.resources["host-gone"]; ok {
				spec := d.object["spec"].(map[string]any)
				got.From = v1alpha1.AllowedFrom(spec["allowedNamespaces"].(map[string]any)["from"].(string))
				params := spec["forProvider"].(map[string]any)
				if params["unschedulable"] != true || params["address"] != "10.0.0.9" {
					t.Errorf("%s: a kept host must be as it was and closed for new claims: %v", tc.reason, params)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			for key, d := range out.resources {
				spec := d.object["spec"].(map[string]any)
				for _, f := range []string{"power", "powerOff", "boot", "resetGeneration"} {
					if _, ok := spec["forProvider"].(map[string]any)[f]; ok {
						t.Errorf("%s is rendered with %s, which belongs to the lifecycle controllers", key, f)
					}
				}
				if _, ok := spec["claimRef"]; ok {
					t.Errorf("%s is rendered with a claimRef", key)
				}
			}
		})
	}
}

func TestPoolStatus(t *testing.T) {
	down := is(v1alpha1.ConditionReachable, corev1.ConditionFalse, v1alpha1.ReasonUnreachable, "observe failed: no answer", 5)
	sick := is(v1alpha1.ConditionHealthy, corev1.ConditionFalse, "Critical", "fan 3 failed", 6)
	p := aPool(map[string]*v1alpha1.RedfishHost{
		"free":     aHost(),
		"bound":    aHost(bound),
		"cordoned": aHost(closed),
		"repaired": aHost(func(h *v1alpha1.RedfishHost) {
			h.Spec.ForProvider.Maintenance = &v1alpha1.HostMaintenance{Reason: "DIMM"}
		}),
		"down":   aHost(with(down), func(h *v1alpha1.RedfishHost) { h.Status.Phase = v1alpha1.HostError }),
		"sick":   aHost(bound, with(sick)),
		"unable": aHost(bound, with(is(v1alpha1.ConditionPowerApplied, corev1.ConditionFalse, v1alpha1.ReasonNotSupported, "no off", 8))),
		"slow":   aHost(bound, with(is(v1alpha1.ConditionPowerApplied, corev1.ConditionFalse, v1alpha1.ReasonWaitingForPowerOn, "not yet", 8)), with(is(v1alpha1.ConditionBootApplied, corev1.ConditionFalse, v1alpha1.ReasonNoEffect, "tried again", 8))),
		"stuck":  aHost(bound, with(is(v1alpha1.ConditionPowerApplied, corev1.ConditionFalse, v1alpha1.ReasonGaveUp, "no effect", 8))),
		"untold": aHost(bound, with(is(v1alpha1.ConditionBootApplied, corev1.ConditionFalse, v1alpha1.ReasonNotSupported, "no such target", 8))),
		"older":  aHost(bound, with(is(v1alpha1.ConditionBootApplied, corev1.ConditionFalse, v1alpha1.ReasonOutdated, "a newer version", 8))),
		"given-up": aHost(func(h *v1alpha1.RedfishHost) {
			h.SetAnnotations(map[string]string{v1alpha1.AnnotationQuarantined: "BMC burnt"})
		}),
		"wrong":      aHost(with(is(xpv2.TypeReady, corev1.ConditionFalse, v1alpha1.ReasonAmbiguous, "two Systems", 7)), func(h *v1alpha1.RedfishHost) { h.Status.Phase = v1alpha1.HostError }),
		"taken-out":  aHost(bound),
		"going-away": aHost(closed),
		"closing":    aHost(),
	}, "free", "bound", "cordoned", "repaired", "down", "sick", "slow", "stuck", "unable", "untold", "older", "given-up", "wrong", "new")
	p.spec.RemovalPolicy = platform.RemovalDelete
	five, six, seven, eight := at(5), at(6), at(7), at(8)
	want := platform.RackPoolStatus{
		Hosts: 16, Available: 1, Claimed: 8, Unavailable: 7, ProblemCount: 8,
		Problems: []platform.HostProblem{
			{Host: "down", Reason: "Unreachable", Since: &five, Message: "down: no answer"},
			{Host: "given-up", Reason: "Quarantined", Message: "given-up: BMC burnt"},
			{Host: "older", Reason: "Outdated", Since: &eight, Message: "older: a newer version"},
			{Host: "sick", Reason: "Critical", Since: &six, Message: "sick: fan 3 failed"},
			{Host: "stuck", Reason: "GaveUp", Since: &eight, Message: "stuck: no effect"},
			{Host: "unable", Reason: "NotSupported", Since: &eight, Message: "unable: no off"},
			{Host: "untold", Reason: "NotSupported", Since: &eight, Message: "untold: no such target"},
			{Host: "wrong", Reason: "Ambiguous", Since: &seven, Message: "wrong: two Systems"},
		},
	}
	if diff := cmp.Diff(want, p.status()); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

// TestLooked proves that a pool is ready once each host was looked at, whatever was found: Ready doesn't flap with a BMC.
func TestLooked(t *testing.T) {
	for name, tc := range map[string]struct {
		host *v1alpha1.RedfishHost
		want bool
	}{
		"NotMade":     {nil, false},
		"NotLookedAt": {aHost(), false},
		"Ready":       {aHost(with(is(xpv2.TypeReady, corev1.ConditionTrue, xpv2.ReasonAvailable, "", 1))), true},
		"Unreachable": {aHost(with(is(v1alpha1.ConditionReachable, corev1.ConditionFalse, v1alpha1.ReasonUnreachable, "", 1))), true},
	} {
		if got := looked(tc.host); got != tc.want {
			t.Errorf("%s: looked is %t", name, got)
		}
	}
}

// TestPoolNetwork proves that the network has the pool's name and spec.
func TestPoolNetwork(t *testing.T) {
	p := aPool(nil)
	p.spec.Network = &v1alpha1.BootNetworkSpec{Domain: "rack7.example", Subnets: []v1alpha1.Subnet{{CIDR: "10.77.0.0/24"}}}
	for _, there := range []bool{false, true} {
		if there {
			p.network = &v1alpha1.BootNetwork{}
		}
		out, err := composePool(p)
		if err != nil {
			t.Fatal(err)
		}
		want := desired{ready: there, object: map[string]any{
			"apiVersion": "baremetal.m.crossplane.io/v1alpha1",
			"kind":       "BootNetwork",
			"metadata":   map[string]any{"namespace": "infra", "name": "rack-7"},
			"spec":       map[string]any{"domain": "rack7.example", "subnets": []any{map[string]any{"cidr": "10.77.0.0/24"}}},
		}}
		if diff := cmp.Diff(want, out.resources["network"], cmp.AllowUnexported(desired{})); diff != "" {
			t.Errorf("network (-want +got):\n%s", diff)
		}
	}
}
