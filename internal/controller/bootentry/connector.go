package bootentry

import (
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// Options of the connector. Kube, Live and BootNamespace must be set.
type Options struct {
	// Kube reads through a cache, and writes; Live reads past it.
	Kube client.Client
	Live client.Reader
	// BootNamespace is bootd's.
	BootNamespace string
	// Recorder is told what was granted and asked; nil tells nobody.
	Recorder event.Recorder
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Failpoint is called between deciding and recording; nil does nothing.
	Failpoint func(name string)
}

// NewConnector makes what connects to the boot plane.
func NewConnector(o Options) managed.TypedExternalConnector[*v1alpha1.BootEntry] {
	c := &connector{kube: o.Kube, cached: o.Kube, live: &together{Reader: o.Live}, bootNamespace: o.BootNamespace, record: o.Recorder, now: o.Now, newID: NewID, failpoint: o.Failpoint}
	if c.record == nil {
		c.record = event.NewNopRecorder()
	}
	if c.now == nil {
		c.now = time.Now
	}
	if c.failpoint == nil {
		c.failpoint = func(string) {}
	}
	return c
}
