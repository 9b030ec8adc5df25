package boot

import "testing"

func TestPullSecretName(t *testing.T) {
	a := PullSecretName("team-a", "registry")
	if !IsPullSecret(a) || a != PullSecretName("team-a", "registry") {
		t.Errorf("%q isn't the name of a copy", a)
	}
	if a == PullSecretName("team-b", "registry") || a == PullSecretName("team-a", "other") {
		t.Error("two Secrets have one copy")
	}
	for _, other := range []string{"", "bootd-tokens", "entry-1", "pull-", "pull-x", a + "0", a[:len(a)-1] + "G", a[:len(a)-1] + "/"} {
		if IsPullSecret(other) {
			t.Errorf("%q is read for a server's password", other)
		}
	}
}

// TestDigestKeepsPlan: to compute a plan's digest changes nothing of what the plan says.
func TestDigestKeepsPlan(t *testing.T) {
	p := plan()
	f := &p.Artifacts[0]
	f.Kernel.PullSecret, f.Initrds[0].PullSecret, f.Image.PullSecret = "a", "b", "c"
	if p.Digest() != plan().Digest() {
		t.Error("who may fetch a file is no part of what's done to a machine")
	}
	if f.Kernel.PullSecret != "a" || f.Initrds[0].PullSecret != "b" || f.Image.PullSecret != "c" {
		t.Errorf("%+v", f)
	}
}
