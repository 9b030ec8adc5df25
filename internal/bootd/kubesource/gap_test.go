package kubesource

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
)

// deaf is an API whose watches deliver nothing until they're ended, as one that has lost its events.
type deaf struct {
	API

	mu      sync.Mutex
	watches []*watch.FakeWatcher
}

func (*deaf) IsWatchListSemanticsUnSupported() bool { return true }

func (d *deaf) Watch(context.Context, string, runtime.Object, metav1.ListOptions) (watch.Interface, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	w := watch.NewFakeWithOptions(watch.FakeOptions{ChannelSize: 1})
	d.watches = append(d.watches, w)
	return w, nil
}

// gap ends all watches as the API does where it doesn't know any more what came in between.
func (d *deaf) gap() (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, w := range d.watches {
		w.Error(&metav1.Status{Status: metav1.StatusFailure, Code: http.StatusGone, Reason: metav1.StatusReasonExpired, Message: "too old resource version"})
		n++
	}
	d.watches = nil
	return n
}

// TestWatchGap: what changed while no event came is known after the gap: a machine that went isn't served, a new one is, and a grant that was
// taken back is gone.
func TestWatchGap(t *testing.T) {
	entry := func(name, mac, address string) *v1alpha1.BootEntry {
		e := &v1alpha1.BootEntry{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, UID: types.UID("entry-" + name)}}
		e.Status.AtProvider.Plan = &v1alpha1.Plan{
			Digest: "?", EntryUID: "entry-" + name, HostUID: "host-" + name, Bound: true, MACs: []string{mac},
			Network: v1alpha1.PlanNetwork{Namespace: "infra", Name: "rack", Address: address}, Mode: "Install", Method: "DiskImage",
		}
		return e
	}
	n := &v1alpha1.BootNetwork{ObjectMeta: metav1.ObjectMeta{Namespace: "infra", Name: "rack"}, Spec: v1alpha1.BootNetworkSpec{Subnets: []v1alpha1.Subnet{{CIDR: "10.77.0.0/24"}}}}
	keys := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "baremetal-boot", Name: SecretTokens}, Data: map[string][]byte{"current": {1}}}
	old := entry("old", "52-54-00-00-00-01", "10.77.0.11/24")
	gone := bootSession("", "g")
	s := newSource(t, &log{}, &clock{now: time.Now()}, old, n, keys, gone)
	kube, api := whole(s), &deaf{API: s.o.Kube}
	s.o.Kube = api
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	await(t, "the first list", func() bool { return s.Ready() && len(s.State().Plans()) == 1 && len(s.State().Sessions) == 1 })
	for _, err := range []error{
		kube.Delete(t.Context(), old), kube.Delete(t.Context(), gone), kube.Create(t.Context(), entry("new", "52-54-00-00-00-02", "10.77.0.12/24")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(50 * time.Millisecond)
	if p := s.State().Plans(); len(p) != 1 || p[0].Entry.Name != "old" {
		t.Errorf("no event has come, and it knows of %+v", p)
	}
	gaps := api.gap()
	await(t, "what the gap hid", func() bool {
		_, there := s.State().ByMAC(boot.MAC("52:54:00:00:00:02"))
		return there && len(s.State().Plans()) == 1 && len(s.State().Sessions) == 0
	})
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	t.Logf("\n| bootd: a watch has a gap | %d | %d |", gaps, gaps)
}
