package e2e

import (
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/test/lab"
)

// alone is how the names of the cases of TestAlone begin.
const alone = "TestAlone/"

type loner struct {
	name, flavour string
	test          func(*testing.T)
}

// loners are those cases. What only kills or stops a component doesn't ask whether a claim is in front of the composite, so these
// cases show that the other flavour goes through the same.
func loners() []loner {
	return []loner{
		{"ProviderDiesAroundNetBoxPOST", lab.PlatformV2, testProviderDiesAroundNetBoxPOST},
		{"ProviderDiesAroundGrant", lab.PlatformV2, testProviderDiesAroundGrant},
		{"ProviderDiesAroundBMCCalls", lab.PlatformV2, testProviderDiesAroundBMCCalls},
		{"BootdDiesAroundConsumption", lab.PlatformV2, testBootdDiesAroundConsumption},
		{"BootdDiesDuringTransfers", lab.PlatformV2, testBootdDiesDuringTransfers},
		{"MachineResetAfterConsumption", lab.PlatformV2, testMachineResetAfterConsumption},
		{"BootPlaneFirst", lab.PlatformV2, testBootPlaneFirst},
		{"ReplicasGiveOneAnswer", lab.PlatformV2, testReplicasGiveOneAnswer},
		{"InstallWhileReplicaLags", lab.PlatformV2, testInstallWhileReplicaLags},
		{"OnlyRaisingInstalls", lab.Platform, testOnlyRaisingInstalls},
		{"RestoredWithNewUIDs", lab.Platform, testRestoredWithNewUIDs},
		{"RestoredAndDeleted", lab.Platform, testRestoredAndDeleted},
		{"APIOutage", lab.Platform, testAPIOutage},
		{"EtcdGoesBack", lab.Platform, testEtcdGoesBack}, // The last one: after it nobody should trust the control plane.
	}
}

// flavourOf a case's nodes.
func flavourOf(t *testing.T) string {
	t.Helper()
	for _, l := range loners() {
		if strings.HasPrefix(t.Name()+"/", alone+l.name+"/") {
			return l.flavour
		}
	}
	return lab.Platform
}

// TestAlone are the cases that kill, stop or put back a component, and so run one after the other, in a lab that is theirs. They
// mostly wait: for a boot server that is silent, a provider that comes back, a machine that tries again. Beside them all other
// cases go on in their own lab.
func TestAlone(t *testing.T) {
	t.Parallel()
	for _, l := range loners() {
		t.Run(l.name, l.test)
	}
}
