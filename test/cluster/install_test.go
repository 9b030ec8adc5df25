package cluster_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local"
	"github.com/crossplane-contrib/provider-baremetal/cluster/node"
	"github.com/crossplane-contrib/provider-baremetal/test/cluster/stage"
)

// artifactRange lets kernels and images come from the node's own address.
const artifactRange = "--artifact-range=" + node.Address + "/32"

// rest is how long programs are left alone before their memory is looked at: bootd gives back what starting took a quarter of a minute after it.
const rest = 20 * time.Second

// TestInstall goes the way of a user: packages by Crossplane's CLI, the manifests of the README, a machine, and back.
func TestInstall(t *testing.T) {
	need(t, stage.Missing())
	must(t, stage.Prepare(t.Context(), func(s string) { tell("e2e-cluster: " + s) }))
	w, say := &site{began: time.Now()}, timeline(t)
	s, state := begin(t, say)
	u := &update{site: w, lacks: stage.Reaches(t.Context(), stage.OlderCommit)}
	for _, step := range []struct {
		name string
		run  func(*testing.T, *stage.Stage, string)
	}{
		{"Configuration", configuration}, {"Manifests", u.manifests}, {"Bootd", bootd}, {"Rest", atRest},
		{"Machines", w.machines}, {"Roles", roles}, {"Replicas", w.replicas},
		// Packages are built, and more nodes come and go, while the audit log fills.
		{"Older", u.build}, {"Rollout", rollout}, {"Rights", w.rights}, {"Restarts", restarts},
		{"Back", u.back}, {"Upgrade", u.upgrade}, {"Returned", w.returned},
		// Everything is taken away while the audit log fills.
		{"Uninstall", u.uninstall}, {"Denied", u.denied},
	} {
		if !t.Run(step.name, func(t *testing.T) { step.run(t, s, state) }) {
			return
		}
		say(step.name + " passed")
	}
}

// configuration installs by Crossplane's CLI alone.
func configuration(t *testing.T, s *stage.Stage, _ string) {
	t.Helper()
	took, err := s.InstallConfiguration(t.Context(), s.Packages, stage.ConfigurationPackage)
	must(t, err)
	figure(t, "install_to_healthy", took.Seconds(), "s")
}

// manifests applies those of the README over it, where pods must pass Pod Security's level "restricted". That replaces the provider.
func (u *update) manifests(t *testing.T, s *stage.Stage, _ string) {
	t.Helper()
	replaced := u.replace(t, s)
	must(t, s.Restrict(t.Context(), local.CrossplaneNamespace, "restricted"))
	must(t, s.Apply(t.Context(), s.Packages.Manifest("install.yaml"), s.Packages.Manifest("policies.yaml"), s.Packages.Manifest("network.yaml")))
	must(t, s.AwaitHealthy(t.Context(), s.Packages, stage.ConfigurationPackage))
	replaced()
	for _, name := range []string{stage.ProviderPackage, stage.FunctionPackage} {
		if _, err := s.Pod(t.Context(), local.CrossplaneNamespace, "app.kubernetes.io/name", name); err != nil {
			t.Errorf("%s doesn't run as its DeploymentRuntimeConfig says: %v", name, err)
		}
	}
}

// bootd runs on the labelled node alone, with a mirror of artifacts on a private address.
func bootd(t *testing.T, s *stage.Stage, _ string) {
	t.Helper()
	must(t, s.InstallBootd(t.Context(), s.Packages, artifactRange))
}

// atRest notes how much memory the programs have when there's nothing to do.
func atRest(t *testing.T, s *stage.Stage, _ string) {
	t.Helper()
	limits := map[string]float64{"provider": 80, "function": 40, "bootd": 40}
	time.Sleep(rest)
	for _, c := range stage.Components() {
		rss, err := s.RSS(t.Context(), c)
		must(t, err)
		mb := float64(rss) / 1e6
		figure(t, c.Name+"_rss", mb, "MB")
		if most := limits[c.Name]; mb > most {
			t.Errorf("%s has %.1f MB of memory at rest, and should have %.0f at most", c.Name, mb, most)
		}
	}
}

// restarts holds that nothing had to be started twice.
func restarts(t *testing.T, s *stage.Stage, _ string) {
	t.Helper()
	all := &corev1.PodList{}
	must(t, s.Client().List(t.Context(), all))
	for _, p := range all.Items {
		for _, c := range p.Status.ContainerStatuses {
			if c.RestartCount > 0 {
				t.Errorf("%s of pod %s/%s was restarted %d times: %v", c.Name, p.Namespace, p.Name, c.RestartCount, c.LastTerminationState)
			}
		}
	}
}
