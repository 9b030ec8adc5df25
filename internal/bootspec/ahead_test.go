package bootspec

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

func named(namespace, name string, from v1alpha1.AllowedFrom, urls ...string) ProfileFiles {
	p := &v1alpha1.BootProfile{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if from != "" {
		p.Spec.AllowedNamespaces = &v1alpha1.AllowedNamespaces{From: from}
	}
	a := v1alpha1.ProfileArtifacts{Arch: v1alpha1.AMD64}
	for i, u := range urls {
		x := v1alpha1.Artifact{URL: u, Digest: "sha256:" + u}
		switch i {
		case 0:
			a.Kernel = &x
		case 1:
			a.Image = &v1alpha1.ImageArtifact{Artifact: x}
		default:
			a.Initrds = append(a.Initrds, x)
		}
	}
	p.Spec.Artifacts = []v1alpha1.ProfileArtifacts{a}
	return FilesOf(p)
}

// TestFilesOfRaspberryPi: what a Raspberry Pi's firmware asks for is fetched as all else is.
func TestFilesOfRaspberryPi(t *testing.T) {
	p := &v1alpha1.BootProfile{}
	p.Spec.Artifacts = []v1alpha1.ProfileArtifacts{{Arch: v1alpha1.ARM64, RaspberryPi: &v1alpha1.RaspberryPiFiles{
		Files: []v1alpha1.RaspberryPiFile{{Name: "start4.elf", Artifact: v1alpha1.Artifact{URL: "s", Digest: "d"}}},
	}}}
	if diff := cmp.Diff([]boot.Artifact{{URL: "s", Digest: "d"}}, FilesOf(p).Files); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestFilesOfISO: an ISO is there before a machine asks, too.
func TestFilesOfISO(t *testing.T) {
	p := &v1alpha1.BootProfile{}
	p.Spec.Artifacts = []v1alpha1.ProfileArtifacts{{Arch: v1alpha1.AMD64, ISO: &v1alpha1.Artifact{URL: "i", Digest: "d"}}}
	if diff := cmp.Diff([]boot.Artifact{{URL: "i", Digest: "d"}}, FilesOf(p).Files); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestFilesOfQCOW2: an image that bootd unpacks is unpacked before a machine asks.
func TestFilesOfQCOW2(t *testing.T) {
	p := &v1alpha1.BootProfile{}
	p.Spec.Artifacts = []v1alpha1.ProfileArtifacts{{Arch: v1alpha1.AMD64, Image: &v1alpha1.ImageArtifact{Artifact: v1alpha1.Artifact{URL: "q", Digest: "d"}, Format: "QCOW2"}}}
	if diff := cmp.Diff([]boot.Artifact{{URL: "q", Digest: "d", Unpack: true}}, FilesOf(p).Files); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

func TestAhead(t *testing.T) {
	profiles := []ProfileFiles{
		named("team", "b", "", "k2", "i1"), named("infra", "a", v1alpha1.AllowedFromAll, "k1", "i1", "r1", "r2"),
		named("stranger", "c", "", "evil"), named("infra", "retired", v1alpha1.AllowedFromNone, "old"),
	}
	var got []string
	for _, a := range Ahead(profiles, func(n string) bool { return n != "stranger" }) {
		if a.Digest != "sha256:"+a.URL {
			t.Errorf("%+v", a)
		}
		got = append(got, a.URL)
	}
	if diff := cmp.Diff([]string{"k1", "r1", "r2", "i1", "k2"}, got); diff != "" {
		t.Errorf("each once, of profiles that somebody may boot here: -want, +got:\n%s", diff)
	}
}

// TestAheadIsShared: a namespace with many profiles leaves room for others, and all together take an end.
func TestAheadIsShared(t *testing.T) {
	many := func(namespace string, n int) (p ProfileFiles) {
		p.Name = boot.Name{Namespace: namespace, Name: "many"}
		for i := range n {
			p.Files = append(p.Files, boot.Artifact{URL: fmt.Sprint(namespace, i)})
		}
		return p
	}
	all := []ProfileFiles{many("a", 10*maxAheadOfOne), many("b", 1)}
	if n := len(Ahead(all, func(string) bool { return true })); n != maxAheadOfOne+1 {
		t.Errorf("%d files", n)
	}
	all = nil
	for i := range 20 {
		all = append(all, many(fmt.Sprint("n", i), maxAheadOfOne))
	}
	if n := len(Ahead(all, func(string) bool { return true })); n != maxAhead {
		t.Errorf("%d files", n)
	}
}
