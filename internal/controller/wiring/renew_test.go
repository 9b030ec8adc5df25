package wiring

import (
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
)

// TestRenew: what was written from here is known from then on, whatever the cache has heard of.
func TestRenew(t *testing.T) {
	cases := map[string]struct {
		reason string
		// wrote and cached are the versions that were written last, and are read.
		wrote, cached string
		uid           string
		want          string
	}{
		"Behind":       {"What the cache hasn't heard of yet is known all the same.", "11", "9", "", "11"},
		"Digits":       {"Versions are numbers: 9 is before 10.", "10", "9", "", "10"},
		"Heard":        {"The cache has it.", "11", "11", "", "11"},
		"Ahead":        {"Somebody has written since.", "11", "12", "", "12"},
		"Another":      {"Another one of the same name was never written from here.", "11", "9", "uid-new", "9"},
		"Opaque":       {"Of versions that aren't numbers nothing is known.", "b", "a", "", "a"},
		"NeverWritten": {"Nothing was written from here.", "", "9", "", "9"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := newPace(nil)
			if tc.wrote != "" {
				own := testHost(tc.wrote, xpv2.Available())
				own.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "provider"}}
				p.wrote(own)
				if own.ManagedFields != nil {
					t.Errorf("%s\nthe next write would carry who owns which field", tc.reason)
				}
			}
			h := testHost(tc.cached)
			if tc.uid != "" {
				h.UID = "uid-new"
			}
			p.renew(h)
			if h.ResourceVersion != tc.want {
				t.Errorf("%s\nversion %q, want %q", tc.reason, h.ResourceVersion, tc.want)
			}
			if ready := h.GetCondition(xpv2.TypeReady).Status == "True"; ready != (tc.want == tc.wrote && tc.cached != tc.wrote) {
				t.Errorf("%s\nstatus isn't that of its version", tc.reason)
			}
		})
	}
}

// TestHeard: what was written is remembered only until the cache has heard of it, since nobody looks at ten thousand resources that are as they
// should be.
func TestHeard(t *testing.T) {
	p := newPace(nil)
	all := heardBy(p)
	p.wrote(testHost("11"))
	for _, version := range []string{"9", "10"} {
		if !all.Update(event.UpdateEvent{ObjectOld: testHost("8"), ObjectNew: testHost(version)}) || len(p.own) != 1 {
			t.Fatalf("after version %s: %d are remembered, want the one of version 11", version, len(p.own))
		}
	}
	if !all.Update(event.UpdateEvent{ObjectOld: testHost("10"), ObjectNew: testHost("11")}) || !all.Update(event.UpdateEvent{}) || len(p.own) != 0 {
		t.Errorf("%d are remembered that the cache has heard of", len(p.own))
	}
	p.wrote(testHost("12"))
	long := p.own["uid-h"]
	long.at = long.at.Add(-2 * ownFor)
	p.own["uid-h"], p.swept = long, time.Time{}
	another := testHost("13")
	another.UID = "uid-another"
	p.wrote(another)
	if len(p.own) != 1 {
		t.Errorf("%d are remembered, of which one was written long ago", len(p.own))
	}
	p.gone("uid-another")
	if len(p.own) != 0 {
		t.Error("what is gone is remembered")
	}
}

// TestBehind: a look by a cache that hasn't heard of what was just written writes nothing, since it would only be refused.
func TestBehind(t *testing.T) {
	x := &thing{current: true}
	b := newBench(t, managedHost(), x.connect, func(k *Kind[*v1alpha1.RedfishHost]) {
		k.Made = func(h *v1alpha1.RedfishHost) bool {
			h.SetConditions(xpv2.Available())
			return true
		}
	})
	was := b.host()
	b.reconcile()
	b.stale = was // The cache's, from then on.
	b.writes = nil
	b.reconcile()
	if diff := cmp.Diff([]string(nil), b.writes); diff != "" {
		t.Errorf("writes of a look that is behind: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"create"}, x.calls); diff != "" {
		t.Errorf("calls: -want, +got:\n%s", diff)
	}
}
