package httpboot

import (
	"net/http"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

func TestImageOfTheBootsArchitecture(t *testing.T) {
	r := newRig(t, func(r *rig) {
		r.plan.Artifacts = append([]boot.Artifacts{{
			Arch: boot.ARM64, Kernel: boot.Artifact{Digest: "sha256:other"}, Image: &boot.Image{Artifact: boot.Artifact{Digest: "sha256:other"}},
		}}, r.plan.Artifacts...)
		owned(r)
	})
	if got := r.do(http.MethodGet, "/v1/boot/"+r.bootToken()+"/image", ""); got.body != "0123456789" {
		t.Errorf("%d %q", got.status, got.body)
	}
}

// TestUnpackedImage: of an image of QEMU's the installer is told the raw disk's digest and given that disk; what is granted is the image. Where the disk
// went for others meanwhile, the machine waits, and its grant stays unopened.
func TestUnpackedImage(t *testing.T) {
	r := newRig(t, func(r *rig) {
		r.plan.Artifacts[0].Image.Format = boot.FormatQCOW2
		r.session.Grant.PlanDigest = r.plan.Digest()
	})
	r.files.lost = true
	if got := r.script(http.MethodGet); !strings.Contains(got.body, "hold: FetchingArtifact") || len(r.sessions.calls) > 0 {
		t.Errorf("without its disk:\n%s\n%v", got.body, r.sessions.calls)
	}
	r.files.lost = false
	if got := r.script(http.MethodGet); !strings.Contains(got.body, " baremetal.image-digest="+rawDigest+" baremetal.image-format=Raw ") {
		t.Errorf("it's told\n%s", got.body)
	}
	got := r.do(http.MethodGet, "/v1/boot/"+r.bootToken()+"/image", "")
	if got.body != "a raw disk" || got.header.Get("ETag") != `"`+rawDigest+`"` {
		t.Errorf("%d %q %v", got.status, got.body, got.header)
	}
	want := []string{"open", "consume"}
	for i, call := range r.sessions.calls {
		if i >= len(want) || !strings.HasPrefix(strings.ToLower(call), want[i]) {
			t.Errorf("the session was asked %v", r.sessions.calls)
		}
	}
	if r.plan.Artifacts[0].Image.Digest != imageDigest {
		t.Error("the plan itself was changed")
	}
}
