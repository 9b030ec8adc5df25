package composition

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	platform "github.com/crossplane-contrib/provider-baremetal/apis/platform/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

func TestAddressedCondition(t *testing.T) {
	type want struct {
		Status  corev1.ConditionStatus
		Reason  xpv2.ConditionReason
		Message string
	}
	// given is an address object with those conditions and that address.
	given := func(address string, cs ...xpv2.Condition) *node {
		return aNode(givenTo(v1alpha1.IPv4, address, cs...))
	}
	const no, yes = corev1.ConditionFalse, corev1.ConditionTrue
	cases := map[string]struct {
		reason string
		node   *node
		held   *problem
		want   want
	}{
		"Held": {
			reason: "a problem with the network is the reason",
			node:   aNode(),
			held:   &problem{v1alpha1.ReasonNotFound, "no such network"},
			want:   want{no, v1alpha1.ReasonNotFound, "no such network"},
		},
		"NotMade": {
			reason: "the object is on its way",
			node:   aNode(),
			want:   want{no, v1alpha1.ReasonWaitingForAddress, "NetBox is being asked for an address"},
		},
		"Asked": {
			reason: "the object is there, NetBox hasn't answered",
			node:   given(""),
			want:   want{no, v1alpha1.ReasonWaitingForAddress, "NetBox is being asked for an address"},
		},
		"Creating": {
			reason: "a general reason of Crossplane's says nothing to a person",
			node:   given("", is(xpv2.TypeReady, no, xpv2.ReasonCreating, "", 1)),
			want:   want{no, v1alpha1.ReasonWaitingForAddress, "NetBox is being asked for an address"},
		},
		"Exhausted": {
			reason: "a reason of our own is the claim's",
			node: given("", is(xpv2.TypeReady, no, v1alpha1.ReasonExhausted, "prefix 10.77.0.0/24 is full", 1),
				is(xpv2.TypeSynced, no, xpv2.ReasonReconcileError, "create failed: prefix 10.77.0.0/24 is full", 1)),
			want: want{no, v1alpha1.ReasonExhausted, "prefix 10.77.0.0/24 is full"},
		},
		"Error": {
			reason: "an error without a reason of our own still has its sentence",
			node:   given("", is(xpv2.TypeSynced, no, xpv2.ReasonReconcileError, "observe failed: NetBox does not answer", 1)),
			want:   want{no, v1alpha1.ReasonWaitingForAddress, "NetBox does not answer"},
		},
		"Given": {
			reason: "NetBox gave an address",
			node:   given("10.77.0.11/24", is(xpv2.TypeReady, yes, xpv2.ReasonAvailable, "", 1)),
			want:   want{yes, v1alpha1.ReasonAvailable, "10.77.0.11/24"},
		},
		"GivenThenAway": {
			reason: "an address that was given stays given while NetBox is away",
			node:   given("10.77.0.11/24", is(xpv2.TypeSynced, no, xpv2.ReasonReconcileError, "observe failed: no answer", 1)),
			want:   want{yes, v1alpha1.ReasonAvailable, "10.77.0.11/24"},
		},
		"GivenThenTakenAway": {
			reason: "an address that NetBox says is lost is lost",
			node:   given("10.77.0.11/24", is(xpv2.TypeReady, no, v1alpha1.ReasonConflict, "somebody changed it", 1), is(xpv2.TypeSynced, no, xpv2.ReasonReconcileError, "observe failed: somebody changed it", 1)),
			want:   want{no, v1alpha1.ReasonConflict, "somebody changed it"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := addressedCondition(heldBack(tc.node, tc.held))
			if diff := cmp.Diff(tc.want, want{c.Status, c.Reason, c.Message}); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if c.Type != conditionAddressed {
				t.Errorf("%s: type is %q", tc.reason, c.Type)
			}
		})
	}
}

func TestConditions(t *testing.T) {
	reachable := is(v1alpha1.ConditionReachable, corev1.ConditionFalse, v1alpha1.ReasonUnreachable, "the BMC does not answer", 5)
	planned := is(v1alpha1.ConditionPlanned, corev1.ConditionFalse, v1alpha1.ReasonNotFound, "Secret web-1 is missing", 6)
	unserved := is(v1alpha1.ConditionServed, corev1.ConditionFalse, v1alpha1.ReasonWaitingForBootEntry, "no plan", 4)
	current := is(v1alpha1.ConditionCurrent, corev1.ConditionFalse, v1alpha1.ReasonOutdated, "raise it", 7)
	n := aNode(claims(v1alpha1.ClaimPreparing, "", "", reachable), func(n *node) {
		n.entry = &v1alpha1.BootEntry{}
		n.entry.Status.Conditions = []xpv2.Condition{planned, unserved, current}
	})
	served := unserved
	served.Reason, served.Message, served.LastTransitionTime = planned.Reason, planned.Message, planned.LastTransitionTime

	got := map[xpv2.ConditionType]xpv2.Condition{}
	var order []xpv2.ConditionType
	for _, c := range n.conditions(xpv2.Condition{Type: conditionAddressed}) {
		got[c.Type] = c
		order = append(order, c.Type)
	}
	for _, want := range []xpv2.Condition{reachable, served, current} {
		if diff := cmp.Diff(want, got[want.Type]); diff != "" {
			t.Errorf("condition %s (-want +got):\n%s", want.Type, diff)
		}
	}
	wantOrder := []xpv2.ConditionType{"HostBound", "Addressed", "Served", "Installed", "Booted", "Reachable", "HostHealthy", "Current"}
	if diff := cmp.Diff(wantOrder, order); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
	if got["HostHealthy"].Status != corev1.ConditionUnknown {
		t.Errorf("health of a host that nobody spoke of is %q", got["HostHealthy"].Status)
	}
}

