package bootentry

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// TestOvertakenLooped: the boot after a grant's last script was given none, so nothing is overtaken by it once the generation is raised.
func TestOvertakenLooped(t *testing.T) {
	in := world(granted, poweredOn)
	on := metav1.NewTime(noon)
	in.host.Status.AtProvider.PoweredOnAt = &on
	in.session.Status.OpenedGrantID = "earlier"
	for i := range boot.MaxOpens + 1 {
		at := noon.Add(time.Duration(i-boot.MaxOpens) * time.Minute)
		if i == boot.MaxOpens {
			at = noon.Add(time.Minute)
		}
		in.session.Status.Opened = append(in.session.Status.Opened, v1alpha1.Opened{At: metav1.NewMicroTime(at)})
	}
	if overtaken(in) {
		t.Error(installing(in, 1, 0, noon).Message)
	}
}
