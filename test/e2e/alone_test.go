package e2e

import "testing"

// TestAlone are the cases that kill, stop or put back a component, and so run one after the other, in a lab that is theirs. They
// mostly wait: for a boot server that is silent, a provider that comes back, a machine that tries again. Beside them all other
// cases go on in their own lab.
func TestAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		test func(*testing.T)
	}{
		{"ProviderDiesAroundNetBoxPOST", testProviderDiesAroundNetBoxPOST},
		{"ProviderDiesAroundGrant", testProviderDiesAroundGrant},
		{"ProviderDiesAroundBMCCalls", testProviderDiesAroundBMCCalls},
		{"BootdDiesAroundConsumption", testBootdDiesAroundConsumption},
		{"BootdDiesDuringTransfers", testBootdDiesDuringTransfers},
		{"MachineResetAfterConsumption", testMachineResetAfterConsumption},
		{"BootPlaneFirst", testBootPlaneFirst},
		{"ReplicasGiveOneAnswer", testReplicasGiveOneAnswer},
		{"InstallWhileReplicaLags", testInstallWhileReplicaLags},
		{"OnlyRaisingInstalls", testOnlyRaisingInstalls},
		{"RestoredWithNewUIDs", testRestoredWithNewUIDs},
		{"RestoredAndDeleted", testRestoredAndDeleted},
		{"APIOutage", testAPIOutage},
		{"EtcdGoesBack", testEtcdGoesBack}, // The last one: after it nobody should trust the control plane.
	} {
		t.Run(c.name, c.test)
	}
}