func TestCause(t *testing.T) {
	for in, want := range map[string]string{
		"observe failed: NetBox is away": "NetBox is away",
		"create failed: full":            "full",
		"plain":                          "plain",
	} {
		if got := cause(in); got != want {
			t.Errorf("cause(%q) is %q, not %q", in, got, want)
		}
	}
}

func TestInstalledCondition(t *testing.T) {
	on := func(status corev1.ConditionStatus, reason xpv2.ConditionReason) []xpv2.Condition {
		return []xpv2.Condition{{Type: v1alpha1.ConditionInstalled, Status: status, Reason: reason, Message: "the entry's own words"}}
	}
	cases := map[string]struct {
		reason string
		entry  []xpv2.Condition
		want   xpv2.ConditionReason
	}{
		"NoEntry":    {"Before there's an entry nothing is installed.", nil, v1alpha1.ReasonWaitingForInstall},
		"Granted":    {"Steps on the way don't change the composite.", on(corev1.ConditionFalse, v1alpha1.ReasonWaitingForDHCP), v1alpha1.ReasonWaitingForInstall},
		"Installing": {"Nor does the install itself.", on(corev1.ConditionFalse, v1alpha1.ReasonWaitingForInstall), v1alpha1.ReasonWaitingForInstall},
		"Failed":     {"Trouble is told in the entry's words.", on(corev1.ConditionFalse, v1alpha1.ReasonInstallFailed), v1alpha1.ReasonInstallFailed},
		"Asks":       {"So is a question.", on(corev1.ConditionFalse, v1alpha1.ReasonNeedsConfirmation), v1alpha1.ReasonNeedsConfirmation},
		"Done":       {"And success.", on(corev1.ConditionTrue, v1alpha1.ReasonAvailable), v1alpha1.ReasonAvailable},
	}
	for name, tc := range cases {
		c := installedCondition(tc.entry)
		if c.Reason != tc.want || (c.Status == corev1.ConditionTrue) != (name == "Done") {
			t.Errorf("%s: %s\ninstalledCondition(...) = %s, %s", name, tc.reason, c.Status, c.Reason)
		}
	}
}

// TestServedOnce proves that on the way to an install the condition changes once, and that a machine that runs is told of as it is.
func TestServedOnce(t *testing.T) {
	const no, yes = corev1.ConditionFalse, corev1.ConditionTrue
	entry := func(served, planned corev1.ConditionStatus, reason xpv2.ConditionReason, grant int64, more ...change) *node {
		return aNode(append([]change{installed(0, v1alpha1.BootModeInstall), func(n *node) {
			n.entry.Status.Conditions = []xpv2.Condition{
				is(v1alpha1.ConditionServed, served, reason, "the entry's own words", 1), is(v1alpha1.ConditionPlanned, planned, reason, "the plan's own words", 1),
			}
			if grant > 0 {
				n.entry.Status.AtProvider.Grant = &v1alpha1.Grant{Generation: grant}
			}
		}}, more...)...)
	}
	again := asks(platform.NodePoweredOn, 2)
	runs := func(n *node) { n.entry.Status.AtProvider.InstalledGeneration = 1 }
	cases := map[string]struct {
		reason  string
		node    *node
		status  corev1.ConditionStatus
		because xpv2.ConditionReason
		message string
	}{
		"NoEntry":     {"nothing is there", aNode(), no, v1alpha1.ReasonWaitingForBootServer, unserved},
		"NoPlan":      {"the entry waits for its claim", entry(no, no, v1alpha1.ReasonWaitingForBinding, 0), no, v1alpha1.ReasonWaitingForBootServer, unserved},
		"NoGrant":     {"a plan that may not be installed yet isn't what is asked for", entry(yes, yes, v1alpha1.ReasonAvailable, 0), no, v1alpha1.ReasonWaitingForBootServer, unserved},
		"Unheard":     {"a grant that no boot server has seen", entry(no, yes, v1alpha1.ReasonWaitingForBootServer, 1), no, v1alpha1.ReasonWaitingForBootServer, unserved},
		"Granted":     {"and one that it has", entry(yes, yes, v1alpha1.ReasonAvailable, 1), yes, v1alpha1.ReasonAvailable, "the entry's own words"},
		"AnOldGrant":  {"the grant of an earlier install", entry(yes, yes, v1alpha1.ReasonAvailable, 1, again), no, v1alpha1.ReasonWaitingForBootServer, unserved},
		"Runs":        {"a machine that runs needs no grant", entry(yes, yes, v1alpha1.ReasonAvailable, 0, runs), yes, v1alpha1.ReasonAvailable, "the entry's own words"},
		"ServersAway": {"its boot servers are away, in the entry's own words", entry(no, yes, v1alpha1.ReasonWaitingForBootServer, 0, runs), no, v1alpha1.ReasonWaitingForBootServer, "the entry's own words"},
		"Trouble":     {"what a person must mend is told", entry(no, no, v1alpha1.ReasonNotFound, 0), no, v1alpha1.ReasonNotFound, "the plan's own words"},
	}
	for name, tc := range cases {
		c := tc.node.served(conditionsOf(tc.node))
		if c.Status != tc.status || c.Reason != tc.because || c.Message != tc.message {
			t.Errorf("%s: %s\nserved() = %s, %s, %q", name, tc.reason, c.Status, c.Reason, c.Message)
		}
	}
}

// conditionsOf a node's entry.
func conditionsOf(n *node) []xpv2.Condition {
	if n.entry == nil {
		return nil
	}
	return n.entry.Status.Conditions
}
