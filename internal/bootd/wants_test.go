package bootd

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/artifacts"
)

// TestWants: what a machine may ask for at any moment comes first, what an installed one names stays before what only a profile does.
func TestWants(t *testing.T) {
	file := func(name string) boot.Artifact { return boot.Artifact{URL: name, Digest: name} }
	plan := func(uid string, mode boot.Mode, names ...string) boot.Plan {
		f := boot.Artifacts{Arch: boot.AMD64, Kernel: file(names[0])}
		if len(names) > 1 {
			f.Image = &boot.Image{Artifact: file(names[1])}
		}
		return boot.Plan{EntryUID: uid, Entry: boot.Name{Namespace: "n", Name: uid}, Mode: mode, Artifacts: []boot.Artifacts{f}}
	}
	grant := func(uid string, used bool) boot.Session {
		s := boot.Session{EntryUID: uid, Grant: &boot.Grant{ID: "g" + uid}}
		if used {
			s.Consumed = &boot.Consumption{GrantID: "g" + uid, Nonce: "n"}
		}
		return s
	}
	writing := grant("writing", true)
	writing.Consumed.At = time.Now()
	st := boot.NewState(nil, []boot.Plan{
		plan("live", boot.ModeLive, "live"), plan("granted", boot.ModeInstall, "kernel", "new"), plan("installed", boot.ModeInstall, "kernel", "old"),
		plan("idle", boot.ModeInstall, "idle"), plan("writing", boot.ModeInstall, "kernel", "half"),
	}, []boot.Session{grant("granted", false), grant("installed", true), writing})
	got := wants(st, []boot.Artifact{file("profile"), file("old")})
	want := map[boot.Artifact]artifacts.Level{
		file("live"): artifacts.Soon, file("kernel"): artifacts.Soon, file("new"): artifacts.Soon, file("old"): artifacts.ByPlan,
		file("half"): artifacts.Soon, file("idle"): artifacts.ByPlan, file("profile"): artifacts.ByProfile,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
