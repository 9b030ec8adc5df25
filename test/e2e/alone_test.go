package e2e

import (
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

// killed, alone and doomed are how the names of the cases of TestKilled, TestAlone and TestLast begin.
const (
	killed = "TestKilled/"
	alone  = "TestAlone/"
	doomed = "TestLast/"
)

type loner struct {
	name, flavour string
	test          func(*testing.T)
}

// loners are the cases that kill, stop or put back a component, and so run one after the other, in a lab that is theirs. What only
// kills or stops a component doesn't ask whether a claim is in front of the composite, so these cases show that the other flavour
// goes through the same.
func loners() map[string][]loner {
	return map[string][]loner{
		killed: {
			{"ProviderDiesAroundNetBoxPOST", lab.PlatformV2, testProviderDiesAroundNetBoxPOST},
			{"ProviderDiesAroundGrant", lab.PlatformV2, testProviderDiesAroundGrant},
			{"ProviderDiesAroundBMCCalls", lab.PlatformV2, testProviderDiesAroundBMCCalls},
			{"BootdDiesAroundConsumption", lab.PlatformV2, testBootdDiesAroundConsumption},
			{"BootdDiesDuringTransfers", lab.PlatformV2, testBootdDiesDuringTransfers},
			{"MachineResetAfterConsumption", lab.PlatformV2, testMachineResetAfterConsumption},
			{"BootPlaneFirst", lab.PlatformV2, testBootPlaneFirst},
		},
		alone: {
			{"ReplicasGiveOneAnswer", lab.PlatformV2, testReplicasGiveOneAnswer},
			{"InstallWhileReplicaLags", lab.PlatformV2, testInstallWhileReplicaLags},
			{"BootsOverIPv6", lab.Platform, testBootsOverIPv6},
			{"OnlyRaisingInstalls", lab.Platform, testOnlyRaisingInstalls},
			{"RestoredWithNewUIDs", lab.Platform, testRestoredWithNewUIDs},
			{"RestoredAndDeleted", lab.Platform, testRestoredAndDeleted},
			{"APIOutage", lab.Platform, testAPIOutage},
			{"EtcdGoesBack", lab.Platform, testEtcdGoesBack}, // The last one: after it nobody should trust the control plane.
		},
		doomed: {
			{"QuarantineOutlivesProvider", lab.Platform, testQuarantineOutlivesProvider},
			{"Traces", lab.Platform, testTraces},
			{"NetBoxTells", lab.Platform, testNetBoxTells},
			{"NetBoxTellsReplicas", lab.Platform, testNetBoxTellsReplicas},
			{"KindsDeleted", lab.Platform, testKindsDeleted}, // The last one: it takes the control plane's kinds away.
		},
	}
}

// flavourOf a case's nodes.
func flavourOf(t *testing.T) string {
	t.Helper()
	for group, cases := range loners() {
		for _, l := range cases {
			if strings.HasPrefix(t.Name()+"/", group+l.name+"/") {
				return l.flavour
			}
		}
	}
	return lab.Platform
}

// TestKilled are the cases in which a program dies in the middle of what it does.
func TestKilled(t *testing.T) {
	oneAfterTheOther(t, killed)
}

// TestAlone are the cases in which something is stopped, lags or is put back from a backup.
func TestAlone(t *testing.T) {
	oneAfterTheOther(t, alone)
}

// TestLast are the cases that start the provider as each of them needs it, and one whose control plane is of no use to others after it: the
// lab ends with them.
func TestLast(t *testing.T) {
	t.Cleanup(func() { last.stop(!t.Failed()) })
	oneAfterTheOther(t, doomed)
}

// oneAfterTheOther runs a group. They mostly wait: for a boot server that is silent, a provider that comes back, a machine that tries
// again. Beside them all others go on in their own labs.
func oneAfterTheOther(t *testing.T, group string) {
	t.Helper()
	t.Parallel()
	for _, l := range loners()[group] {
		t.Run(l.name, l.test)
	}
}
